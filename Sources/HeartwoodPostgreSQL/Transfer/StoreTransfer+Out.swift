import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

extension StoreTransfer {
    /// Makes a record log of the store as of one moment, while others read and write.
    ///
    /// The log is written in a folder beside its path, and takes the path once it is complete. Crash points: before that nothing is at the path;
    /// after it the complete log. `MigrationFolder` says what a crash leaves beside it.
    /// - Parameters:
    ///   - identifier: nil for the store's own.
    ///   - verifies: whether every row of the log is read once more; its objects are counted in any case.
    ///   - progress: called now and then with the rows that came, and their number in all.
    /// - Throws: 134070 if a file that is not empty is at the URL; 260 if no store is in the schema; 134110 for a value that no attribute has; 134030
    ///   and others if the log cannot be written. Nothing is at the URL then.
    /// - Complexity: O(rows); memory that does not grow with them.
    package func dump(
        to target: URL, identifier: String? = nil, verifies: Bool = true, progress: @escaping (Int, Int) -> Void = { _, _ in }
    ) throws -> DumpReport {
        let url = target.resolvingSymlinksInPath()
        try StoreFiles.free(url)
        return try withFolder(besides: url) { folder in
            var report = try write(to: folder.file, identifier: identifier, acceptsUnreadable: false, progress)
            if verifies { report.doubts = try audit(folder.file.path) }
            try LogStore.rename(folder.file.path, to: url.path, replacing: false)
            return report
        }
    }

    /// Checks all rows, references, pairs and unique values of the store: by a record log in the folder for temporary files, which takes as much
    /// space as the store, and is removed again.
    package func examine(progress: @escaping (Int, Int) -> Void = { _, _ in }) throws -> DumpReport {
        let name = "heartwood-verify-\(UUID().uuidString)"
        return try withFolder(besides: FileManager.default.temporaryDirectory.appendingPathComponent(name)) { folder in
            var report = try write(to: folder.file, identifier: nil, acceptsUnreadable: true, progress)
            report.doubts = try audit(folder.file.path)
            return report
        }
    }

    func withFolder<Result>(besides url: URL, _ body: (MigrationFolder) throws -> Result) throws -> Result {
        do {
            return try MigrationFolder.use(besides: url, body)
        } catch {
            throw StoreFault.wrap(RecordLogErrors.wrapIfOfEngine(error), NSPersistentStoreOperationError, shown)
        }
    }

    /// - Returns: what is doubtful, and is so in the tables too.
    private func audit(_ path: String) throws -> StoreFindings {
        var doubts = StoreFindings(), damage: StoreVerification.Problem?
        try StoreAudit.run(path: path) { problem in
            if problem.remedy == .correct { doubts.add(problem.message) } else { damage = damage ?? problem }
        }
        if let damage {
            throw CoreDataError.make(NSMigrationError, "Nothing was converted, because the new file is not as it was written: \(damage.message).")
        }
        return doubts
    }

    // MARK: Writing

    /// - Parameter identifier: nil for the store's own.
    func write(
        to file: URL, identifier: String?, acceptsUnreadable: Bool, _ progress: @escaping (Int, Int) -> Void
    ) throws -> DumpReport {
        try PostgreSQLStore.withConnection(location, NSPersistentStoreOperationError) { connection in
            // All statements see one state.
            try connection.begin(PostgreSQLTransaction(.repeatableRead, isReadOnly: true))
            let store = try known(connection), counts = try StoredCounts(store.layout, connection)
            var own = store.metadata
            own[NSStoreTypeKey] = NSRecordLogStoreType
            if let identifier { own[NSStoreUUIDKey] = identifier }
            try ConversionTarget.begin(file, store.model, configuration: store.configuration, metadata: own, try counts.numbers())
            let target = try ConversionTarget(file, store.model, configuration: store.configuration)
            do {
                let layout = PostgreSQLLayout(
                    target.schema, slotBase: target.slotBase, in: location.schema, numbers: store.stored.numbers, version: store.stored.version)
                let dump = TableDump(layout, connection, target, acceptsUnreadable: acceptsUnreadable, progress)
                try dump.run(total: counts.rows)
                var report = dump.report
                report.transactions = try transactions(connection)
                if acceptsUnreadable { report.schema = try SchemaAudit(store.layout, counts, connection).run() }
                try target.close()
                return report
            } catch {
                target.abandon()
                throw error
            }
        }
    }

    func transactions(_ connection: PostgreSQLConnection) throws -> Int {
        let statement = PostgreSQLStatement("SELECT count(*) FROM \(location.table(StoreTables.transactions))", isPrepared: false)
        return Int(try connection.execute(statement).int64(0, 0))
    }
}
