/// The result of checking a whole store, as `heartwood verify` shows it.
public struct StoreVerification: Sendable {
    public struct Problem: Sendable, Equatable {
        /// The remedy for a problem.
        public enum Remedy: Sendable {
            /// Restore a backup: bytes are damaged.
            case restore
            /// Rebuild the index from the rows, with which it disagrees.
            case rebuild
            /// Correct the rows: a faulty writer, or another program, made them. Their checksums hold.
            case correct
        }

        public var offset: UInt64?
        public var message: String
        public var remedy: Remedy

        package init(offset: UInt64?, message: String, remedy: Remedy = .restore) {
            self.offset = offset
            self.message = message
            self.remedy = remedy
        }
    }

    public var path: String
    public var frames: Int
    public var rows: UInt64
    public var indexEntries: UInt64
    /// Values in frames of their own, of rows as of the newest commit.
    public var values: UInt64 = 0
    public var tail: StoreInspection.Tail
    /// The first problems.
    public private(set) var problems: [Problem]
    /// The count of all problems.
    public private(set) var problemCount = 0

    private static let problemsMax = 1000

    package mutating func add(_ problem: Problem) {
        problemCount += 1
        if problems.count < Self.problemsMax { problems.append(problem) }
    }

    public var isSound: Bool { problems.isEmpty && (tail == .clean || tail == .inProgress) }

    /// Whether the store could be opened, so that its rows can be read.
    public var isReadable: Bool { frames > 0 }

    /// Checks every frame's checksum, the chain of commits, each index against the rows in both directions, the form of each row as a writer
    /// gives it, and each row's reference to its values. Writes nothing.
    ///
    /// The engine cannot check whether values are the intended ones: a wrong number is as valid as a right one.
    ///
    /// Replays the log from its start into fresh indexes, and compares the file's indexes with them.
    /// - Parameter makeExtractor: as in `StoreOptions`. Indexes whose extractors it does not make are not compared.
    /// - Throws: if the file cannot be read or is not a store. Damage is reported, not thrown.
    /// - Complexity: O(log); memory for the indexes.
    public static func verify(
        path: String, fileSystem: (any FileSystem)? = nil, usesMemoryMapping: Bool = true,
        makeExtractor: (@Sendable (String) -> (any IndexKeyExtractor)?)? = nil
    ) throws(StoreError) -> StoreVerification {
        var options = StoreOptions()
        options.makeExtractor = makeExtractor
        options.isReadOnly = true
        options.fileSystem = fileSystem
        options.usesMemoryMapping = usesMemoryMapping
        var rebuilt = options
        rebuilt.rebuildsIndexes = true
        var result = StoreVerification(path: path, frames: 0, rows: 0, indexEntries: 0, tail: .clean, problems: [])
        let opened: (actual: Result<LogStore, StoreError>, truth: LogStore)
        do throws(StoreError) {
            opened = try open(path, options, rebuilt)
        } catch {
            guard error.code == .corrupt else { throw error }
            result.add(Problem(offset: error.offset, message: error.message))
            return result
        }
        let expected = opened.truth.snapshot()
        try result.checkFrames(opened.truth)
        do throws(StoreError) {
            let actual = try opened.actual.get()
            // If the log ends before the checkpoint's commit, this is the log's end.
            result.tail = try TailInspection(store: actual.snapshot().sequence > expected.sequence ? opened.truth : actual).run()
            try result.compare(actual.snapshot(), expected)
        } catch {
            result.add(Problem(offset: error.offset, message: error.message))
        }
        return result
    }

