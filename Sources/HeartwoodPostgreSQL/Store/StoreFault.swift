import Foundation
import Heartwood
package import HeartwoodPostgreSQLClient

/// The stack's errors for what the client and the server report.
enum StoreFault {
    /// - Parameters:
    ///   - code: the code where the reason has none of its own.
    ///   - shown: the store's location without secrets.
    static func wrap(_ error: any Error, _ code: Int, _ shown: String) -> any Error {
        guard let error = error as? PostgreSQLError else { return error }
        return CoreDataError.make(
            self.code(error) ?? code, "\(shown): \(error.message)\(remedy(error))",
            [NSUnderlyingErrorKey: error, NSURLErrorKey: URL(string: shown) as Any, stateKey: error.state])
    }

    /// The key of the server's SQLSTATE in an error's `userInfo`.
    static let stateKey = "HeartwoodSQLState"

    fileprivate static func code(_ error: PostgreSQLError) -> Int? {
        switch error.state {
        // Read-only transaction, insufficient privilege.
        case "25006", "42501": CocoaError.Code.fileWriteNoPermission.rawValue
        // Disk full.
        case "53100": CocoaError.Code.fileWriteOutOfSpace.rawValue
        case "23503": NSManagedObjectReferentialIntegrityError
        // A lock was not free in time.
        case "55P03": NSPersistentStoreTimeoutError
        // A table or a column is gone.
        case "42P01", "42703": NSPersistentStoreIncompatibleVersionHashError
        default:
            switch error.kind {
            case .timedOut: NSPersistentStoreTimeoutError
            case .noLibrary, .badConnectionString, .cannotConnect: NSPersistentStoreOpenError
            default: nil
            }
        }
    }

    private static func remedy(_ error: PostgreSQLError) -> String {
        let detail = error.detail.map { " \($0)" } ?? ""
        switch error.state {
        case "23503":
            return "\(detail) Another save has deleted an object that this one refers to, or refers to one that this one deletes. "
                + "Refresh the objects and save again."
        case "42P01", "42703":
            return "\(detail) The tables are not those any more that the store was opened with: another program has brought the store to another "
                + "version of its model, or has changed its tables. Nothing was written. Remove the store from its coordinator, and add it with "
                + "the model of that version."
        case "55P03": return "\(detail) Others use the store: another migration, a context that is pinned to a query generation, or a long fetch."
        case "54000": return "\(detail) An index of the server takes values of some 2,700 bytes."
        default: return detail
        }
    }

    static func taken(_ location: StoreLocation) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "\(location.shown): the schema \"\(location.schema)\" has a store already, which was left as it is. Give another name in the URL: "
                + "?\(StoreLocation.parameter)=name.")
    }

    static func removed() -> NSError {
        CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
    }

    static func missing(_ location: StoreLocation) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "\(location.shown): the schema \"\(location.schema)\" has no store.")
    }
}

/// The error as a reader of an answer throws it, outside of a statement's call: it meets a value of another type.
extension PostgreSQLError: CustomNSError {
    package static var errorDomain: String { NSCocoaErrorDomain }
    package var errorCode: Int { StoreFault.code(self) ?? NSPersistentStoreOperationError }
    package var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message, StoreFault.stateKey: state] }
}
