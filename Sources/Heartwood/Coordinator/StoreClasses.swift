import Foundation
import Synchronization

/// The store classes by type.
enum StoreClasses {
    static func storeClass(for type: String) -> NSPersistentStore.Type? {
        switch type {
        case NSRecordLogStoreType: RecordLogStore.self
        case NSInMemoryStoreType: InMemoryStore.self
        default: nil
        }
    }

    static func unknownType(_ type: String) -> NSError {
        let remedy = type == NSSQLiteStoreType
            ? "Heartwood has no SQLite store; use NSRecordLogStoreType (or .recordLog), the default, in its place."
            : "Use NSRecordLogStoreType or NSInMemoryStoreType."
        return CoreDataError.make(
            NSPersistentStoreInvalidTypeError, "There is no store class for the type \"\(type)\". \(remedy)")
    }
}
