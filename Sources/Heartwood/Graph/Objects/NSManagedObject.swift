import Foundation
import RecordLog

/// One object of the graph: an entity's properties, read from the store when asked for, one at a time.
///
/// A fetched object holds its key and a pointer to its row in the store's mapped file. Reading an attribute decodes
/// that attribute alone; the first write makes room for changed values beside the row.
///
/// An object belongs to its context's queue and is not `Sendable`; pass its `objectID` instead.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject
open class NSManagedObject: NSObject, NSFetchRequestResult {
    final var runtime: EntityRuntime
    /// Unretained: a context outlives its registered objects, or marks them detached as it goes.
    final var contextReference: Unmanaged<NSManagedObjectContext>?
    @exclusivity(unchecked) final var key: ObjectKey
    /// The newest row this object has read; nil before the first read, and after a save until the next read.
    @exclusivity(unchecked) final var rowBody: UnsafeRawPointer?
    @exclusivity(unchecked) final var rowByteCount: UInt32 = 0
    /// Of the row that this object has read or saved; 0 before. The next save finds a conflict where the row has another.
    @exclusivity(unchecked) final var rowVersion: UInt32 = 0
    @exclusivity(unchecked) final var state: ObjectState
    final var storage: ObjectStorage?

    /// Makes an object of `entity` and, where a context is given, inserts it there. `NSManagedObject(entity:insertInto:)` makes one of the entity's
    /// class.
    ///
    /// It runs for fetched objects too, as on Apple's platforms, so a class with designated initializers of its own overrides this one.
    /// - Precondition: the entity is not abstract. Where `NSManagedObject` itself is named, the entity's class has no stored properties of its own.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let context, let runtime = context.faultInMaking.runtime {
            self.runtime = runtime.takeRetainedValue()
            key = context.faultInMaking.key
            context.faultInMaking.runtime = nil
            state = context.objectFlags.union(.fault)
            contextReference = Unmanaged.passUnretained(context)
            super.init()
            return
        }
        precondition(
            !entity.isAbstract,
            "The entity \(entity.name ?? "?") is abstract; insert an object of one of its subentities instead.")
        runtime = context?.runtime(for: entity) ?? EntityRuntime(entity: entity, slot: .max, store: nil, accesses: [])
        key = .none
        state = .detached
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

    /// Ends the program, as it does on Apple's platforms: an object is made of an entity.
    public convenience override init() {
        preconditionFailure(
            "Failed to call designated initializer on NSManagedObject class '\(Self.self)': make it with init(context:) or "
                + "init(entity:insertInto:).")
    }

    // Swift makes objects of a class that is known only at run time through required initializers alone, and those cannot be overridden
    // with `override`, as code for Core Data does. So both have a twin which is required, and inherited with what it calls.

    /// What `T(entity:insertInto:)` calls of a class `T` that is known only at run time: the class's own `init(entity:insertInto:)`.
    public required convenience init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?, _ _: Void = ()) {
        self.init(entity: entity, insertInto: context)
    }

    /// What `T(context:)` calls of a class `T` that is known only at run time.
    public required convenience init(context: NSManagedObjectContext, _ _: Void = ()) {
        self.init(context: context)
    }

    // MARK: Identity and state

    /// The object's entity.
    public final var entity: NSEntityDescription { runtime.entity }

    /// The context that the object belongs to; nil once it has been deleted and saved, or its context reset or gone.
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

    /// As its ID has it, which is made where it is needed alone.
    final func key(in store: any IdentifyingStore) -> ObjectKey? {
        guard !key.isTemporary else { return nil }
        return runtime.store === store ? key : objectID.key(in: store)
    }

    /// Makes sure that the ID stays when the object leaves its context.
    final func keepID() {
        _ = ownStorage()
        _ = objectID
    }

    /// The ID of an object that was saved, made of what does not change any more: another queue may ask for it, while the object's own changes
    /// its state.
    final var savedObjectID: NSManagedObjectID {
        func made(_ token: UInt64) -> NSManagedObjectID {
            NSManagedObjectID(entity: runtime.entity, key: key, store: runtime.store, contextToken: token)
        }
        guard key.isTemporary else { return made(0) }
        guard state.contains(.detached) else { return made(contextReference?._withUnsafeGuaranteedRef { $0.tree.token } ?? 0) }
        // A save keeps the ID of what it deletes, whose context may be gone.
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

    /// Whether saving would change what the store holds for this object; setting a value to what it was does not count.
    open var hasPersistentChangedValues: Bool {
        changedIndices().contains { !runtime.properties[$0].isTransient }
    }

    /// The properties whose values differ from the last saved ones, with their current values; transient ones are left out, and of an
    /// object that was saved before values that primitive setters have set outside of `willChangeValue(forKey:)` and `didChangeValue(forKey:)`.
    open func changedValues() -> [String: Any] { valuesThatDiffer() }

    /// The values as last fetched or saved, of the properties named (nil: all of them). Null is `NSNull`. Transient properties have none.
    ///
    /// An object that was never saved has none.
    open func committedValues(forKeys names: [String]?) -> [String: Any] { savedValues(forKeys: names) }

    /// The properties that were changed in this event, with the values that they had before it. Null is `NSNull`.
    /// Of a composite attribute these are the elements that were changed, as far as they had values.
    ///
    /// An event ends where the context's changes are processed or saved. Transient properties are left out.
    open func changedValuesForCurrentEvent() -> [String: Any] { valuesBeforeEvent() }

    /// Whether nothing would be lost if the context let go of the object.
    final var isDisposable: Bool { state.isDisjoint(with: [.inserted, .updated, .deleted]) }

    // MARK: Life cycle

    /// Called once, when the object has been inserted into a context. The default does nothing.
    open func awakeFromInsert() {}

    /// Called each time the object's fault has fired. What it sets is no change to be saved. The default does nothing.
    open func awakeFromFetch() {}

    /// Called when the object's values were set back as a whole, without a fault: by an undo or redo, by `rollback()`, by a refresh
    /// that keeps unsaved changes or transient values, or by a merge policy. What it sets is no change to be saved. The default does nothing.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before the object becomes a fault, with its values still in place. The default does nothing.
    open func willTurnIntoFault() {}

    /// Called when the object has become a fault: the place to drop what was computed from its values.
    open func didTurnIntoFault() {}

    /// Called when the object is about to be marked as deleted, with its relationships still in place.
    open func prepareForDeletion() {}

    /// Called on each inserted, changed or deleted object before a save looks at it. Changes made here are saved, and make that
    /// this is called again; the save throws where that does not end. Primitive values may be set without that.
    open func willSave() {}

    /// Called on each inserted, changed or deleted object after a save has succeeded.
    open func didSave() {}

    // MARK: Key-value coding

    /// The value of a property: numbers as `NSNumber`, a to-one relationship as the object, a to-many as `NSSet`
    /// (ordered: `NSOrderedSet`). Fires the object's fault; O(1) but for to-many relationships, O(members). Keys that the entity does not
    /// have name what every managed object has ("objectID", "entity", "isDeleted"), else go to `value(forUndefinedKey:)`. The first letter
    /// may be a capital, as in an accessor's name.
    ///
    /// Predicates, sort descriptors and key paths that are evaluated on objects come here; stores, and generated accessors, do not.
    open func value(forKey key: String) -> Any? {
        if let index = runtime.indexToRead(key) { return value(at: index) }
        return OwnKey(rawValue: key).map(value) ?? value(forUndefinedKey: key)
    }

    /// Sets a property, and the other side of a relationship with it.
    /// - Precondition: the value's type is the property's; nil clears it. Of a key that the entity does not have
    ///   `setValue(_:forUndefinedKey:)` is asked.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let index = runtime.indexToSet(key) else { return setValue(value, forUndefinedKey: key) }
        if value == nil, runtime.properties[index].kind.isScalar { return setNilValueForKey(runtime.properties[index].name) }
        setModelledValue(value, at: index)
    }

    /// Called by `setValue(_:forKey:)` for nil as the value of a number or a boolean, which a class may have as a type without nil. The
    /// default sets null, as the entity has it; an override sets what nil stands for.
    /// Source: https://developer.apple.com/documentation/objectivec/nsobject-swift.class/setnilvalueforkey(_:)
    open func setNilValueForKey(_ key: String) { setModelledValue(nil, at: propertyIndex(key)) }

    /// Called by `value(forKey:)` for a key that is not there. The default ends the process, as an exception does on Apple's platforms.
    open func value(forUndefinedKey key: String) -> Any? { refuse(key) }

    /// Called by `setValue(_:forKey:)` for a key that the entity does not have. The default ends the process.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { refuse(key) }

    /// The values of several properties, each as `value(forKey:)` gives it. Null is `NSNull`.
    open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
    }

    /// Sets several properties, each as `setValue(_:forKey:)` does, in no order. `NSNull` sets nil.
    open func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The value of a property, as `value(forKey:)` and `setValue(_:forKey:)` have it.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Fires the fault, if the object is one. Part of an accessor written by hand, as on Apple's platforms; the accessors of this library
    /// do not call it.
    open func willAccessValue(forKey key: String?) { fireFault() }

    /// The counterpart of `willAccessValue(forKey:)`.
    open func didAccessValue(forKey key: String?) {}

    /// Marks the object as changed, before a primitive value is set by hand. The accessors of this library do not call it.
    open func willChangeValue(forKey key: String) {
        noteChange(ofKey: key)
        openPrimitiveSet(key)
    }

    /// The counterpart of `willChangeValue(forKey:)`. Of a to-many relationship it makes the change that was made to the set which
    /// `primitiveValue(forKey:)` gave meanwhile, on both sides.
    open func didChangeValue(forKey key: String) {
        closePrimitiveSet(key)
        noteValue(ofKey: key)
    }

    /// As `willChangeValue(forKey:)`, of a to-many relationship.
    open func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
    ) {
        noteChange(ofKey: inKey)
        openPrimitiveSet(inKey)
    }

    /// As `didChangeValue(forKey:)`, and makes the change that the arguments tell of where the primitive set was not changed by hand.
    /// - Precondition: the entity has a to-many relationship of this name, and the objects fit it.
    open func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
    ) { changeSet(inKey, inMutationKind, inObjects) }

    /// As `willChangeValue(forKey:)`, of an ordered relationship.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        noteChange(ofKey: key)
        openPrimitiveSet(key)
    }

    /// As `didChangeValue(forKey:)`: what was done to the primitive set says what has changed.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { closePrimitiveSet(key) }

    // MARK: Class

    /// Whether `willChangeValue(forKey:)` of a key that the entity does not have leaves the object unchanged. The default is true; with false in an
    /// override, such a call makes the object one that the next save writes.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject/contextshouldignoreunmodeledpropertychanges
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// The entity that names this class, in the models that coordinators of this process use.
    ///
    /// Where several models name the class, the model used last wins.
    /// - Precondition: a model that names the class is in use.
    open class func entity() -> NSEntityDescription { entityInUse() }

    /// A request for every object of this class's entity. A class's own function of this name, as it is generated, goes before it, so that
    /// `let request = Person.fetchRequest()` is one for persons.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        ManagedObjectClasses.note(self)
        return NSFetchRequest(objectClass: self)
    }

    // MARK: Validation

    /// Checks a value for a property: what the model says of it, and what an override adds before or after calling `super`.
    ///
    /// Saves call it for each property of objects whose class is not `NSManagedObject` itself, and set what an override puts in
    /// the value's place. This is where `validateName(_:)` and its like, which Core Data finds by their names, are to be called:
    /// there is no look-up by name without the Objective-C runtime.
    /// - Throws: 1550 to 1690 with the object, the key and the value in `userInfo`; 1560 for several failures.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateByModel(value, forKey: key)
    }

    /// Checks the object before it is saved for the first time. An override calls `super` for what the model says.
    open func validateForInsert() throws { try validateProperties() }

    /// Checks the object before its changes are saved. An override calls `super` for what the model says.
    open func validateForUpdate() throws { try validateProperties() }

    /// Checks the object before it is deleted from its store. An override calls `super` for delete rules that deny.
    open func validateForDelete() throws { try validateDeleteRules() }

    open override var description: String {
        let name = entity.name ?? "?"
        return "<\(name): \(objectID.uriRepresentation().absoluteString)\(isFault ? ", fault" : "")>"
    }
}
