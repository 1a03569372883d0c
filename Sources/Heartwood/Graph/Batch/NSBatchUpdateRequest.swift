import Foundation

/// Sets properties of every object that a predicate matches, directly in the store.
///
/// Nothing is validated, and contexts do not learn of the update: their objects are stale until you refresh them or merge the result's IDs;
/// a save of a stale object meets a conflict. Unique values are checked after all rows are set; a duplicate throws 133021 under every merge
/// policy. The part of each store is one commit: after a throw, that store is unchanged.
/// Source: https://developer.apple.com/documentation/coredata/nsbatchupdaterequest
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ExecutableRequest {
    /// The entity's name.
    open var entityName: String { givenEntity?.name ?? givenName }
    /// The entity. If the request was made with a name only, execution finds the entity.
    /// - Precondition: the request was made with an entity, or was executed.
    open var entity: NSEntityDescription {
        guard let givenEntity else {
            misuse("The batch update names the entity \(givenName), which is found when the request is executed.")
        }
        return givenEntity
    }
    private var givenEntity: NSEntityDescription?
    /// Selects the objects to update; nil updates all.
    open var predicate: NSPredicate?
    /// Whether the request also updates objects of subentities.
    open var includesSubentities = true
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values, by `NSPropertyDescription` or property name. An attribute takes a constant, or an `NSExpression` over the object's
    /// own attributes as they were before the request. A to-one relationship takes an object ID, or `NSNull` for nil, if it has no inverse
    /// or an unordered to-many inverse: then no other row has to be written.
    open var propertiesToUpdate: [AnyHashable: Any]?

    private let givenName: String

    public init(entityName: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        givenName = entityName
        super.init()
    }

    /// The initializer without `fileID`, so that it can be used as a function value and a subclass can override it.
    @_disfavoredOverload
    public init(entityName: String) {
        givenName = entityName
        super.init()
    }

    public init(entity: NSEntityDescription) {
        givenName = entity.name ?? ""
        givenEntity = entity
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let entity = try givenEntity ?? context.entity(named: entityName)
        givenEntity = entity
        var values: [(name: String, value: Any)] = []
        for (key, value) in propertiesToUpdate ?? [:] {
            guard let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String else {
                throw CoreDataError.unsupported("A key of propertiesToUpdate is a property or its name, not \(key).")
            }
            values.append((name, value))
        }
        guard !values.isEmpty else {
            throw CoreDataError.unsupported("The batch update of \(entityName) sets nothing; give it propertiesToUpdate.")
        }
        let fetch = NSFetchRequest<NSManagedObject>(name: nil, objectClass: nil)
        fetch.entity = entity
        fetch.predicate = predicate
        fetch.includesSubentities = includesSubentities
        let outcome = try context.execute(
            on: fetch, of: affectedStores, collectsKeys: resultType == .updatedObjectIDsResultType
        ) { .update(BatchUpdate(target: $0, values: values)) }
        return NSBatchUpdateResult(context.report(outcome, isStatus: resultType == .statusOnlyResultType), resultType)
    }
}
