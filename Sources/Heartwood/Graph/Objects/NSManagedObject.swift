import Foundation
import RecordLog

/// One object of the graph. Its entity's properties are read from the store one at a time, on demand.
///
/// A fetched object holds its key and a pointer to its row in the store's mapped file. Reading an attribute decodes only that attribute; the first
/// write allocates storage for changed values beside the row.
///
/// An object belongs to its context's queue and is not `Sendable`; pass its `objectID` instead.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject
open class NSManagedObject: NSObject, NSFetchRequestResult {
    final var entityInContext: EntityInContext
    final var runtime: EntityRuntime {
        @inline(__always) get { entityInContext.runtime }
    }
    /// Unretained: a context outlives its registered objects, or marks them detached in its deinitializer.
    final var contextReference: Unmanaged<NSManagedObjectContext>?
    @exclusivity(unchecked) package final var key: ObjectKey
    /// The newest row that this object has read; nil before the first read, and after a save until the next read.
    @exclusivity(unchecked) final var rowBody: UnsafeRawPointer?
    @exclusivity(unchecked) final var rowByteCount: UInt32 = 0
    /// The version of the row that this object has read or saved; 0 before. If the row has another version, the next save finds a conflict.
    @exclusivity(unchecked) final var rowVersion: UInt32 = 0
    @exclusivity(unchecked) final var state: ObjectState
    /// The context's epoch in which the object was made, or in which it was last found while only the context held it.
    @exclusivity(unchecked) final var epoch: UInt32
    final var storage: ObjectStorage?

