import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks a store of Core Data's: the structure of the database, its log, and its objects. `heartwood verify` shows the findings.
///
/// It checks only what other parts of the store imply; it cannot know which value a program meant. In a model that was guessed from the tables,
/// a relationship's destination may be wrong, so references are not checked then.
package struct CoreDataAudit {
    package struct Finding: Sendable, Equatable {
        package let table: String?
        package let row: Int64?
        package let column: String?
        package let message: String

        /// One line: table, row, column, message.
        package var line: String {
            let place = [table, row.map { "row \($0)" }, column.map { "column \($0)" }].compactMap { $0 }.joined(separator: ", ")
            return place.isEmpty ? message : "\(place): \(message)"
        }
    }

    /// The result of a check.
    package struct Report: Sendable {
        /// As many as `findingsMax`.
        package internal(set) var findings: [Finding] = []
        package internal(set) var findingCount = 0
        package internal(set) var pages = 0
        package internal(set) var trees = 0
        package internal(set) var indexEntries = 0
        package internal(set) var rows = 0
        package internal(set) var logCommits = 0
        /// Frames of a transaction that is not finished.
        package internal(set) var openFrames = 0
        /// The parts that were not checked, with the reasons.
        package internal(set) var limits: [String] = []
        /// Statements about references of a guessed model that may be meant otherwise.
        package internal(set) var doubts: [String] = []
        package var isSound: Bool { findingCount == 0 }
    }

    package static let findingsMax = 1000

    /// - Parameter given: a model file, for a store without a cache that can be read.
    /// - Throws: errors that say the file is no store of Core Data's, or cannot be read. Damage is a finding.
    /// - Complexity: reads every page, and each row of an index once more. Memory: 4 bytes a page, and 24 bytes a row of one table at a time.
    package static func run(path: String, given: URL? = nil) throws -> Report {
        do {
            return try ExaminedStore.read(path: path) { file in
                let run = AuditRun(file)
                try run.check(given: given)
                return run.report
            }
        } catch let error as SQLiteFileError where [.corrupt, .truncated, .foreignLog].contains(error.code) {
            return damaged(error)
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }

    private static func damaged(_ error: SQLiteFileError) -> Report {
        var report = Report()
        let message = AuditRun.text(error.page, error.offset.map { Int(clamping: $0) }, error.message)
        report.findings = [Finding(table: nil, row: nil, column: nil, message: message)]
        report.findingCount = 1
        report.limits = ["The file cannot be opened, so nothing else was checked."]
        return report
    }
}
