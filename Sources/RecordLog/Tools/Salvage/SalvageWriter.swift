/// Writes salvaged rows to a new store, through its own transactions.
///
/// The first commit has the catalog, the row numbers and the client's system rows. The others have the rows, a few thousand each. The file
/// has another name until it is whole, so that a crash leaves no file that looks like a salvaged store.
struct SalvageWriter {
    let source: SalvageSource
    let newPath: String
    let options: StoreOptions
    let fileSystem: any FileSystem

    private static let batchRows = 8192
    private static let batchBytes = 4 << 20

    private var temporary: String { newPath + ".salvaging" }

    static func checkAbsent(_ path: String, _ fileSystem: any FileSystem) throws(StoreError) {
        // A dangling link belongs to another program too.
        guard try fileSystem.identity(ofName: path) == nil else {
            throw StoreError(
                .exists, path: path, "the file exists, and a salvage overwrites nothing", remedy: "Choose another path for the new store.")
        }
    }

    func run(_ scan: consuming SalvageScan, _ report: inout StoreSalvage, progress: ((UInt64, UInt64) -> Void)?) throws(StoreError) {
        var reconciliation = SalvageReconciliation(source: source, scan: scan)
        let system = try reconciliation.run(.system, numbered: nil)
        report.systemValuesOlder = system.older
        report.systemValuesLost = system.lost
        let catalog = try newestCatalog(reconciliation.scan, &report)
        let given = givenNumbers(reconciliation.scan)
        var numbers = RowNumbers(next: [])
        var sum: UInt64 = 0
        for table in catalog.tables {
            let outcome = try reconciliation.run(table.id, numbered: given.map { $0[table.id] ?? 1 })
            report.tables.append(.init(
                id: table.id.rawValue, name: table.name, older: outcome.older, lost: outcome.lost, unaccounted: outcome.unaccounted))
            let next = max(outcome.nextRow, given?[table.id] ?? 1)
            sum += next
            guard sum <= RowNumbers.sumMax else {
                throw StoreError.corrupt(source.path, at: nil, "the row numbers in the file are impossible")
            }
            numbers.next.append((table.id, next))
        }
        report.deletionsByIndex = reconciliation.deletionsByIndex
        report.lostRows = reconciliation.lostRows.elements
        try write(reconciliation.scan, catalog, numbers, &report, progress)
    }

    // MARK: Schema

    /// The newest catalog that can be read.
    private func newestCatalog(_ scan: borrowing SalvageScan, _ report: inout StoreSalvage) throws(StoreError) -> Catalog {
        for (age, address) in scan.catalogs.reversed().enumerated() {
            guard let (record, body) = source.record(at: address) else { continue }
            let bytes = UnsafeRawBufferPointer(start: body, count: record.bodyLength)
            guard let catalog = Catalog(bytes) else {
                // An older catalog would give the rows other values.
                if Catalog.isNewer(bytes) { throw Catalog.unreadable(bytes, source.path, at: address) }
                continue
            }
            if age > 0 { report.systemValuesOlder += 1 }
            return catalog
        }
        guard !scan.rows.entries.isEmpty || scan.tail == .uncertain || scan.missingCommits.count > 0 else { return .empty }
        throw StoreError(
            .corrupt, path: source.path, at: FileFormat.dataStart,
            "no catalog is left, without which no row can be read: nothing says which tables and columns there are",
            remedy: "Restore a backup.")
    }

    /// By table: the row numbers given out before the file was begun. From them on every number has a record. nil if they are lost.
    private func givenNumbers(_ scan: borrowing SalvageScan) -> [TableID: UInt64]? {
        for address in scan.rowNumbers.reversed() {
            guard let (record, body) = source.record(at: address),
                let numbers = RowNumbers(UnsafeRawBufferPointer(start: body, count: record.bodyLength))
            else { continue }
            return Dictionary(numbers.next.map { ($0.table, $0.row) }, uniquingKeysWith: max)
        }
        return scan.beginning == 1 ? [:] : nil
    }

    // MARK: Writing

