import Foundation

/// Inserts rows into a store without making objects of them in a context.
///
/// Rows come from dictionaries, or one at a time from a handler, so that they need never be in memory together. What a row does not
/// name has the model's default. Nothing is validated, no object's hooks run, and contexts learn nothing of it: merge the result's
/// IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// Where a uniqueness constraint's values are taken, by the store or by an earlier row, the merge policy of the context decides:
/// `error` throws 133021; `mergeByPropertyObjectTrump` sets what the new row names on the row that has them; `overwrite` sets
/// every attribute of it, to its default where the new row names none; the store's policies leave out the new row. A handler that
/// is given an object names every attribute.
///
/// Everything is one commit, unless `rowsPerCommit` says otherwise: after a throw nothing has changed.
/// Source: https://developer.apple.com/documentation/coredata/nsbatchinsertrequest
open class NSBatchInsertRequest: NSPersistentStoreRequest, ExecutableRequest {
    /// The entity's name.
    open var entityName: String { entity?.name ?? givenName }
    /// The entity; found by name when the request is executed, where only a name was given.
    open var entity: NSEntityDescription? { givenEntity }
    private var givenEntity: NSEntityDescription?
    /// The rows, by the names of attributes. To-one relationships are given as object IDs, where no other side has to be written:
    /// it has none, or is to-many without an order.
    open var objectsToInsert: [[String: Any]]?
    /// Fills an empty dictionary with the next row; returns true in place of that once there is no more.
    ///
    /// Called while the store is locked: it may fetch; a save to the same store is refused (134070). The dictionary is used again.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Sets the attributes of an object of the entity's class, which belongs to no context; returns true in place of that once
    /// there is no more. As `dictionaryHandler` otherwise. The object is used again.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result tells. The IDs take 16 bytes of memory a row.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly
    /// 0: everything is one commit, as Core Data has it. A transaction needs memory until it is committed: 8 bytes a row, as
    /// much of each index's entries as the store's options say (`NSRecordLogIndexMemoryOption`), and, where the merge policy does not make an
    /// error of a conflict, up to 48 bytes for each value that must be unique. Otherwise so many rows are a commit of their own: that bounds
    /// memory, and where a later row fails those of the commits before stay.
    public final var rowsPerCommit = 0

    private let givenName: String

    private convenience init(name: String, entity: NSEntityDescription?) {
        self.init(entityName: name, objects: [], fileID: "")
        givenEntity = entity
        objectsToInsert = nil
    }

    /// A request of no entity, which cannot be executed.
    public convenience override init() { self.init(name: "", entity: nil) }

    public init(entityName: String, objects dictionaries: [[String: Any]], fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        givenName = entityName
        objectsToInsert = dictionaries
        super.init()
    }

    /// The initializer as a function, and the one that a subclass overrides.
    @_disfavoredOverload
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        givenName = entityName
        objectsToInsert = dictionaries
        super.init()
    }

    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        givenName = entity.name ?? ""
        givenEntity = entity
        objectsToInsert = dictionaries
        super.init()
    }

    public convenience init(
        entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool, fileID: StaticString = #fileID
    ) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(name: entityName, entity: nil)
        dictionaryHandler = handler
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(name: entityName, entity: nil)
        dictionaryHandler = handler
    }

    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(name: entity.name ?? "", entity: entity)
        dictionaryHandler = handler
    }

    public convenience init(
        entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool, fileID: StaticString = #fileID
    ) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(name: entityName, entity: nil)
        managedObjectHandler = handler
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(name: entityName, entity: nil)
        managedObjectHandler = handler
    }

    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(name: entity.name ?? "", entity: entity)
        managedObjectHandler = handler
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    final func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let entity = try entity.map { context.coordinator?.ownEntity(for: $0) ?? $0 } ?? context.entity(named: entityName)
        givenEntity = entity
        guard !entity.isAbstract else {
            throw CoreDataError.unsupported("The entity \(entityName) is abstract; insert into one of its subentities.")
        }
        guard let runtime = context.runtime(forInserting: entity, into: affectedStores), let store = runtime.store else {
            throw CoreDataError.noStore(for: entity)
        }
        let rows = BatchRows(self, runtime)
        let insertion = BatchInsertion(
            runtime: runtime, rows: rows, policy: context.policy.mergeType, rowsPerCommit: max(0, rowsPerCommit))
        let outcome = try context.execute(.insert(insertion), on: store, collectsKeys: resultType == .objectIDs)
        return NSBatchInsertResult(context.report(outcome, isStatus: resultType == .statusOnly), resultType)
    }
}
