import Foundation
import RecordLog

/// Between the engine's errors and Core Data's.
enum RecordLogErrors {
    /// A Core Data error with the engine's own below it (`NSUnderlyingErrorKey`).
    static func wrap(_ error: StoreError, opening: Bool = false) -> NSError {
        let code = switch error.code {
        case .locked: NSPersistentStoreTimeoutError
        // What Core Data gives for an SQLite file that is damaged.
        case .corrupt where opening: CocoaError.Code.fileReadCorruptFile.rawValue
        // A file that is to be read alone.
        case .notFound where opening && hasDirectory(error.path): CocoaError.Code.fileReadNoSuchFile.rawValue
        case _ where opening: NSPersistentStoreOpenError
        case .io, .noSpace, .poisoned, .readOnly, .undecided: NSPersistentStoreSaveError
        default: NSPersistentStoreOperationError
        }
        return make(code, error, opening && error.code == .notFound ? missing(error.path) : "\(error)")
    }

    /// The same of what may be another error, which stays what it is.
    static func wrapIfOfEngine(_ error: any Error, opening: Bool = false) -> any Error {
        (error as? StoreError).map { wrap($0, opening: opening) } ?? error
    }

    /// Of a removal: who has the store in use is not waited for.
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
