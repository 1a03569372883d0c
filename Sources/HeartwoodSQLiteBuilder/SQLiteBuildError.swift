/// An error of a database file that is being built, with a stable code, the path, and a remedy.
package struct SQLiteBuildError: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// Something has the path already.
        case exists
        /// The folder of the path is missing, or is no folder.
        case noFolder
        case noSpace, io
        /// A row's rowid is not above the one before.
        case rowidOrder
        /// A unique index has two entries with equal values.
        case duplicateKey
        /// A record or the file is larger than SQLite reads.
        case tooLarge
        /// A name or a statement does not fit the others.
        case invalidSchema
        /// The builder has finished, or was abandoned.
        case closed
    }

    /// Two rows of a table that a unique index cannot both have.
    package struct Duplicate: Sendable, Equatable {
        package let index: String
        package let table: String
        package let first: Int64
        package let second: Int64
    }

    // One reference, so that a typed throw costs a pointer.
    private final class Details: Sendable {
        let code: Code
        let path: String
        let message: String
        let remedy: String
        let duplicate: Duplicate?

        init(_ code: Code, _ path: String, _ message: String, _ remedy: String, _ duplicate: Duplicate?) {
            self.code = code
            self.path = path
            self.message = message
            self.remedy = remedy
            self.duplicate = duplicate
        }
    }

    private let details: Details

    init(_ code: Code, path: String, _ message: String, remedy: String, duplicate: Duplicate? = nil) {
        details = Details(code, path, message, remedy, duplicate)
    }

    package var code: Code { details.code }
    package var path: String { details.path }
    package var message: String { details.message }
    /// The action that the user can take.
    package var remedy: String { details.remedy }
    /// The rows of a `duplicateKey`; nil for other errors.
    package var duplicate: Duplicate? { details.duplicate }

    /// One line: path, message, remedy.
    package var description: String { "\(path): \(message). \(remedy)" }

    static func duplicate(_ duplicate: Duplicate, path: String) -> SQLiteBuildError {
        SQLiteBuildError(
            .duplicateKey, path: path,
            "the rows \(duplicate.first) and \(duplicate.second) of \(duplicate.table) have equal values in the unique index \(duplicate.index)",
            remedy: "Change or leave out one of the rows, or leave out the index.", duplicate: duplicate)
    }

    static func invalidSchema(_ path: String, _ message: String) -> SQLiteBuildError {
        SQLiteBuildError(.invalidSchema, path: path, message, remedy: "Correct the schema of the file that is to be written.")
    }
}
