@testable import RecordLog

/// Small, sound stores for damage, of every form that the format allows; the same bytes at each run.
enum HostileSeeds {
    static let path = "hostile.heartwood"

    /// A file system whose identities do not change from run to run.
    final class Files: FileSystem {
        let memory = MemoryFileSystem()

        func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { try memory.open(path, mode) }
        func identity(of path: String) throws(StoreError) -> FileSystemIdentity? { try memory.identity(of: path) }
        func rename(_ old: String, to new: String) throws(StoreError) { try memory.rename(old, to: new) }
        func remove(_ path: String) throws(StoreError) { try memory.remove(path) }
        func syncDirectory(of path: String) throws(StoreError) {}
        func freeSpace(at path: String) -> UInt64? { nil }
        func now() -> Int64 { 1_700_000_000_000_000 }
        func random() -> UInt64 { 0x0102_0304_0506_0708 }
    }

    static func options(_ files: any FileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = files
        options.segmentShift = 16
        options.zeroAheadBytes = 0
        options.lockTimeout = .zero
        options.extractors = [LetterTerms.name: LetterTerms()]
        return options
    }

    /// The bytes of a text, each once and none of them 0: the terms of an index.
    private struct LetterTerms: IndexTermExtractor {
        static let name = "terms:letters"
        var columnNames: [String]? { ["text"] }

        func appendTerms(of row: UnsafeRowView, layout: RowLayout, to terms: TermList) {
            guard let position = layout.columns.firstIndex(where: { $0.name == "text" }), !row.isNull(layout.access[position]) else { return }
            for byte in Set(row.bytes(layout.access[position])) where byte != 0 { withUnsafeBytes(of: byte) { terms.append($0) } }
        }
    }

    /// The files, named by their content.
    static func all() throws -> [(name: String, bytes: [UInt8])] {
        var result: [(name: String, bytes: [UInt8])] = [("empty", try make { _ in })]
        result.append(("rows", try make { try fill($0, rows: 5, commits: 3) }))
        result.append(("checkpoint", try make {
            try fill($0, rows: 4, commits: 2)
            try $0.checkpoint()
            try fill($0, rows: 2, commits: 1)
        }))
        result.append(("runs", try make { store in
            try fill(store, rows: 60, commits: 1)
            for _ in 0..<3 {
                try store.checkpoint()
                try fill(store, rows: 2, commits: 1)
            }
            try store.checkpoint()
        }))
        result.append(("terms", try make { store in
            try fill(store, rows: 90, commits: 1, hasTerms: true)
            try store.checkpoint()
            try fill(store, rows: 4, commits: 3)
            try store.checkpoint()
            try fill(store, rows: 1, commits: 1)
        }))
        result.append(("compacted", try make {
            try fill($0, rows: 6, commits: 2)
            _ = try $0.compact()
            try fill($0, rows: 1, commits: 1)
        }))
        result.append(("values", try make { store in
            try fill(store, rows: 3, commits: 2, valueLength: 3000)
            try store.checkpoint()
            try fill(store, rows: 2, commits: 3, valueLength: 20_000)
        }))
        result.append(("pads", try make { try fill($0, rows: 3, commits: 3, textLength: 9000) }))
        result.append(("group", try makeGroup(isCompleted: true)))
        result.append(("prepared", try makeGroup(isCompleted: false)))
        return result
    }

    private static func make(_ body: (LogStore) throws -> Void) throws -> [UInt8] {
        let files = Files()
        let store = try LogStore.open(path: path, options: options(files))
        try body(store)
        try store.close()
        return files.memory.contents(of: path) ?? []
    }

    /// A store of a save over two stores, decided by the other one: completed, or as a crash leaves it halfway.
    private static func makeGroup(isCompleted: Bool) throws -> [UInt8] {
        let files = Files()
        let store = try LogStore.open(path: path, options: options(files))
        let coordinator = try LogStore.open(path: "coordinator", options: options(files))
        for store in [store, coordinator] { try fill(store, rows: 2, commits: 1) }
        try LogStore.write(to: [store, coordinator], author: "group") { for transaction in $0 { try transaction.setSystemValue(21, [4]) } }
        let bytes = files.memory.contents(of: path) ?? []
        guard !isCompleted else { return bytes }
        var scan = CommitScan(from: Snapshot.empty(store.snapshot().file, store.counters), to: store.snapshot())
        while let footer = try scan.next(), footer.author(in: scan.frames.last!.payload) != "group" {}
        // The commit frame of the prepared commit is its last frame, and the superblock before the newest does not have it.
        var prepared = Array(bytes[..<Int(scan.frames.last!.offset)]) + [UInt8](repeating: 0, count: 4096)
        let newest = Int(store.log.superblock.offset), older = FileFormat.superblockOffsets.map(Int.init).first { $0 != newest }!
        let size = Superblock.Layout.size
        prepared.replaceSubrange(newest..<newest + size, with: prepared[older..<older + size])
        return prepared
    }

    private static func fill(_ store: LogStore, rows: Int, commits: Int, textLength: Int = 10, valueLength: Int? = nil, hasTerms: Bool = false) throws {
        for commit in 0..<commits {
            try store.write(author: commit == 0 ? "author" : nil) { transaction in
                let table = try transaction.catalog.table(named: "All") ?? define(transaction, hasValues: valueLength != nil, hasTerms)
                for number in 0..<rows {
                    let row = try transaction.newRow(in: table.id)
                    try put(transaction, table, row, number, textLength, valueLength)
                }
                let first = RowReference(table: table.id, row: 1)
                if commit == 1 { _ = try transaction.delete(first) }
                if commit == 2 { try put(transaction, table, 2, 99, textLength) }
                try transaction.setSystemValue(20, [1, 2, 3])
            }
        }
    }

    private static func define(_ transaction: Transaction, hasValues: Bool, _ hasTerms: Bool) throws -> TableDefinition {
        let table = try transaction.defineTable(name: "All", columns: [
            ("bool", .bool), ("int16", .int16), ("int64", .int64), ("double", .double), ("date", .date), ("reference", .reference),
            ("uuid", .uuid), ("decimal", .decimal), ("text", .text), ("bytes", .bytes),
        ] + (hasValues ? [("value", .value)] : []))
        let ids = table.currentLayout.columns.map(\.id)
        for (name, columns) in [("text", [8]), ("number", [2, 3]), ("many", [0, 1, 4, 5, 6, 7, 9])] {
            _ = try transaction.defineIndex(
                named: name, on: table.id, parts: columns.map { IndexPart(column: ids[$0], ascending: $0 % 2 == 0) })
        }
        if hasTerms { _ = try transaction.defineIndex(named: "letters", on: table.id, parts: [], extractorName: LetterTerms.name) }
        return table
    }

    private static func put(
        _ transaction: Transaction, _ table: TableDefinition, _ row: UInt64, _ number: Int, _ textLength: Int, _ valueLength: Int? = nil
    ) throws {
        let builder = RowBuilder()
        builder.begin(table.currentLayout)
        builder.set(0, bool: number % 2 == 0)
        builder.set(2, int64: Int64(number) * 1_000_003)
        if number % 3 != 0 { builder.set(3, double: Double(number) / 7) }
        builder.set(5, reference: RowReference(table: table.id, row: UInt64(number) + 1))
        // Index keys are bounded; longer text is not indexed.
        builder.set(8, text: String(repeating: "t", count: min(textLength, 4000)) + "\(number)")
        if let valueLength {
            let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number == 0 ? 5 : valueLength)
            builder.set(10, value: try value.withUnsafeBytes { try transaction.writeValue($0) })
        }
        try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
    }
}
