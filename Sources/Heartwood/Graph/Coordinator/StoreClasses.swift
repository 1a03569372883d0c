import Foundation
import Synchronization

/// The store classes, by type.
enum StoreClasses {
    private static let registered = Mutex<[String: NSPersistentStore.Type]>([:])

    private static let inModule: [String: NSPersistentStore.Type] = [
        NSRecordLogStoreType: RecordLogStore.self, NSInMemoryStoreType: InMemoryStore.self, NSBinaryStoreType: BinaryStore.self,
    ]

    /// Classes of targets above this one. A program may do without them.
    private static let above: [String: StoreClassAbove] = [
        NSSQLiteStoreType: StoreClassAbove(name: "HeartwoodSQLite.SQLiteStore", type: NSSQLiteStoreType),
        NSPostgreSQLStoreType: StoreClassAbove(name: "HeartwoodPostgreSQL.PostgreSQLStore", type: NSPostgreSQLStoreType),
    ]

    /// Those of this package that the program has.
    private static var builtIn: [String: NSPersistentStore.Type] { inModule.merging(above.compactMapValues(\.found)) { own, _ in own } }

    static var all: [String: NSPersistentStore.Type] {
        let builtIn = builtIn
        return registered.withLock { registered in builtIn.merging(registered) { $1 } }
    }

    /// - Throws: 134000 for a type without a class.
    static func storeClass(for type: String) throws -> NSPersistentStore.Type {
        try registered.withLock { $0[type] } ?? builtInClass(for: type)
    }

    /// This package's class for a type, whatever a program has registered.
    /// - Throws: 134000 for a type without a class.
    private static func builtInClass(for type: String) throws -> NSPersistentStore.Type {
        if let own = inModule[type] { return own }
        guard let above = above[type] else { throw unknownType(type) }
        return try above.storeClass()
    }

    /// This package's class for a type with files.
    /// - Throws: 134000 for a type without a class.
    static func builtInFileClass(for type: String) throws -> any FileStore.Type { try files(of: builtInClass(for: type)) }

    /// The classes of this package that know files, in the order of their types.
    static var builtInFileClasses: [any FileStore.Type] { builtIn.sorted { $0.key < $1.key }.compactMap { $0.value as? any FileStore.Type } }

    private static func files(of storeClass: NSPersistentStore.Type) throws -> any FileStore.Type {
        guard let files = storeClass as? any FileStore.Type else { throw StoreAbility.none(of: storeClass) }
        return files
    }

    /// - Throws: 134000 for a type without a class, or one without files.
    static func fileClass(for type: String) throws -> any FileStore.Type {
        let found = try storeClass(for: type)
        guard type != NSInMemoryStoreType else {
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "An in-memory store has no file. Load it, and use its coordinator's instance methods.")
        }
        return try files(of: found)
    }

    /// The type of a store that is added at `url`: a store of a built-in type at `/dev/null` is in memory.
    static func type(_ type: String, at url: URL?) -> String {
        guard let url, NSPersistentStore.isNowhere(url), inModule[type] != nil || above[type] != nil,
            registered.withLock({ $0[type] }) == nil
        else { return type }
        return NSInMemoryStoreType
    }

    static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
        registered.withLock { $0[type] = storeClass }
    }

    private static func unknownType(_ type: String) -> NSError {
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
