import Foundation

/// Inserts rows into a store without making objects in a context.
///
/// Rows come from dictionaries, or one at a time from a handler, so that they need not all be in memory. A property that a row does not
/// name gets the model's default. Required values are checked, nothing else is validated, and no object's hooks run. Contexts do not learn
/// of the insertion: merge the result's IDs with `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// If another row, of the store or of the request, already has the values of a uniqueness constraint, the context's merge policy decides:
/// `error` throws 133021; `mergeByPropertyObjectTrump` sets the properties that the new row names on the existing row; `overwrite` sets
/// every attribute of the existing row, to its default where the new row does not name it; the policies that prefer the store drop the new
/// row. A row from an object handler names every attribute.
///
/// The request is one commit, unless `rowsPerCommit` divides it: after a throw nothing has changed.
/// Source: https://developer.apple.com/documentation/coredata/nsbatchinsertrequest
open class NSBatchInsertRequest: NSPersistentStoreRequest, ExecutableRequest {
    /// The entity's name.
    open var entityName: String { entity?.name ?? givenName }
    /// The entity. If the request was made with a name only, it is nil until execution finds the entity.
    open var entity: NSEntityDescription? { givenEntity }
    private var givenEntity: NSEntityDescription?
    /// The rows, by attribute names. A to-one relationship takes an object ID, if it has no inverse or an unordered to-many inverse: then
    /// no other row has to be written.
    open var objectsToInsert: [[String: Any]]?
    /// Fills an empty dictionary with the next row and returns false; returns true after the last row.
    ///
    /// Called while the store is locked: the handler may fetch, but a save to the same store throws 134070. The dictionary is reused for
    /// each row.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Sets the attributes of an object of the entity's class, which belongs to no context, and returns false; returns true after the last
    /// row. The rules of `dictionaryHandler` apply. The object is reused for each row.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// The kind of the result. IDs take 16 bytes of memory a row.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly
    /// The number of rows in one commit; 0, the default, makes the whole request one commit, as Core Data does.
    ///
    /// A transaction needs memory until its commit: 8 bytes a row; index entries, up to the limit of each index in the store's options
    /// (`NSRecordLogIndexMemoryOption`); and, unless the merge policy makes a conflict an error, up to 48 bytes for each unique value. A
    /// positive number bounds this memory. If a later row then fails, the earlier commits remain.
    public final var rowsPerCommit = 0

    private let givenName: String

    private convenience init(name: String, entity: NSEntityDescription?) {
        self.init(entityName: name, objects: [], fileID: "")
        givenEntity = entity
        objectsToInsert = nil
    }

    /// Makes a request without an entity, which cannot be executed.
    public convenience override init() { self.init(name: "", entity: nil) }

    public init(entityName: String, objects dictionaries: [[String: Any]], fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        givenName = entityName
        objectsToInsert = dictionaries
        super.init()
    }

    /// The initializer without `fileID`, so that it can be used as a function value and a subclass can override it.
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

    /// The initializer without `fileID`, so that it can be used as a function value.
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

    /// The initializer without `fileID`, so that it can be used as a function value.
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
        let entity = try entity ?? context.entity(named: entityName)
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