    private func write(
        _ scan: borrowing SalvageScan, _ catalog: Catalog, _ numbers: RowNumbers, _ report: inout StoreSalvage,
        _ progress: ((UInt64, UInt64) -> Void)?
    ) throws(StoreError) {
        let storage: any StorageFile
        do throws(StoreError) {
            storage = try fileSystem.create(temporary, like: source.file.storage)
        } catch {
            guard error.code == .exists else { throw error }
            throw StoreError(
                .exists, path: temporary, "an earlier salvage left its unfinished file, or one is running",
                remedy: "Remove the file if none is running.")
        }
        let directory: any OpenDirectory
        do throws(StoreError) {
            var options = options
            // The checkpoint at the end syncs everything once, before the file gets its name.
            options.durability = .relaxed
            options.isReadOnly = false
            options.compaction = nil
            options.fileSystem = fileSystem
            let counters = Counters()
            let opened = try FileCreation(path: temporary, options: options, fileSystem: fileSystem, counters: counters).initialize(
                storage, storeID: source.file.identity.storeID, segmentShift: source.file.identity.segmentShift)
            let store = LogStore(path: temporary, options: options, fileSystem: fileSystem, opened: opened, counters: counters)
            try writeSystem(scan, catalog, numbers, to: store, &report)
            try writeRows(scan.rows.entries, catalog, to: store, &report, progress)
            if store.snapshot().sequence > 0 {
                try commit(store) { transaction throws(StoreError) in try transaction.repeatCatalog() }
                try store.checkpoint()
            }
            try store.close()
            // Syncs the superblock that names the checkpoint too.
            try storage.sync()
            report.newFileBytes = try storage.size()
            try Self.checkAbsent(newPath, fileSystem)
            directory = try fileSystem.openDirectory(of: temporary)
            try fileSystem.rename(temporary, to: newPath)
        } catch {
            try? fileSystem.remove(temporary)
            throw error
        }
        try directory.sync()
    }

    /// As `LogStore.write`, for changes that throw only engine errors.
    private func commit(_ store: LogStore, _ change: (Transaction) throws(StoreError) -> Void) throws(StoreError) {
        do {
            try store.write { try change($0) }
        } catch {
            throw error as? StoreError ?? StoreError(.io, path: newPath, "\(error)", remedy: "Salvage again.")
        }
    }

    /// Whether to keep a system row: the client's rows are kept, and the decisions that other stores may ask for.
    private static func isKept(_ row: UInt64) -> Bool { Transaction.systemRows.contains(row) || row == CommitDecisions.row }

