extension LogStore {
    /// Makes a store in a new file for rows that come from elsewhere and keep their numbers. The file is closed afterwards.
    ///
    /// The first commit has the changes of `define`, and row numbers that count as given out: later commits put rows below them, in any order.
    /// Spec: FORMAT.md, "The system table", row 2.
    /// - Parameters:
    ///   - storeID: the new store's identity.
    ///   - define: defines the tables, and returns the next new row of each table whose rows come from elsewhere.
    /// - Throws: `exists`; `tooLarge` if the row numbers are more than a file can state; the errors of `define`. No file is left then.
    package static func create(
        path: String, as storeID: StoredUUID, options: StoreOptions, _ define: (Transaction) throws -> [(table: TableID, row: UInt64)]
    ) throws {
        let fileSystem = options.resolvedFileSystem(), counters = Counters()
        let storage = try fileSystem.open(path, .createPrivate)
        do {
            let opened = try FileCreation(path: path, options: options, fileSystem: fileSystem, counters: counters)
                .initialize(storage, storeID: storeID)
            let store = LogStore(path: path, options: options, fileSystem: fileSystem, opened: opened, counters: counters)
            try store.write { try $0.begin(numbered: RowNumbers(next: try define($0))) }
            try store.takeUpRowNumbers()
            try store.close()
        } catch {
            try? fileSystem.remove(path)
            throw error
        }
    }

    /// Row numbers that a system row states take effect when the log is replayed from its start.
    func takeUpRowNumbers() throws(StoreError) {
        try exclusively { locked throws(StoreError) in locked.publish(try locked.rebuilt(snapshot())) }
    }
}

extension Transaction {
    fileprivate func begin(numbered numbers: RowNumbers) throws(StoreError) {
        guard numbers.areBelieved else {
            throw StoreError(
                .tooLarge, path: base.file.path, "the numbers of the rows add up to more than \(RowNumbers.sumMax), which a file cannot state",
                remedy: "Number the rows anew, or split the data over several stores.")
        }
        try writeCatalog()
        try setSystemRow(RowNumbers.row, numbers.encoded())
    }
}
