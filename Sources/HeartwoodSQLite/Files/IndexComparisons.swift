import Heartwood
internal import HeartwoodSQLiteFile
import Synchronization

/// The results of comparisons of a store's indexes with their tables, for as long as the store is open.
///
/// SQLite trusts an index. If a disk has lost a part of one, SQLite finds fewer rows and says nothing. So each index is compared once before it is
/// used, and one that disagrees is not used: then the table is read. What the owner writes later does not make a sound index unsound.
final class IndexComparisons: Sendable {
    /// By the name of the index.
    private let results = Mutex<[String: Bool]>([:])

    /// Whether an index has an entry for each row of its table, and no other.
    /// - Throws: errors of the file that are no damage of the index.
    func agree(_ index: SQLiteIndex, _ file: SQLiteFile) throws -> Bool {
        if let known = results.withLock({ $0[index.name] }) { return known }
        let agrees = try Self.compare(index, file)
        results.withLock { $0[index.name] = agrees }
        return agrees
    }

    private static func compare(_ index: SQLiteIndex, _ file: SQLiteFile) throws -> Bool {
        final class Finding { var isThere = false }
        let finding = Finding()
        do throws(SQLiteFileError) {
            try file.checkIndex(named: index.name, rows: try file.table(named: index.tableName).rowCount()) { _ in finding.isThere = true }
        } catch {
            guard [.corrupt, .truncated, .unsupported].contains(error.code) else { throw error }
            return false
        }
        return !finding.isThere
    }
}