    /// Makes an object of `entity` and inserts it into the context, if one is given. `NSManagedObject(entity:insertInto:)` makes an object of the
    /// entity's class.
    ///
    /// It runs for fetched objects too, as on Apple's platforms, so a class with its own designated initializers overrides this one.
    /// - Precondition: the entity is not abstract. If you call it on `NSManagedObject` itself, the entity's class has no stored properties of its
    ///   own.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let context, let made = context.making.faultInMaking.entity {
            entityInContext = made.takeRetainedValue()
            key = context.making.faultInMaking.key
            context.making.faultInMaking.entity = nil
            state = context.making.objectFlags.union(.fault)
            epoch = context.making.epoch
            contextReference = Unmanaged.passUnretained(context)
            super.init()
            return
        }
        demand(
            !entity.isAbstract,
            "The entity \(entity.name ?? "?") is abstract; insert an object of one of its subentities instead.")
        let runtime = context?.runtime(for: entity) ?? EntityRuntime(entity: entity, slot: .max, store: nil, accesses: [])
        entityInContext = context?.entity(of: runtime) ?? EntityInContext(runtime)
        key = .none
        state = .detached
        epoch = 0
        super.init()
        storage = ObjectStorage()
        storage?.values = runtime.initialValues
        if type(of: self) == NSManagedObject.self { takeEntityClass(context?.objectClass(of: entity) ?? runtime.objectClass) }
        context?.insert(self)
    }

    /// Makes an object of this class's entity, inserted into `context`.
    /// - Precondition: exactly one entity of the context's model names this class.
    public convenience init(context: NSManagedObjectContext) {
        self.init(entity: Self.entity(in: context), insertInto: context)
    }

    /// Makes an object of no context, which no save reaches. Make those to be saved with `init(context:)` or `init(entity:insertInto:)`.
    ///
    /// Its entity is that of its class in the model that was used last; if no model in use names the class, it has no properties.
    public convenience override init() {
        let entity = Self.entity()
        self.init(entity: entity.isAbstract ? NSEntityDescription() : entity, insertInto: nil)
    }

    // For a class known only at run time Swift calls required initializers only. Code for Core Data overrides the initializers with `override`,
    // which required ones do not allow. So both have a required twin, which is inherited and calls the original.

    /// Called by `T(entity:insertInto:)` for a class `T` known only at run time. It calls the class's own `init(entity:insertInto:)`.
    public required convenience init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?, _ _: Void = ()) {
        self.init(entity: entity, insertInto: context)
    }

    /// Called by `T(context:)` for a class `T` known only at run time.
    public required convenience init(context: NSManagedObjectContext, _ _: Void = ()) {
        self.init(context: context)
    }

    // MARK: Identity and state

    /// The object's entity.
    public final var entity: NSEntityDescription { runtime.entity }

    /// The context that the object belongs to; nil after its deletion was saved, or its context was reset or released.
    public final var managedObjectContext: NSManagedObjectContext? {
        state.intersection([.detached, .gone]) == .detached ? nil : contextReference?.takeUnretainedValue()
    }

    /// The object's ID: temporary until the first save of the root context, or `obtainPermanentIDs(for:)`, gives it a permanent one.
    public final var objectID: NSManagedObjectID {
        if let known = storage?.objectID, known.key == key || key.isNone && known.isOfNoContext { return known }
        let made = key.isNone
            ? NSManagedObjectID(ofNoContext: entity)
            : NSManagedObjectID(entity: entity, key: key, store: runtime.store, contextToken: managedObjectContext?.tree.token ?? 0)
        storage?.objectID = made
        return made
    }

    /// The key in its ID, which is made only if needed.
    package final func key(in store: any IdentifyingStore) -> ObjectKey? {
        guard !key.isTemporary else { return nil }
        return runtime.store === store ? key : objectID.key(in: store)
    }

    /// Keeps the ID for the time after the object leaves its context.
    final func keepID() {
        _ = ownStorage()
        _ = objectID
    }

    /// The ID of an object that was saved, from state that does not change any more: another queue may call this while the object's own queue
    /// changes its state.
    final var savedObjectID: NSManagedObjectID {
        func made(_ token: UInt64) -> NSManagedObjectID {
            NSManagedObjectID(entity: runtime.entity, key: key, store: runtime.store, contextToken: token)
        }
        guard key.isTemporary else { return made(0) }
        guard state.contains(.detached) else { return made(contextReference?._withUnsafeGuaranteedRef { $0.tree.token } ?? 0) }
        // A save stores the ID of each object that it deletes, whose context may be released.
        if let known = storage?.objectID, known.key == key { return known }
        return made(0)
    }

    /// Whether the object was inserted since the last save.
    public final var isInserted: Bool { state.contains(.inserted) }
    /// Whether the object was changed since the last save, and neither inserted nor deleted.
    public final var isUpdated: Bool { state.contains(.updated) && !state.contains(.inserted) && !state.contains(.deleted) }
    /// Whether the next save removes the object from the store. After that save it is false again, and the object has no context.
    public final var isDeleted: Bool { state.contains(.deleted) }
    /// Whether the object's values have not been read yet.
    public final var isFault: Bool { state.contains(.fault) }
    /// 0 for an object whose values have been read.
    public final var faultingState: Int { isFault ? 1 : 0 }
    /// Whether the object was inserted, changed or deleted since the last save.
    public final var hasChanges: Bool { !state.isDisjoint(with: .changed) }

    /// Whether a save would change the object's row; setting a value to its old value does not count.
    open var hasPersistentChangedValues: Bool {
        changedIndices().contains { !runtime.properties[$0].isTransient }
    }

    /// The properties whose values differ from the last saved ones, with their current values. Transient properties are left out. For an object
    /// that was saved before, so are values that primitive setters set outside `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    open func changedValues() -> [String: Any] { valuesThatDiffer() }

    /// The values last fetched or saved, of the named properties (nil: of all). Null is `NSNull`. Transient properties are left out.
    ///
    /// An object that was never saved has none.
    open func committedValues(forKeys names: [String]?) -> [String: Any] { savedValues(forKeys: names) }

    /// The properties that changed in this event, with the values that they had before it. Null is `NSNull`. A composite attribute gives its
    /// changed elements that had values.
    ///
    /// An event ends when the context's changes are processed or saved. Transient properties are left out.
    open func changedValuesForCurrentEvent() -> [String: Any] { valuesBeforeEvent() }

    /// Whether the context could release the object without losing a change.
    final var isDisposable: Bool { state.isDisjoint(with: [.inserted, .updated, .deleted]) }

    // MARK: Life cycle

    /// Called once, after the object was inserted into a context. The default does nothing.
    open func awakeFromInsert() {}

    /// Called each time after the object's fault fired. Values set here do not count as changes. The default does nothing.
    open func awakeFromFetch() {}

    /// Called when the object's values were set back as a whole without a fault: by an undo or redo, by `rollback()`, by a refresh that keeps
    /// unsaved changes or transient values, or by a merge policy. Values set here do not count as changes. The default does nothing.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before the object becomes a fault, with its values still in place. The default does nothing.
    open func willTurnIntoFault() {}

    /// Called after the object became a fault. Drop values here that you computed from its properties.
    open func didTurnIntoFault() {}

    /// Called when the object is about to be marked as deleted, with its relationships still in place.
    open func prepareForDeletion() {}

    /// Called on each inserted, changed or deleted object before a save examines it. Changes made here are saved too, and cause another call; the
    /// save throws if that does not end. Primitive setters cause no other call.
    open func willSave() {}

    /// Called on each inserted, changed or deleted object after a save has succeeded.
    open func didSave() {}

    // MARK: Key-value coding

    /// The value of a property: numbers as `NSNumber`, a to-one relationship as the object, a to-many relationship as `NSSet` (ordered:
    /// `NSOrderedSet`). Fires the object's fault. O(1); O(members) for to-many relationships. A key that the entity lacks may be one that every
    /// managed object has ("objectID", "entity", "isDeleted"); otherwise `value(forUndefinedKey:)` is called. The first letter may be a capital, as
    /// in an accessor's name.
    ///
    /// Predicates, sort descriptors and key paths that are evaluated on objects call it; stores and generated accessors do not.
    open func value(forKey key: String) -> Any? {
        if let index = runtime.indexToRead(key) { return value(at: index) }
        return OwnKey(rawValue: key).map(value) ?? value(forUndefinedKey: key)
    }

    /// Sets a property, and the other side of a relationship.
    /// - Precondition: the value's type is the property's; nil clears it. For a key that the entity lacks it calls `setValue(_:forUndefinedKey:)`.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let index = runtime.indexToSet(key) else { return setValue(value, forUndefinedKey: key) }
        if value == nil, runtime.properties[index].kind.isScalar { return setNilValueForKey(runtime.properties[index].name) }
        setModelledValue(value, at: index)
    }

    /// Called by `setValue(_:forKey:)` to set a number or a boolean to nil, since a class may give the property a type without nil. The default
    /// sets null; an override sets the value that stands for nil.
    /// Source: https://developer.apple.com/documentation/objectivec/nsobject-swift.class/setnilvalueforkey(_:)
    open func setNilValueForKey(_ key: String) { setModelledValue(nil, at: propertyIndex(key)) }

    /// Called by `value(forKey:)` for an unknown key. The default ends the process, as an exception does on Apple's platforms.
    open func value(forUndefinedKey key: String) -> Any? {
        if let index = spareIndex(key) { return value(at: index) }
        refuse(key)
    }

    /// Called by `setValue(_:forKey:)` for an unknown key. The default ends the process.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { refuse(key) }

    /// The values of several properties, each as `value(forKey:)` returns it. Null is `NSNull`.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }

    /// Sets several properties with `setValue(_:forKey:)`, in no particular order. `NSNull` sets nil.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The value of a property, through `value(forKey:)` and `setValue(_:forKey:)`.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Fires the object's fault. For accessors written by hand, as on Apple's platforms; generated accessors do not call it.
    open func willAccessValue(forKey key: String?) { fireFault() }

    /// The counterpart of `willAccessValue(forKey:)`.
    open func didAccessValue(forKey key: String?) {}

    /// Marks the object as changed. Call it before you set a primitive value by hand; generated accessors do not call it.
    open func willChangeValue(forKey key: String) {
        noteChange(ofKey: key)
        openPrimitiveSet(key)
    }

    /// The counterpart of `willChangeValue(forKey:)`. For a to-many relationship it applies, on both sides, the changes that were made meanwhile to
    /// the set that `primitiveValue(forKey:)` returned.
    open func didChangeValue(forKey key: String) {
        closePrimitiveSet(key)
        noteValue(ofKey: key)
    }

    /// Like `willChangeValue(forKey:)`, for a to-many relationship.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
    ) {
        noteChange(ofKey: inKey)
        openPrimitiveSet(inKey)
    }

    /// Like `didChangeValue(forKey:)`. It also applies the change that the arguments describe, if the primitive set was not changed by hand.
    /// - Precondition: the entity has a to-many relationship of this name, and the objects fit it.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
    ) { changeSet(inKey, inMutationKind, inObjects) }

    /// Like `willChangeValue(forKey:)`, for an ordered relationship.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        noteChange(ofKey: key)
        openPrimitiveSet(key)
    }

    /// Like `didChangeValue(forKey:)`: the change is read from the primitive set, not from the arguments.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { closePrimitiveSet(key) }

    // MARK: Class

    /// Whether `willChangeValue(forKey:)` leaves the object unchanged for a key that the entity lacks. The default is true. If an override returns
    /// false, such a call makes the next save write the object.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject/contextshouldignoreunmodeledpropertychanges
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// The entity that names this class, among the models that coordinators of this process use.
    ///
    /// If several models name the class, the model used last wins.
    /// - Precondition: a model that names the class is in use.
    open class func entity() -> NSEntityDescription { entityInUse() }

    /// A request for every object of this class's entity. Swift prefers a generated function of the same name, so that `let request =
    /// Person.fetchRequest()` is a request for persons.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        ManagedObjectClasses.note(self)
        return NSFetchRequest(objectClass: self)
    }

    // MARK: Validation

    /// Checks a value for a property against the model. An override adds its own checks before or after it calls `super`.
    ///
    /// Saves call it for each property of objects whose class is not `NSManagedObject` itself, and store a value that an override sets in its
    /// place. Call `validateName(_:)` and its like here: Core Data finds them by their names, which needs the Objective-C runtime.
    /// - Throws: 1550 to 1690 with the object, the key and the value in `userInfo`; 1560 for several failures.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateByModel(value, forKey: key)
    }

    /// Checks the object before its first save. An override calls `super` for the model's checks.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks the object before its changes are saved. An override calls `super` for the model's checks.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks the object before it is deleted from its store. An override calls `super` for the deny rules.
    open func validateForDelete() throws { try validateDeleteRules() }

    open override var description: String {
        let name = entity.name ?? "?"
        return "<\(name): \(objectID.uriRepresentation().absoluteString)\(isFault ? ", fault" : "")>"
    }
}
