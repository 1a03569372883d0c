import Foundation
import HeartwoodTestSupport
import RecordLog
import Synchronization
import Testing

extension GoldenStore {
    /// Adds commits, one of which starts a background checkpoint; three are between its batches. Closes the store.
    static func addCommitsBesideACheckpoint(to url: URL) throws {
        let files = SyncHook(POSIXFileSystem())
        var options = StoreOptions()
        options.fileSystem = files
        options.checkpointAfterBytes = 16_000
        let log = try LogStore.open(path: url.path, options: options)
        let table = try #require(log.snapshot().catalog.table(named: "Entry"))
        let rows = Mutex<[UInt64]>([])
        let failure = Mutex<(any Error)?>(nil)
        let remaining = Mutex(["insert", "change", "delete"])
        files.arm {
            guard let step = remaining.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
            do {
                switch step {
                case "insert": try put(log, table, "inserted beside a checkpoint")
                case "change": try put(log, table, "changed beside a checkpoint", at: rows.withLock { $0[0] })
                default: try log.write { _ = try $0.delete(RowReference(table: table.id, row: rows.withLock { $0[1] })) }
                }
            } catch { failure.withLock { $0 = error } }
        }
        for number in 0..<3 {
            let row = try put(log, table, "before a checkpoint \(number) " + String(repeating: "-", count: 3_000))
            rows.withLock { $0.append(row) }
        }
        // Waits for the checkpoint.
        try log.close()
        if let error = failure.withLock({ $0 }) { throw error }
        try #require(remaining.withLock { $0.isEmpty }, "the checkpoint was not written")
    }

    /// Puts an entry in a commit of its own: a new entry, or the one of a given row.
    @discardableResult
    private static func put(_ log: LogStore, _ table: TableDefinition, _ text: String, at row: UInt64? = nil) throws -> UInt64 {
        let column = try #require(table.currentLayout.columns.firstIndex { $0.name == "text" })
        let builder = RowBuilder()
        builder.begin(table.currentLayout)
        builder.set(column, text: text)
        return try log.write(author: "beside") { transaction in
            let row = try row ?? transaction.newRow(in: table.id)
            try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
            return row
        }
    }
}
