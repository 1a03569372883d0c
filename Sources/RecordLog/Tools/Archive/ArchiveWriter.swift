/// Writes an archive's bytes in blocks as they fill.
package final class ArchiveWriter {
    private let file: any StorageFile
    private let edition: ArchiveEdition
    private let block = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ArchiveFormat.Block.size + ArchiveFormat.blockMax, alignment: 8)
    private var filled = ArchiveFormat.Block.size
    private var number: UInt32 = 0
    private var offset = UInt64(ArchiveHeader.Layout.size)

    init(_ file: any StorageFile, edition: ArchiveEdition) {
        self.file = file
        self.edition = edition
    }

    deinit {
        block.deallocate()
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            if filled == block.count { try flush() }
            let count = min(bytes.count - done, block.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: block[filled..<filled + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]))
            filled += count
            done += count
        }
    }

    package func append<Value: FixedWidthInteger>(_ value: Value) throws(StoreError) {
        if filled + MemoryLayout<Value>.size <= block.count {
            block.storeBytes(of: value.littleEndian, toByteOffset: filled, as: Value.self)
            filled += MemoryLayout<Value>.size
        } else {
            var writer = ByteWriter()
            writer.append(value)
            try append(bytes: writer.bytes)
        }
    }

    package func append(bytes: [UInt8]) throws(StoreError) {
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try append(UnsafeRawBufferPointer(bytes)) }
    }

    private func flush() throws(StoreError) {
        let count = filled - ArchiveFormat.Block.size
        guard count > 0 else { return }
        guard number < .max else {
            throw StoreError(.tooLarge, path: "archive", "the archive has too many blocks", remedy: "Use a record log for so much.")
        }
        let payload = UnsafeRawBufferPointer(rebasing: block[ArchiveFormat.Block.size..<filled])
        block.storeBytes(of: UInt32(count).littleEndian, toByteOffset: ArchiveFormat.Block.length, as: UInt32.self)
        block.storeBytes(of: number.littleEndian, toByteOffset: ArchiveFormat.Block.number, as: UInt32.self)
        block.storeBytes(
            of: XXH64.hash(payload, seed: ArchiveFormat.seed(edition, block: number)).littleEndian,
            toByteOffset: ArchiveFormat.Block.checksum, as: UInt64.self)
        try file.write(UnsafeRawBufferPointer(rebasing: block[..<filled]), at: offset)
        offset += UInt64(filled)
        number += 1
        filled = ArchiveFormat.Block.size
    }

    /// Writes the last block, and the header with the length of the whole.
    func finish() throws(StoreError) {
        try flush()
        try ArchiveHeader(edition: edition, length: offset).encoded.withUnsafeBufferPointer { bytes throws(StoreError) in
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
    }
}
