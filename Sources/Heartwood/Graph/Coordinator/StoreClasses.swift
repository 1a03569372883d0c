import Foundation
import Synchronization

/// The store classes, by type.
enum StoreClasses {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    private static let builtIn: [String: NSPersistentStore.Type] = [
        NSRecordLogStoreType: RecordLogStore.self, NSInMemoryStoreType: InMemoryStore.self, NSBinaryStoreType: BinaryStore.self,
        NSSQLiteStoreType: SQLiteStore.self,
    ]

    static var all: [String: NSPersistentStore.Type] {
        registered.withLock { registered in builtIn.merging(registered) { $1 } }
    }

    static func storeClass(for type: String) -> NSPersistentStore.Type? {
        registered.withLock { $0[type] } ?? builtIn[type]
    }

    /// The type of a store that is added at `url`: a store of a built-in type at `/dev/null` is in memory.
    static func type(_ type: String, at url: URL?) -> String {
        guard let url, NSPersistentStore.isNowhere(url), builtIn[type] != nil, registered.withLock({ $0[type] }) == nil else { return type }
        return NSInMemoryStoreType
    }

    static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
        registered.withLock { $0[type] = storeClass }
    }

    static func unknownType(_ type: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreInvalidTypeError,
            "There is no store class for the type \"\(type)\". Register a class for it (registerStoreClass), or use one of "
                + "\(all.keys.sorted().joined(separator: ", ")).")
    }
}

extension NSPersistentStoreCoordinator {
    /// The built-in and registered store classes, by type.
    public static var registeredStoreTypes: [String: AnyClass] { StoreClasses.all.mapValues { $0 } }

    /// Makes every coordinator open stores of a type with your own class, from now on.
    /// - Parameters:
    ///   - storeClass: a subclass of `NSAtomicStore` or `NSIncrementalStore`; nil removes the registration.
    ///   - storeType: any text; for the type of a built-in store, or `NSSQLiteStoreType`, your class replaces it.
    /// - Precondition: the class is such a subclass.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        let found = storeClass as? NSPersistentStore.Type
        demand(
            storeClass == nil || found != nil,
            "The class registered for the store type \"\(storeType)\" is \(storeClass.map(String.init(describing:)) ?? ""), no store's.")
        StoreClasses.register(found, for: storeType)
    }

    /// The modern spelling of `registerStoreClass(_:forStoreType:)`.
    public class func registerStoreClass(_ storeClass: AnyClass?, type storeType: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: storeType.rawValue)
    }
}
