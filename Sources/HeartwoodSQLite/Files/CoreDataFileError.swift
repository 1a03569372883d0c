import Foundation
import Heartwood
internal import HeartwoodSQLiteBuilder
internal import HeartwoodSQLiteFile

/// Errors of Core Data's files, with Core Data's codes.
enum CoreDataFileError {
    /// The advice for a file that can only be read.
    static let conversion = "Convert it with `heartwood convert STORE.sqlite -o STORE.heartwood`, and open that as a record log."

    static func make(_ code: Int, _ path: String, _ message: String, _ remedy: String, _ info: [String: Any] = [:]) -> NSError {
        var info = info
        info[NSFilePathErrorKey] = path
        info[NSLocalizedRecoverySuggestionErrorKey] = remedy
        return CoreDataError.make(code, "\(path): \(message). \(remedy)", info)
    }

    /// The file is a database, but what Core Data wrote into it is not as it should be.
    static func damaged(
        _ path: String, _ message: String, remedy: String = "Check the file with `PRAGMA integrity_check`, or restore a backup."
    ) -> NSError { make(CocoaError.Code.fileReadCorruptFile.rawValue, path, message, remedy) }

    /// The names of another program's tables.
    static let tablesKey = "tables"

    /// The file is a database of another program.
    /// - Parameter lacksLog: whether the header says that the database is used with a write-ahead log, and none is beside it.
    static func foreign(_ path: String, lacks missing: String, tables: [String], lacksLog: Bool) -> NSError {
        let shown = tables.prefix(20).joined(separator: ", ")
        let found = tables.isEmpty ? "It has no tables." : "Its tables are \(shown)\(tables.count > 20 ? ", …" : "")."
        let name = URL(fileURLWithPath: path).lastPathComponent
        let log = lacksLog ? " Its newest tables may be in a write-ahead log: copy the file \(name)-wal together with it." : ""
        return make(
            NSPersistentStoreIncompatibleSchemaError, path,
            "this SQLite database is no Core Data store: it has no table \(missing)", found + log,
            [tablesKey: tables])
    }

    /// The file's tables do not fit the model.
    static func misfit(_ path: String, _ entity: String, _ property: String?, _ message: String) -> NSError {
        var info: [String: Any] = ["entity": entity]
        info["property"] = property
        return make(
            NSPersistentStoreIncompatibleSchemaError, path, message, "Open it with the version of the model that it was made with.", info)
    }

    /// A value that its attribute's type does not admit.
    static func value(_ path: String, _ table: String, row: Int64, _ column: String, _ message: String) -> NSError {
        make(
            NSSQLiteError, path, "row \(row) of \(table) has in \(column) \(message)", "Correct the value with the program that wrote it.")
    }

    /// - Parameter opening: whether the error keeps the store from being opened.
    static func wrap(_ error: SQLiteFileError, opening: Bool) -> NSError {
        let code = switch error.code {
        case .notFound: CocoaError.Code.fileReadNoSuchFile.rawValue
        case .notADatabase, .encrypted, .tooShort: CocoaError.Code.fileReadCorruptFile.rawValue
        case .corrupt, .truncated, .foreignLog, .noSuchTable, .noSuchIndex:
            opening ? CocoaError.Code.fileReadCorruptFile.rawValue : NSSQLiteError
        case .io, .unsupported, .unsupportedVersion: CocoaError.Code.fileReadUnknown.rawValue
        case .busy, .changed, .hotJournal: NSPersistentStoreTimeoutError
        }
        var info: [String: Any] = [
            NSUnderlyingErrorKey: error, NSFilePathErrorKey: error.path, NSLocalizedRecoverySuggestionErrorKey: error.remedy,
        ]
        info[NSRecordLogOffsetErrorKey] = error.offset
        return CoreDataError.make(code, description(error), info)
    }

    private static func description(_ error: SQLiteFileError) -> String {
        guard error.code == .notFound else { return "\(error)" }
        return "\(error.path): there is no such file, and opening makes no SQLite store: check the URL, make a store of the type "
            + "NSRecordLogStoreType, or write one with migratePersistentStore(_:to:type:)."
    }

    /// Wraps an error of the file, and returns any other error unchanged.
    static func wrapIfOfFile(_ error: any Error, opening: Bool = false) -> any Error {
        (error as? SQLiteFileError).map { wrap($0, opening: opening) } ?? error
    }

    /// An error of a file that is written.
    static func wrap(_ error: SQLiteBuildError) -> NSError {
        let code = switch error.code {
        case .exists: CocoaError.Code.fileWriteFileExists.rawValue
        case .noFolder: CocoaError.Code.fileNoSuchFile.rawValue
        case .noSpace: CocoaError.Code.fileWriteOutOfSpace.rawValue
        case .duplicateKey: NSManagedObjectConstraintValidationError
        case .invalidSchema: NSPersistentStoreIncompatibleSchemaError
        case .io, .rowidOrder, .tooLarge, .closed: NSPersistentStoreSaveError
        }
        return CoreDataError.make(
            code, "\(error)",
            [NSUnderlyingErrorKey: error, NSFilePathErrorKey: error.path, NSLocalizedRecoverySuggestionErrorKey: error.remedy])
    }
}
