import Foundation

/// What a context or coordinator is asked to do.
open class NSPersistentStoreRequest: NSObject {
    /// See `affectedStores`.
    @exclusivity(unchecked) var storesToAsk: [any IdentifyingStore]?
    /// What kind of request this is.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// The same fetch as stores of somebody's own get it; nil for other requests.
    var plainCopy: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
    /// An `NSPersistentHistoryChangeRequest`; no store of somebody's own is asked it.
    case persistentHistoryRequestType = 8
}

/// What a fetch gives for each match.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    public static let managedObjectResultType = NSFetchRequestResultType([])
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1 << 0)
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 1 << 1)
    public static let countResultType = NSFetchRequestResultType(rawValue: 1 << 2)
}

/// Describes objects to find: an entity, a condition, an order, and how many.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchrequest
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The entity by name, as given or as `entity` says; of a class's `fetchRequest()` that of the class, in the model used last.
    public final var entityName: String? { entity?.name ?? givenName ?? objectClass.flatMap { ModelsInUse.entity(forClass: $0)?.name } }
    /// The entity; found by name when the request is executed, where only a name was given.
    @exclusivity(unchecked) public final var entity: NSEntityDescription?
    /// Which objects to find; nil for all.
    @exclusivity(unchecked) public final var predicate: NSPredicate?
    /// The order; nil for none in particular.
    @exclusivity(unchecked) public final var sortDescriptors: [NSSortDescriptor]?
    /// At most so many; 0 for no limit.
    @exclusivity(unchecked) public final var fetchLimit = 0
    /// Leave out so many from the start.
    @exclusivity(unchecked) public final var fetchOffset = 0
    @exclusivity(unchecked) public final var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of entities below this one count.
    @exclusivity(unchecked) public final var includesSubentities = true
    /// Whether the context's unsaved changes count; for dictionaries they never do.
    @exclusivity(unchecked) public final var includesPendingChanges = true
    /// Whether the objects come unread. Reading one later touches its row alone, which the fetch has found already.
    @exclusivity(unchecked) public final var returnsObjectsAsFaults = true
    /// Paths of relationships, such as "group" or "tasks.owner", whose destinations are read with the objects: all of a relationship's
    /// members by walking its index once, all of their rows in groups. Using them afterwards reads nothing.
    @exclusivity(unchecked) public final var relationshipKeyPathsForPrefetching: [String]?
    /// How many objects are made ready at a time; 0 for all at once.
    ///
    /// A Swift array holds its elements, and a fetch knows where their rows lie once it has found them: so all objects are there, as
    /// faults, whatever this is. What it puts off is the work on top: prefetching, and reading where `returnsObjectsAsFaults` is
    /// false, is done for the first so many, and for each next so many when one of them is read first.
    @exclusivity(unchecked) public final var fetchBatchSize = 0
    /// Whether objects that the context has read before show what the store has now, with unsaved changes on top.
    @exclusivity(unchecked) public final var shouldRefreshRefetchedObjects = false
    /// false: objects come without the rows that the fetch has found; each reads its own when it is used.
    @exclusivity(unchecked) public final var includesPropertyValues = true
    /// What dictionaries hold: names and to-one key paths such as "group.name", `NSPropertyDescription`s, `NSExpressionDescription`s. A
    /// to-one relationship gives an object ID. nil or empty: the attributes, or what is grouped by. For objects it is a hint that this
    /// stack has no use for, since reading one attribute of a row reads no other; the keys must be there.
    @exclusivity(unchecked) public final var propertiesToFetch: [Any]?
    /// Whether each dictionary comes once. For dictionaries only.
    @exclusivity(unchecked) public final var returnsDistinctResults = false
    /// One dictionary for each combination of these values, as `propertiesToFetch` names them; an expression may be named that is among
    /// those. What is fetched is then one of these, or an aggregate over the group. Sort descriptors name what is grouped by or fetched.
    @exclusivity(unchecked) public final var propertiesToGroupBy: [Any]?
    /// Which groups to give: asks for what is grouped by, for aggregates such as `count:(name) > 1`, and by `$name` for an
    /// expression that is fetched.
    @exclusivity(unchecked) public final var havingPredicate: NSPredicate?

    @exclusivity(unchecked) private(set) final var givenName: String?
    @exclusivity(unchecked) private(set) final var objectClass: (any EntityObject.Type)?

    /// A request for all objects of an entity.
    public convenience init(entityName: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init()
        givenName = entityName
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init(entityName: String) {
        self.init()
        givenName = entityName
    }

    public override init() {
        super.init()
    }

    convenience init(objectClass: (any EntityObject.Type)) {
        self.init(name: nil, objectClass: objectClass)
    }

    convenience init(name: String?, objectClass: (any EntityObject.Type)?) {
        self.init()
        givenName = name
        self.objectClass = objectClass
    }

    /// Whether it asks for objects as they are found, all of them or the first: no window behind that, no order, nothing made of them.
    final var asksForObjectsAlone: Bool {
        resultType.isEmpty && fetchOffset <= 0 && sortDescriptors?.isEmpty ?? true && storesToAsk == nil && includesPropertyValues
            && returnsObjectsAsFaults && !shouldRefreshRefetchedObjects && relationshipKeyPathsForPrefetching == nil
            && propertiesToFetch == nil && propertiesToGroupBy == nil && havingPredicate == nil
    }

    /// The entity's name, where the request says no more of the entity.
    final var plainName: String? { entity == nil && objectClass == nil ? givenName : nil }

    override var plainCopy: NSFetchRequest<any NSFetchRequestResult>? {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        copy.entity = entity
        copyTerms(to: copy)
        return copy
    }

    /// Fetches in the context in whose `perform` or `performAndWait` the caller runs.
    /// - Throws: 134070 outside of those, and what the context's `fetch(_:)` throws.
    /// Source: https://developer.apple.com/documentation/coredata/nsfetchrequest/execute()
    open func execute() throws -> [ResultType] {
        guard let executor = CurrentContext.executor else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "execute() asks the context in whose perform or performAndWait it is called; call a context's fetch(_:) elsewhere.")
        }
        return try executor.fetch(self)
    }
}