    /// The store as any reader sees it, and the state that its log gives without its indexes, both as of one commit. Other processes may
    /// write or compact it meanwhile.
    private static func open(
        _ path: String, _ options: StoreOptions, _ rebuilt: StoreOptions
    ) throws(StoreError) -> (actual: Result<LogStore, StoreError>, truth: LogStore) {
        for _ in 0..<100 {
            let actual: Result<LogStore, StoreError>
            do throws(StoreError) { actual = .success(try LogStore.open(path: path, options: options)) } catch { actual = .failure(error) }
            let counters = Counters(), fileSystem = options.resolvedFileSystem()
            var opening = Opening(path: path, options: rebuilt, fileSystem: fileSystem, counters: counters)
            if case .success(let store) = actual { opening.last = store.snapshot().sequence }
            let truth = LogStore(path: path, options: rebuilt, fileSystem: fileSystem, opened: try opening.run(), counters: counters)
            if case .success(let store) = actual, store.snapshot().file.identity != truth.snapshot().file.identity { continue }
            return (actual, truth)
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }

    private mutating func checkFrames(_ store: LogStore) throws(StoreError) {
        let file = store.snapshot().file, end = store.log.end
        var offset = FileFormat.dataStart
        while offset < end {
            if let frame = try file.frame(at: offset, limit: end) {
                frames += 1
                offset = frame.end
            } else {
                add(Problem(offset: offset, message: "a frame's checksum does not hold"))
                guard let stated = try file.stated(at: offset, limit: end) else { return }
                offset += UInt64(stated.length)
            }
        }
    }

    private mutating func compare(_ actual: Snapshot, _ expected: Snapshot) throws(StoreError) {
        guard actual.sequence == expected.sequence else {
            add(Problem(
                offset: nil, message: "the checkpoint leads to commit \(actual.sequence), the log to commit \(expected.sequence)"))
            return
        }
        let audit = ValueAudit(path: path, size: expected.end) { offset, budget throws(StoreError) in
            try expected.file.frame(at: offset, limit: expected.end, budget: &budget)
        }
        for (index, state) in expected.tables.enumerated() {
            guard let state else { continue }
            let table = TableID(rawValue: UInt16(index))
            var count: UInt64 = 0
            var first: UInt64 = 0
            // By pages, so that unused row numbers cost little.
            while first < state.nextRow {
                let page = first..<min(first + PrimaryBase.rowsPerPage, state.nextRow)
                first = page.upperBound
                do throws(StoreError) {
                    let isWanted = expected.mayHaveRows(table, in: page), isFound = actual.mayHaveRows(table, in: page)
                    guard isWanted || isFound else { continue }
                    count += try compareRows(page, of: table, actual, expected, audit)
                } catch {
                    add(Problem(offset: error.offset, message: error.message))
                    return
                }
            }
            rows += index == 0 ? 0 : count
            if UInt64(actual.rowCount(table)) != count {
                add(Problem(offset: nil, 
                    message: "table \(expected.catalog.table(table)?.name ?? "\(index)") has \(count) rows and says \(actual.rowCount(table))",
                    remedy: .rebuild))
            }
        }
        for definition in expected.catalog.indexes { try compare(definition, actual, expected) }
    }

    /// - Returns: the count of these rows that exist.
    private mutating func compareRows(
        _ rows: Range<UInt64>, of table: TableID, _ actual: Snapshot, _ expected: Snapshot, _ audit: ValueAudit
    ) throws(StoreError) -> UInt64 {
        var count: UInt64 = 0
        for row in rows {
            let reference = RowReference(table: table, row: row)
            let wanted = try expected.address(of: reference), found = try actual.address(of: reference)
            if wanted != found {
                add(Problem(
                    offset: wanted ?? found, 
                    message: "the primary index is wrong about \(expected.catalog.location(of: reference))", remedy: .rebuild))
            }
            if let wanted {
                let row = try expected.view(at: wanted, reference)
                if let message = expected.catalog.fault(of: row) { add(Problem(offset: wanted, message: message, remedy: .correct)) }
                checkValues(of: row, expected.catalog, audit)
                count += 1
            }
        }
        return count
    }

    /// Each value must exist with the length that its row states.
    private mutating func checkValues(of row: UnsafeRowView, _ catalog: Catalog, _ audit: ValueAudit) {
        guard let table = catalog.table(row.reference.table), table.hasValues, let layout = table.layout(row.layoutID) else { return }
        for position in layout.valuePositions where !row.isNull(layout.access[position]) {
            do throws(StoreError) {
                if try !audit.value(row.bytes(layout.access[position])).isInline { values += 1 }
            } catch {
                let column = layout.columns[position].name
                add(Problem(
                    offset: error.offset, message: "\(catalog.location(of: row.reference, column: column)): \(error.message)"))
            }
        }
    }

    /// Both scans must give the same entries: one for each row, with the key made from its values, and no others.
    private mutating func compare(_ index: IndexDefinition, _ actual: Snapshot, _ expected: Snapshot) throws(StoreError) {
        guard Int(index.id.rawValue) < expected.indexes.count, expected.indexes[Int(index.id.rawValue)] != nil else { return }
        do throws(StoreError) {
            var mine = try actual.cursor(index.id), theirs = try expected.cursor(index.id)
            while true {
                let a = try mine.next(), b = try theirs.next()
                guard a != nil || b != nil else { return }
                guard a == b, mine.unsafeKey.elementsEqual(theirs.unsafeKey) else {
                    let isMissing = a == nil || b != nil && KeyBytes.compare(theirs.unsafeKey, mine.unsafeKey) < 0
                    let reference = RowReference(table: index.table, row: (isMissing ? b : a) ?? 0)
                    add(Problem(
                        offset: try? expected.address(of: reference),
                        message: "the index \(index.name) is wrong about \(expected.catalog.location(of: reference)): "
                            + (isMissing ? "it lacks the row's entry, or has it under another key" : "it has an entry that is not the row's"),
                        remedy: .rebuild))
                    return
                }
                indexEntries += 1
            }
        } catch {
            add(Problem(offset: error.offset, message: error.message, remedy: .rebuild))
        }
    }
}
