import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// One check of a file, in one state of it.
final class AuditRun {
    let file: SQLiteFile
    private(set) var report = CoreDataAudit.Report()

    init(_ file: SQLiteFile) { self.file = file }

    func found(_ table: String?, row: Int64? = nil, column: String? = nil, _ message: String) {
        report.findingCount += 1
        guard report.findings.count < CoreDataAudit.findingsMax else { return }
        report.findings.append(CoreDataAudit.Finding(table: table, row: row, column: column, message: message))
    }

    func found(_ table: SQLiteTable, _ row: Int64, _ column: Int, _ message: String) {
        found(table.name, row: row, column: table.columns[column].name, message)
    }

    /// A key leads nowhere.
    func foundNoRow(_ key: Int64, of other: String, _ table: SQLiteTable, _ row: Int64, _ column: Int) {
        found(table, row, column, "it refers to row \(key) of \(other), which does not exist")
    }

    /// A column of order keys has none.
    func foundNoPlace(_ kind: SQLiteValue.Kind, _ table: SQLiteTable, _ row: Int64, _ column: Int) {
        found(table, row, column, "it has \(ValueFault.name(kind)) where the place in an ordered relationship belongs")
    }

    func note(_ limit: String) { report.limits.append(limit) }

    func countRow() { report.rows += 1 }

    static func text(_ page: UInt32?, _ offset: Int?, _ message: String) -> String {
        let place = [page.map { "page \($0)" }, offset.map { "byte \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return place.isEmpty ? message : "\(message) (\(place))"
    }

    func check(given: URL?) throws {
        try checkLog()
        let structure = try file.checkStructure(add)
        report.pages = file.pageCount
        report.trees = structure.trees.count
        let sound = Set(structure.trees.filter(\.isSound).map(\.name))
        try checkIndexes(structure, sound)
        let store: ExaminedStore
        do {
            store = try ExaminedStore(file, given: given)
        } catch let error as SQLiteFileError {
            guard error.code == .corrupt else { throw error }
            // The walk over the pages has found it already, where it is of the structure.
            if report.isSound { found(nil, Self.text(error.page, error.offset.map { Int(clamping: $0) }, error.message)) }
            return note("The objects were not checked, since Core Data's own tables are damaged.")
        } catch {
            let error = error as NSError
            // The file, or the given model, is another one than meant.
            guard !CoreDataFile.saysNoStore(error), error.code != NSPersistentStoreIncompatibleVersionHashError else { throw error }
            found(nil, message(of: error))
            return note("The objects were not checked, since Core Data's own tables are damaged.")
        }
        report.doubts = store.found.doubts
        try ContentsAudit(self, store, sound).check()
    }

    /// An error's message without the path, which the user knows.
    private func message(of error: NSError) -> String {
        let text = error.localizedDescription, prefix = file.path + ": "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    private func add(_ finding: StructureFinding) { found(finding.owner, Self.text(finding.page, finding.offset, finding.message)) }

    // MARK: Structure

    private func checkLog() throws {
        guard let log = try file.logFile() else { return }
        report.logCommits = file.logFacts?.commits ?? 0
        report.openFrames = file.logFacts?.openFrames ?? 0
        if !log.isValid { found(nil, "the write-ahead log of \(log.bytes) bytes does not begin as a log does, so SQLite ignores it") }
        guard let frame = log.wrongFrame, let offset = log.wrongFrameOffset else { return }
        found(
            nil, "the checksum of frame \(frame) of the write-ahead log does not hold, at byte \(offset) of the log: SQLite ignores the log from "
                + "there on")
    }

    private func checkIndexes(_ structure: StructureReport, _ sound: Set<String>) throws {
        let rows = Dictionary(structure.trees.filter { !$0.isIndex }.map { ($0.name, $0.entries) }) { first, _ in first }
        for index in structure.trees where index.isIndex && index.isSound && sound.contains(index.tableName) {
            report.indexEntries += index.entries
            do throws(SQLiteFileError) {
                try file.checkIndex(named: index.name, rows: rows[index.tableName] ?? 0, add)
            } catch {
                switch error.code {
                case .corrupt, .noSuchTable: found(index.name, Self.text(error.page, error.offset.map { Int(clamping: $0) }, error.message))
                case .unsupported: note("The index \(index.name) was not compared with its table: \(error.message).")
                default: throw error
                }
            }
        }
    }
}
