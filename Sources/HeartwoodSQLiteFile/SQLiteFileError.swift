/// An error of a database file that another program owns, with a stable code, the location, and a remedy.
package struct SQLiteFileError: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        case notFound, io
        /// The bytes are those of another kind of file.
        case notADatabase
        /// The bytes look random, as those of an encrypted database do.
        case encrypted
        /// The file ends inside its header.
        case tooShort
        /// A newer program wrote the file, in a form that this reader does not know.
        case unsupportedVersion
        /// A structure of the file breaks a rule of the format.
        case corrupt
        /// A page that the database has is behind the file's end.
        case truncated
        /// The write-ahead log beside the file belongs to another database.
        case foreignLog
        /// A rollback journal is beside the file, and a running program may still own it.
        case hotJournal
        /// Another program is writing.
        case busy
        /// The database is no longer in the state that was opened.
        case changed
        /// The file is sound, but the request needs a feature that this reader lacks.
        case unsupported
        case noSuchTable, noSuchIndex
    }

    // One reference, so that a typed throw costs a pointer.
    private final class Details: Sendable {
        let code: Code
        let path: String
        let page: UInt32?
        let offset: UInt64?
        let message: String
        let remedy: String

        init(_ code: Code, _ path: String, _ page: UInt32?, _ offset: UInt64?, _ message: String, _ remedy: String) {
            self.code = code
            self.path = path
            self.page = page
            self.offset = offset
            self.message = message
            self.remedy = remedy
        }
    }

    private let details: Details

    init(_ code: Code, path: String, page: UInt32? = nil, offset: UInt64? = nil, _ message: String, remedy: String) {
        details = Details(code, path, page, offset, message, remedy)
    }

    package var code: Code { details.code }
    package var path: String { details.path }
    /// The number of the page, from 1; nil if the error is not about one page.
    package var page: UInt32? { details.page }
    /// In bytes: from the page's start if there is a page, else from the file's start.
    package var offset: UInt64? { details.offset }
    package var message: String { details.message }
    /// The action that the user can take.
    package var remedy: String { details.remedy }

    /// One line: path, message, page, offset, remedy.
    package var description: String {
        let location: String =
            switch (page, offset) {
            case (let page?, let offset?): " (page \(page), byte \(offset))"
            case (let page?, nil): " (page \(page))"
            case (nil, let offset?): " (at byte \(offset))"
            case (nil, nil): ""
            }
        return "\(path): \(message)\(location). \(remedy)"
    }

    static func corrupt(_ path: String, page: UInt32? = nil, offset: Int? = nil, _ message: String) -> SQLiteFileError {
        SQLiteFileError(
            .corrupt, path: path, page: page, offset: offset.map { UInt64(clamping: $0) }, message,
            remedy: "Check the file with `PRAGMA integrity_check` of SQLite, and restore a backup if it is damaged.")
    }

    static func changed(_ path: String, _ message: String) -> SQLiteFileError {
        SQLiteFileError(.changed, path: path, message, remedy: "Open the file again and repeat what you read.")
    }
}
