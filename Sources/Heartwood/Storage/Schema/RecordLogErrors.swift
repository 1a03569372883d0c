import Foundation
import RecordLog

/// Converts the engine's errors to Core Data's.
package enum RecordLogErrors {
    /// Returns a Core Data error with the engine's error as `NSUnderlyingErrorKey`.
    package static func wrap(_ error: StoreError, opening: Bool = false) -> NSError {
        let code = switch error.code {
        case .locked: NSPersistentStoreTimeoutError
        // Core Data's code for a damaged SQLite file.
        case .corrupt where opening: CocoaError.Code.fileReadCorruptFile.rawValue
        // A store that is opened only for reading.
        case .notFound where opening && hasDirectory(error.path): CocoaError.Code.fileReadNoSuchFile.rawValue
        case _ where opening: NSPersistentStoreOpenError
        case .io, .noSpace, .poisoned, .readOnly, .undecided: NSPersistentStoreSaveError
        default: NSPersistentStoreOperationError
        }
        return make(code, error, opening && error.code == .notFound ? missing(error.path) : "\(error)")
    }

    /// Wraps an error of the engine, and returns any other error unchanged.
    package static func wrapIfOfEngine(_ error: any Error, opening: Bool = false) -> any Error {
        (error as? StoreError).map { wrap($0, opening: opening) } ?? error
    }

    /// Wraps the error of a store's removal. A removal does not wait for other users, so a lock is not reported as a timeout.
    static func wrapRemoval(_ error: StoreError) -> NSError {
        let isFailure = error.code == .io || error.code == .permissionDenied
        return make(isFailure ? NSPersistentStoreSaveError : NSPersistentStoreOperationError, error, "\(error)")
    }

    private static func make(_ code: Int, _ error: StoreError, _ description: String) -> NSError {
        var info: [String: Any] = [
            NSUnderlyingErrorKey: error, NSFilePathErrorKey: error.path, NSLocalizedRecoverySuggestionErrorKey: error.remedy,
        ]
        info[NSRecordLogOffsetErrorKey] = error.offset
        return CoreDataError.make(code, description, info)
    }

    private static func hasDirectory(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    private static func missing(_ path: String) -> String {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return hasDirectory(path)
            ? "\(path): there is no such file. Check the URL, or open it for writing once to make the store."
            : "\(path): the directory \(directory) does not exist. Make it first; adding a store makes none."
    }
}
