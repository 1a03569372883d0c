import Foundation

/// Sets properties of every object that a predicate matches, in the store alone.
///
/// Nothing is validated, and contexts learn nothing of it: objects that they have read are stale until they are refreshed, or merged
/// by the result's IDs; a save of a stale one meets a conflict. Values that must be unique are checked once everything is set, and a
/// breach throws 133021 whatever the merge policy says. Each store's part is one commit: after a throw nothing of it has changed.
/// Source: https://developer.apple.com/documentation/coredata/nsbatchupdaterequest
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ExecutableRequest {
    /// The entity's name.
    open var entityName: String { givenEntity?.name ?? givenName }
    /// The entity; found by name when the request is executed, where only a name was given.
    /// - Precondition: it was given, or found.
    open var entity: NSEntityDescription {
        guard let givenEntity else {
            preconditionFailure("The batch update names the entity \(givenName), which is found when the request is executed.")
        }
        return givenEntity
    }
    private var givenEntity: NSEntityDescription?
    /// Which objects to update; nil for all.
    open var predicate: NSPredicate?
    /// Whether objects of entities below this one are updated too.
    open var includesSubentities = true
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values by property: an `NSPropertyDescription` or its name. An attribute takes a constant, or an `NSExpression` over
    /// the object's own attributes as they were before the request. A to-one relationship takes an object ID, or nil as
    /// `NSNull`, where no other side has to be written: it has none, or is to-many without an order.
    open var propertiesToUpdate: [AnyHashable: Any]?

    private let givenName: String

    public init(entityName: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        givenName = entityName
        super.init()
    }

    /// The initializer as a function, and the one that a subclass overrides.
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
