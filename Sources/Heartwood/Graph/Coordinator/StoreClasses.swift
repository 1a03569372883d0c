import Foundation
import Synchronization

/// The store classes by type.
enum StoreClasses {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    private static let builtIn: [String: NSPersistentStore.Type] = [
        NSRecordLogStoreType: RecordLogStore.self, NSInMemoryStoreType: InMemoryStore.self, NSBinaryStoreType: BinaryStore.self,
    ]

    static var all: [String: NSPersistentStore.Type] {
        registered.withLock { registered in builtIn.merging(registered) { $1 } }
    }

    static func storeClass(for type: String) -> NSPersistentStore.Type? {
        registered.withLock { $0[type] } ?? builtIn[type]
    }

    static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
        registered.withLock { $0[type] = storeClass }
    }

    static func unknownType(_ type: String) -> NSError {
        let remedy = type == NSSQLiteStoreType
            ? "Heartwood has no SQLite store; use NSRecordLogStoreType (or .recordLog), the default, in its place."
            : "Register a class for it (registerStoreClass), or use one of \(all.keys.sorted().joined(separator: ", "))."
        return CoreDataError.make(
            NSPersistentStoreInvalidTypeError, "There is no store class for the type \"\(type)\". \(remedy)")
    }
}

extension NSPersistentStoreCoordinator {
    /// The classes of stores, built-in and registered, by their types.
    public static var registeredStoreTypes: [String: AnyClass] { StoreClasses.all.mapValues { $0 } }

    /// Makes `addPersistentStore` open stores of a type with a class of your own, for every coordinator from now on.
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`; nil takes the registration back.
    ///   - storeType: any text; that of a built-in store, `NSSQLiteStoreType` too, makes the class take its place.
    /// - Precondition: the class is such a subclass.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        let found = storeClass as? NSPersistentStore.Type
        precondition(
            storeClass == nil || found != nil,
            "The class registered for the store type \"\(storeType)\" is \(storeClass.map(String.init(describing:)) ?? ""), no store's.")
        StoreClasses.register(found, for: storeType)
    }

    /// As `registerStoreClass(_:forStoreType:)`, with the modern spelling.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }
}
