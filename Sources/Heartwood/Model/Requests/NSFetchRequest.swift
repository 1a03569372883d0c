import Foundation

/// A request to a context or coordinator.
open class NSPersistentStoreRequest: NSObject {
    /// See `affectedStores`.
    @exclusivity(unchecked) var storesToAsk: [any IdentifyingStore]?
    /// The kind of this request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// A plain copy of a fetch, for stores of the program's own classes; nil for other requests.
    var plainCopy: NSFetchRequest<any NSFetchRequestResult>? { nil }
}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
    /// An `NSPersistentHistoryChangeRequest`. Stores of the program's own classes never get one.
    case persistentHistoryRequestType = 8
}

/// The form of a fetch's results.
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

/// A description of objects to find: an entity, a condition, an order and a limit.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchrequest
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
    /// The entity's name: as given or from `entity`. For a class's `fetchRequest()` it is the class's entity in the model that was used last.
    public final var entityName: String? { entity?.name ?? givenName ?? objectClass.flatMap { ModelsInUse.entity(forClass: $0)?.name } }
    /// The entity. If only a name was given, executing the request looks it up.
    @exclusivity(unchecked) public final var entity: NSEntityDescription?
    /// The condition that objects must meet; nil for all objects.
    @exclusivity(unchecked) public final var predicate: NSPredicate?
    /// A search for words that objects must meet too, and that gives their order if it sorts by relevance; nil for none. An addition of
    /// Heartwood.
    ///
    /// Every kind of result, `count(for:)`, batch deletions and unsaved changes follow it. Grouped, distinct and aggregated dictionaries, and the
    /// lists of `NSFetchedResultsController`, have the order of the sort descriptors instead of the order by relevance.
    @exclusivity(unchecked) public final var textSearch: TextSearch?
    /// The order of the results; nil for no particular order.
    @exclusivity(unchecked) public final var sortDescriptors: [NSSortDescriptor]?
    /// The largest number of results; 0 for no limit.
    @exclusivity(unchecked) public final var fetchLimit = 0
    /// The number of results to skip at the start.
    @exclusivity(unchecked) public final var fetchOffset = 0
    @exclusivity(unchecked) public final var resultType: NSFetchRequestResultType = .managedObjectResultType
    /// Whether objects of subentities are included.
    @exclusivity(unchecked) public final var includesSubentities = true
    /// Whether the context's unsaved changes count. For dictionaries they never do.
    @exclusivity(unchecked) public final var includesPendingChanges = true
    /// Whether the objects are faults. Reading one later touches only its row, which the fetch has already found.
    @exclusivity(unchecked) public final var returnsObjectsAsFaults = true
    /// Paths of relationships, such as "group" or "tasks.owner". The fetch also reads their destinations: all members of a relationship by one
    /// scan of its index, and their rows in groups. Using them afterwards reads nothing.
    @exclusivity(unchecked) public final var relationshipKeyPathsForPrefetching: [String]?
    /// The number of objects to prepare at a time; 0 for all at once.
    ///
    /// A fetch always returns all objects, as faults: a Swift array holds its elements, and the fetch knows the rows' addresses anyway. The batch
    /// size defers only prefetching and, if `returnsObjectsAsFaults` is false, reading. Both are done for the first batch at once, and for each
    /// later batch when one of its objects is first read.
    @exclusivity(unchecked) public final var fetchBatchSize = 0
    /// Whether objects that the context has already read get the store's current values, with unsaved changes on top.
    @exclusivity(unchecked) public final var shouldRefreshRefetchedObjects = false
    /// The request of a layer above from which this one was translated, for a store that understands that.
    @exclusivity(unchecked) package final var origin: AnyObject?
    /// false: objects come without the rows that the fetch has found, and each reads its own on first use.
    @exclusivity(unchecked) public final var includesPropertyValues = true
    /// The contents of dictionaries: names and to-one key paths such as "group.name", `NSPropertyDescription`s, `NSExpressionDescription`s. A
    /// to-one relationship gives an object ID. nil or empty: the attributes, or the properties to group by. For objects it is a hint without
    /// effect, since reading one attribute of a row reads no other, but the keys must exist.
    @exclusivity(unchecked) public final var propertiesToFetch: [Any]?
    /// Whether equal dictionaries are returned once. For dictionaries only.
    @exclusivity(unchecked) public final var returnsDistinctResults = false
    /// Groups the results: one dictionary for each combination of these values, named as in `propertiesToFetch`. An expression to group by must
    /// also be fetched. Each fetched property must then be one of these or an aggregate over the group, and sort descriptors must name these or
    /// fetched properties.
    @exclusivity(unchecked) public final var propertiesToGroupBy: [Any]?
    /// The condition that a group must meet. It may use the properties to group by, aggregates such as `count:(name) > 1`, and fetched
    /// expressions as `$name`.
    @exclusivity(unchecked) public final var havingPredicate: NSPredicate?

    @exclusivity(unchecked) private(set) final var givenName: String?
    @exclusivity(unchecked) private(set) final var objectClass: (any EntityObject.Type)?

    /// A request for all objects of an entity.
    public convenience init(entityName: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init()
        givenName = entityName
    }

    /// The form without `fileID`, so that the initializer can be used as a function.
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

    /// Whether the request asks for plain objects, all or the first ones: it has no offset, no order and no other options.
    final var asksForObjectsAlone: Bool {
        resultType.isEmpty && textSearch == nil && fetchOffset <= 0 && sortDescriptors?.isEmpty ?? true && storesToAsk == nil && includesPropertyValues
            && returnsObjectsAsFaults && !shouldRefreshRefetchedObjects && relationshipKeyPathsForPrefetching == nil
            && propertiesToFetch == nil && propertiesToGroupBy == nil && havingPredicate == nil
    }

    /// The entity's name, if the request knows its entity only by name.
    final var plainName: String? { entity == nil && objectClass == nil ? givenName : nil }

    override var plainCopy: NSFetchRequest<any NSFetchRequestResult>? {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        copy.entity = entity
        copyTerms(to: copy)
        return copy
    }

    /// Fetches in the context whose `perform` or `performAndWait` block makes this call.
    /// - Throws: 134070 outside of such a block, and the errors of the context's `fetch(_:)`.
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