    private func writeSystem(
        _ scan: borrowing SalvageScan, _ catalog: Catalog, _ numbers: RowNumbers, to store: LogStore, _ report: inout StoreSalvage
    ) throws(StoreError) {
        guard !catalog.tables.isEmpty || !scan.rows.entries.isEmpty else { return }
        var count = 0
        let entries = scan.rows.entries[scan.rows.range(of: .system)]
        try commit(store) { transaction throws(StoreError) in
            try transaction.setCatalog(catalog)
            try transaction.writeCatalog()
            try transaction.setSystemRow(RowNumbers.row, numbers.encoded())
            for entry in entries where Self.isKept(entry.reference.row) && entry.address > 0 && !entry.isDeletion {
                guard let (record, body) = source.record(at: entry.address) else { continue }
                let row = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: entry.reference, version: record.version)
                guard RowAudit.systemFault(of: row) == nil else { continue }
                try transaction.put(
                    entry.reference, body: UnsafeRawBufferPointer(start: body, count: record.bodyLength), version: record.version)
                if Transaction.systemRows.contains(entry.reference.row) { count += 1 }
            }
        }
        report.systemValues = count
        try store.takeUpRowNumbers()
    }

    private func writeRows(
        _ entries: [SalvagedRows.Entry], _ catalog: Catalog, to store: LogStore, _ report: inout StoreSalvage,
        _ progress: ((UInt64, UInt64) -> Void)?
    ) throws(StoreError) {
        let indexes = Dictionary(report.tables.enumerated().map { ($0.element.id, $0.offset) }, uniquingKeysWith: { $1 })
        var tables = report.tables
        var withoutTable = 0
        var values = SalvagedValues(source: source)
        var at = 0
        while at < entries.count {
            try commit(store) { transaction throws(StoreError) in
                var count = 0, bytes = 0
                var checker = RowChecker(catalog: catalog, options: options, file: store.snapshot().file)
                while at < entries.count, count < Self.batchRows, bytes < Self.batchBytes {
                    let entry = entries[at]
                    at += 1
                    guard entry.reference.table != .system, entry.address > 0, !entry.isDeletion else { continue }
                    guard let index = indexes[entry.reference.table.rawValue] else {
                        // Table numbers below the next one are those of dropped tables.
                        if entry.reference.table.rawValue >= catalog.nextTable { withoutTable += 1 }
                        continue
                    }
                    guard let (record, body) = source.record(at: entry.address),
                        try checker.accepts(entry.reference, UnsafeRawBufferPointer(start: body, count: record.bodyLength))
                    else {
                        tables[index].malformed += 1
                        continue
                    }
                    let row = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: entry.reference, version: record.version)
                    tables[index].valuesLost += try Self.put(row, &values, catalog, to: transaction)
                    tables[index].kept += 1
                    if entry.isOfIncompleteCommit { tables[index].fromIncompleteCommits += 1 }
                    count += 1
                    bytes += Int(clamping: catalog.liveBytes(of: row))
                }
            }
            progress?(UInt64(at), UInt64(entries.count))
        }
        report.tables = tables
        report.rowsWithoutTable = withoutTable
        report.lostValues = values.lost.elements
    }

    /// - Returns: the count of the row's values that are lost.
    private static func put(
        _ row: UnsafeRowView, _ values: inout SalvagedValues, _ catalog: Catalog, to transaction: Transaction
    ) throws(StoreError) -> Int {
        guard let table = catalog.table(row.reference.table), let layout = table.layout(row.layoutID) else { return 0 }
        let (row, lost) = values.mended(row, layout)
        guard table.hasValues else {
            try transaction.put(row.reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount), version: row.version)
            return lost
        }
        let brought = try values.bring(row, layout, to: transaction)
        try brought.body.withUnsafeBufferPointer { body throws(StoreError) in
            try transaction.put(row.reference, body: UnsafeRawBufferPointer(body), version: row.version)
        }
        return lost + brought.lost
    }
}

/// Checks in advance whether a row can be written, since a transaction that failed on one row could not be committed.
private struct RowChecker {
    let catalog: Catalog
    let options: StoreOptions
    let file: LogFile
    private var extractors: [TableID: [any IndexKeyExtractor]] = [:]
    private let key = KeyBuilder()

    init(catalog: Catalog, options: StoreOptions, file: LogFile) {
        self.catalog = catalog
        self.options = options
        self.file = file
    }

    mutating func accepts(_ reference: RowReference, _ body: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        guard let base = body.baseAddress, body.count >= RowLayout.nullsOffset else { return false }
        let row = UnsafeRowView(body: base, byteCount: body.count, reference: reference, version: 0)
        guard let layout = catalog.table(reference.table)?.layout(row.layoutID), layout.fits(body),
            UInt64(FrameHeader.length(forPayload: RowRecord.size(ofBody: body.count))) <= file.segmentSize - FileFormat.dataStart
        else { return false }
        for extractor in try extractors(of: reference.table) {
            key.removeAll()
            guard extractor.appendKey(of: row, layout: layout, to: key) else { continue }
            key.append(row: reference.row)
            guard key.count <= IndexKeyExtractors.keySizeMax(file) else { return false }
        }
        return true
    }

    private mutating func extractors(of table: TableID) throws(StoreError) -> [any IndexKeyExtractor] {
        if let known = extractors[table] { return known }
        var found: [any IndexKeyExtractor] = []
        for index in catalog.indexes(on: table) {
            found.append(try IndexKeyExtractors.extractor(of: index, options, path: file.path))
        }
        extractors[table] = found
        return found
    }
}
