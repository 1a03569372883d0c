@testable import RecordLog

/// The decoders of single structures, each with only its bytes.
enum FuzzedParts {
    static func run(_ input: FuzzedInput) {
        input.body.withUnsafeBytes { bytes in
            switch input.target {
            case .file: break
            case .catalog: catalog(bytes)
            case .manifest: manifest(bytes)
            case .footer: footer(bytes)
            case .rowNumbers:
                if let numbers = RowNumbers(bytes), RowNumbers(bytes: numbers.encoded()) == nil { fatalError("row numbers do not last") }
            case .frame: frame(bytes)
            case .header: header(bytes)
            case .run: run(bytes)
            }
        }
    }

    private static func catalog(_ bytes: UnsafeRawBufferPointer) {
        guard let catalog = Catalog(bytes) else { return }
        for table in catalog.tables {
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            _ = builder.unsafeBody()
        }
        // A decoded structure must survive encoding and decoding.
        guard catalog.encoded().withUnsafeBytes({ Catalog($0) }) != nil else { fatalError("a catalog does not last") }
    }

    private static func manifest(_ bytes: UnsafeRawBufferPointer) {
        guard let manifest = Manifest(bytes) else { return }
        guard manifest.encoded().withUnsafeBytes({ Manifest($0) }) != nil else { fatalError("a manifest does not last") }
    }

    private static func list(_ bytes: UnsafeRawBufferPointer) {
        _ = StoredValue(bytes)
        guard let list = ValueList(bytes) else { return }
        var length: UInt64 = 0
        for chunk in 0..<list.chunkCount {
            _ = list.pointer(chunk)
            length += list.length(of: chunk)
        }
        guard length == list.length else { fatalError("a list's chunks are not as long as it says") }
    }

    private static func footer(_ bytes: UnsafeRawBufferPointer) {
        guard let footer = CommitFooter(payload: bytes) else { return }
        _ = footer.author(in: bytes)
        let rows = footer.rows(in: bytes)
        var at = 0
        while let base = rows.baseAddress, at < rows.count, let record = RowRecord(base + at, limit: rows.count - at) {
            at += RowRecord.size(ofBody: record.bodyLength)
        }
    }

    private static func frame(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, let header = FrameHeader(base, limit: UInt64(bytes.count)) else { return }
        _ = FrameHeader.checksum(of: base, length: header.length, fileID: 1, offset: 8192)
        let payload = UnsafeRawBufferPointer(rebasing: bytes[FrameHeader.Layout.size..<FrameHeader.Layout.size + Int(header.payloadLength)])
        list(payload)
    }

    private static func header(_ bytes: UnsafeRawBufferPointer) {
        _ = FileIdentity(bytes)
        _ = Superblock(bytes, fileID: 1)
        guard bytes.count >= Int(FileFormat.dataStart) else { return }
        _ = HeaderReader.isUnfinished(Array(bytes))
        _ = HeaderReader.newestSuperblock(bytes, fileID: 1)
    }

    /// The first half is a root, the second a block, which stands for all blocks that the root points to.
    private static func run(_ bytes: UnsafeRawBufferPointer) {
        let root = FramePointer(offset: .max, checksum: 1)
        let source = Halves(bytes: bytes, root: root)
        let run = SortedRun(manifest: Manifest.Run(root: root, entryCount: 1, byteCount: 1), source: source)
        for range in [KeyRange.all, .prefix([2, 0x80]), KeyRange(lower: [2], upper: [2, 0x81])] {
            for isDescending in [false, true] {
                do throws(StoreError) {
                    let cursor = try RunCursor.over(run, range, isDescending: isDescending)
                    // One block stands for all: as often as a root of this size may name it.
                    var left = 4096
                    while cursor.isValid, left > 0 {
                        left -= 1
                        try cursor.advance()
                    }
                } catch {
                    guard error.code == .corrupt else { fatalError("\(error)") }
                }
            }
        }
    }

    private final class Halves: FrameSource, @unchecked Sendable {
        // Unchecked: lives for one call, on one thread.
        let bytes: UnsafeRawBufferPointer
        let root: FramePointer
        let path = "fuzzed"

        init(bytes: UnsafeRawBufferPointer, root: FramePointer) {
            self.bytes = bytes
            self.root = root
        }

        func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer {
            let middle = bytes.count / 2
            return UnsafeRawBufferPointer(rebasing: pointer == root ? bytes[..<middle] : bytes[middle...])
        }
    }
}

extension RowNumbers {
    init?(bytes: [UInt8]) {
        guard let read = bytes.withUnsafeBytes({ RowNumbers($0) }) else { return nil }
        self = read
    }
}
