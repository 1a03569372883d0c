/// Takes a value's bytes in turn and appends them as frames. Keeps at most one chunk (1 MiB) in memory.
///
/// Confined to the closure of `Transaction.writeValue`.
public final class ValueWriter {
    private let appender: FrameAppender
    private let path: String
    private let chunkSize: Int
    private let chunksMax: Int
    /// The largest size of a value that stays in the row.
    private let inlineMax: Int
    /// The bytes of the last chunk.
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var buffered = 0
    private var chunks: [FramePointer] = []
    private var isFinished = false
    /// The number of bytes taken so far.
    public private(set) var count: UInt64 = 0

    /// - Parameter isInlineAllowed: false for a value that already had frames.
    init(appender: FrameAppender, isInlineAllowed: Bool = true) {
        self.appender = appender
        inlineMax = isInlineAllowed ? ValueChunk.inlineMax(segmentSize: appender.segmentSize) : 0
        path = appender.path
        chunkSize = ValueChunk.sizeMax(segmentSize: appender.segmentSize)
        chunksMax = ValueList.chunksMax(segmentSize: appender.segmentSize)
    }

    deinit {
        memory.deallocate()
    }

    /// Takes the value's next bytes and copies them. O(bytes).
    /// - Throws: `tooLarge` if the value needs more than one list of chunks (4 TiB with segments of 64 MiB); `io`, `noSpace`, after which
    ///   the transaction cannot be committed; `invalidArgument` once the value is finished.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard !isFinished else {
            throw StoreError(
                .invalidArgument, path: path, "a value is appended to after its closure returned",
                remedy: "Append within writeValue's closure.")
        }
        var rest = bytes
        while rest.count > 0 {
            // Writes whole chunks directly from the caller's memory, except the last one, which must not be followed by an empty chunk.
            if buffered == 0, rest.count > chunkSize {
                try appendChunk(UnsafeRawBufferPointer(rebasing: rest[..<chunkSize]))
                rest = UnsafeRawBufferPointer(rebasing: rest[chunkSize...])
                continue
            }
            if buffered == chunkSize {
                try appendChunk(UnsafeRawBufferPointer(rebasing: memory[..<buffered]))
                buffered = 0
                continue
            }
            let part = min(rest.count, chunkSize - buffered)
            reserve(buffered + part)
            UnsafeMutableRawBufferPointer(rebasing: memory[buffered..<buffered + part])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<part]))
            buffered += part
            rest = UnsafeRawBufferPointer(rebasing: rest[part...])
        }
        count += UInt64(bytes.count)
    }

    /// Takes the value's next bytes.
    /// - Throws: as the other method.
    public func append(_ bytes: [UInt8]) throws(StoreError) {
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try append(UnsafeRawBufferPointer(bytes)) }
    }

    private func reserve(_ needed: Int) {
        guard needed > memory.count else { return }
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: min(max(needed, memory.count * 2, 8192), chunkSize), alignment: 64)
        if buffered > 0 { grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<buffered])) }
        memory.deallocate()
        memory = grown
    }

    private func appendChunk(_ chunk: UnsafeRawBufferPointer) throws(StoreError) {
        guard chunks.count < chunksMax else {
            throw StoreError(
                .tooLarge, path: path, "a value of more than \(UInt64(chunksMax) * UInt64(chunkSize)) bytes is larger than a store holds",
                remedy: "Split it over several values, or make the store with larger segments.")
        }
        chunks.append(try appender.appendValueFrame(.valueChunk, chunk))
    }

    /// Makes every later `append` throw.
    func close() { isFinished = true }

    /// Ends the value.
    func finish() throws(StoreError) -> LargeValue {
        close()
        let last = UnsafeRawBufferPointer(rebasing: memory[..<buffered])
        if chunks.isEmpty, buffered <= inlineMax { return LargeValue(stored: StoredValue.encode(inline: last), count: count) }
        try appendChunk(last)
        var reference = ValueReference(form: .chunk, length: count, pointer: chunks[0])
        if chunks.count > 1 {
            reference.form = .list
            let list = ValueList.encode(length: count, chunkLength: chunkSize, chunks)
            reference.pointer = try list.withUnsafeBufferPointer { list throws(StoreError) in
                try appender.appendValueFrame(.valueList, UnsafeRawBufferPointer(list))
            }
        }
        return LargeValue(stored: reference.encoded, count: count)
    }
}
