import Foundation

/// What a context or coordinator is asked to do.
open class NSPersistentStoreRequest: NSObject {
    /// The stores to ask; nil for all of them.
    open var affectedStores: [NSPersistentStore]?
}

/// What a fetch gives for each match.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let managedObjectResultType = NSFetchRequestResultType([])
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1 << 0)
    public static let countResultType = NSFetchRequestResultType(rawValue: 1 << 2)
}

/// Describes objects to find: an entity, a condition, an order, and how many.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchrequest
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The entity by name, as given or as `entity` says.
    public final var entityName: String? { entity?.name ?? givenName }
    /// The entity; found by name when the request is executed, where only a name was given.
    public final var entity: NSEntityDescription?
    /// Which objects to find; nil for all.
    public final var predicate: NSPredicate?
    /// The order; nil for none in particular.
    public final var sortDescriptors: [NSSortDescriptor]?
    /// At most so many; 0 for no limit.
    public final var fetchLimit = 0
    /// Leave out so many from the start.
    public final var fetchOffset = 0
    public final var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of entities below this one count.
    public final var includesSubentities = true
    /// Whether the context's unsaved changes count.
    public final var includesPendingChanges = true
    /// Whether the objects come unread. Reading one later touches its row alone, which the fetch has found already.
    public final var returnsObjectsAsFaults = true

    private let givenName: String?
    let objectClass: NSManagedObject.Type?

    /// A request for all objects of an entity.
    public convenience init(entityName: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(name: entityName, objectClass: nil)
    }

    public convenience override init() {
        self.init(name: nil, objectClass: nil)
    }

    convenience init(objectClass: NSManagedObject.Type) {
        self.init(name: nil, objectClass: objectClass)
    }

    init(name: String?, objectClass: NSManagedObject.Type?) {
        givenName = name
        self.objectClass = objectClass
        super.init()
    }
}
