import Foundation
import RecordLog

/// Between the engine's errors and Core Data's.
enum RecordLogErrors {
    /// A Core Data error with the engine's own below it (`NSUnderlyingErrorKey`).
    static func wrap(_ error: StoreError, opening: Bool = false) -> NSError {
        let code = switch error.code {
        case .locked: NSPersistentStoreTimeoutError
        case _ where opening: NSPersistentStoreOpenError
        case .io, .noSpace, .poisoned, .readOnly, .undecided: NSPersistentStoreSaveError
        default: NSPersistentStoreOperationError
        }
        return CoreDataError.make(code, "\(error)", [NSUnderlyingErrorKey: error, NSFilePathErrorKey: error.path])
    }
}
