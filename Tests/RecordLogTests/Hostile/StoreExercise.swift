@testable import RecordLog

/// Uses a store with any damage in every way: reads all of it, verifies it, writes to it, compacts it.
///
/// Damage should cause the store's errors; the exercise looks for traps, hangs and reads outside the file.
struct StoreExercise {
    let path: String
    let options: StoreOptions
    /// The errors thrown so far.
    private(set) var errors: [StoreError] = []
    private(set) var rows = 0
    /// The problem that verification found in a compacted store.
    private(set) var compactionProblem: StoreVerification.Problem?
    private(set) var compactions = 0

    init(path: String, options: StoreOptions) {
        self.path = path
        self.options = options
    }

    /// - Returns: an error that damage does not explain.
    mutating func run(writes: Bool) -> StoreError? {
        attempt { try $0.readAll(isReadOnly: true) }
        attempt { exercise in
            let (options, path) = (exercise.options, exercise.path)
            _ = try StoreVerification.verify(
                path: path, fileSystem: options.fileSystem, usesMemoryMapping: options.usesMemoryMapping
            ) { options.extractors[$0] }
        }
        attempt { exercise in
            let (options, path) = (exercise.options, exercise.path)
            _ = try StoreInspection.inspect(path: path, fileSystem: options.fileSystem, usesMemoryMapping: options.usesMemoryMapping)
        }
        if writes {
            attempt { try $0.write() }
            attempt { try $0.maintain() }
            attempt { try $0.readAll(isReadOnly: false) }
        }
        let explained: Set<StoreError.Code> = [
            .corrupt, .notAStore, .unsupportedVersion, .tooLarge, .schema, .invalidArgument, .undecided,
        ]
        return errors.first { !explained.contains($0.code) }
    }

    private mutating func attempt(_ body: (inout StoreExercise) throws -> Void) {
        do {
            try body(&self)
        } catch let error as StoreError {
            errors.append(error)
        } catch {
            errors.append(StoreError(.io, path: path, "\(error)", remedy: "None."))
        }
    }

    private func open(isReadOnly: Bool) throws -> LogStore {
        var options = options
        options.isReadOnly = isReadOnly
        options.createIfMissing = false
        return try LogStore.open(path: path, options: options)
    }

    private mutating func readAll(isReadOnly: Bool) throws {
        let store = try open(isReadOnly: isReadOnly)
        let snapshot = store.snapshot()
        for table in snapshot.catalog.tables { attempt { try $0.scan(table, snapshot) } }
        for index in snapshot.catalog.indexes { attempt { try $0.scan(index.id, snapshot) } }
        for sequence in [1, 2, snapshot.sequence] { attempt { _ in _ = try store.commit(sequence) } }
        for row in [Catalog.row, RowNumbers.row, 20] { attempt { _ in _ = try snapshot.unsafeSystemValue(row)?.count } }
        attempt { _ in _ = try store.refresh() }
        if !isReadOnly { try store.close() }
    }

    private mutating func scan(_ table: TableDefinition, _ snapshot: Snapshot) throws {
        var seen = 0
        var sum = 0
        try snapshot.scan(table.id) { row in
            seen += 1
            guard let layout = table.layout(row.layoutID) else { return true }
            for access in layout.access {
                sum &+= Self.read(row, access)
                attempt { _ in sum &+= try Self.read(snapshot.value(access, of: row)) }
            }
            return true
        }
        rows += seen + sum * 0
        attempt { _ in
            for row in [1, 2, 4096, RowReference.rowMask] as [UInt64] { _ = try snapshot.unsafeRow(RowReference(table: table.id, row: row)) }
        }
    }

    private static func read(_ row: UnsafeRowView, _ access: ColumnAccess) -> Int {
        var sum = row.isNull(access) ? 1 : 0
        sum &+= Int(truncatingIfNeeded: row.int64(access))
        sum &+= Int(truncatingIfNeeded: row.double(access).bitPattern)
        sum &+= Int(truncatingIfNeeded: row.uuid(access).0)
        sum &+= Int(truncatingIfNeeded: row.reference(access).row)
        sum &+= row.decimal(access) == .zero ? 1 : 0
        for byte in row.bytes(access) { sum &+= Int(byte) }
        return sum
    }

    private static func read(_ value: ValueReader?) throws -> Int {
        guard let value else { return 0 }
        // The ends, across a chunk's end, and past the value's end.
        return try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { buffer in
            for start in [0, 8150, value.count - 3, value.count, .max] where start >= 0 { _ = try value.read(into: buffer, from: start) }
            try value.verify()
            return Int(buffer[0])
        }
    }

    private mutating func scan(_ index: IndexID, _ snapshot: Snapshot) throws {
        var middle: [UInt8] = []
        for isDescending in [false, true] {
            var cursor = try snapshot.cursor(index, .all, descending: isDescending)
            var count = 0
            while try cursor.next() != nil {
                count += 1
                if count.isMultiple(of: 3) { middle = Array(cursor.unsafeKey) }
            }
        }
        for range in [KeyRange.prefix(middle), KeyRange(lower: middle, upper: nil), KeyRange(lower: nil, upper: middle)] {
            for isDescending in [false, true] {
                var cursor = try snapshot.cursor(index, range, descending: isDescending)
                for _ in 0..<3 { _ = try cursor.next() }
            }
        }
    }

    private mutating func write() throws {
        let store = try open(isReadOnly: false)
        for table in store.snapshot().catalog.tables {
            attempt { _ in
                try store.write { transaction in
                    let builder = RowBuilder()
                    builder.begin(table.currentLayout)
                    let row = try transaction.newRow(in: table.id)
                    try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
                    _ = try transaction.delete(RowReference(table: table.id, row: 2))
                }
            }
        }
        attempt { _ in try store.write { try $0.setSystemValue(21, [1]) } }
        try store.close()
    }

    private mutating func maintain() throws {
        let store = try open(isReadOnly: false)
        attempt { _ in try store.checkpoint() }
        attempt { _ in try store.rebuildIndexes() }
        attempt { exercise in
            _ = try store.compact()
            try exercise.verifyCompacted()
        }
        try store.close()
    }

    /// Compacts the store as the tool does, and verifies the result.
    mutating func compact(keeping window: HistoryWindow) {
        for rebuildsIndexes in [false, true] {
            let before = errors.count
            attempt { exercise in
                var options = exercise.options
                options.createIfMissing = false
                options.rebuildsIndexes = rebuildsIndexes
                let store = try LogStore.open(path: exercise.path, options: options)
                _ = try store.compact(keeping: window)
                try exercise.verifyCompacted()
                try store.close()
            }
            if errors.count == before || errors.last?.code != .corrupt { return }
        }
    }

    private mutating func verifyCompacted() throws {
        compactions += 1
        let found = try StoreVerification.verify(path: path, fileSystem: options.fileSystem, usesMemoryMapping: options.usesMemoryMapping)
        if !found.isSound { compactionProblem = found.problems.first ?? .init(offset: nil, message: "the tail is \(found.tail)") }
    }
}
