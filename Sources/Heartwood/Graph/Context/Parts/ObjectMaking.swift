/// How a context makes its objects.
struct ObjectMaking {
    /// The key and the entity for the fault that an initializer is about to make. The initializer consumes the entity; nil if no fault is
    /// being made.
    var faultInMaking: (key: ObjectKey, entity: Unmanaged<EntityInContext>?) = (.none, nil)
    /// Initial flags of every object of this context.
    var objectFlags: ObjectState = ConcurrencyDebug.isOn ? .watched : []
    /// The epoch of every object that is made now: see `NSManagedObjectContext+Renewing.swift`.
    var epoch: UInt32 = 1
    /// Whether an object was inserted whose class is not its entity's class.
    var hasOtherClasses = false
    /// Whether objects are plain `NSManagedObject`s, regardless of their entity's class.
    var usesPlainObjects = false
    /// Whether saves skip validation.
    var skipsValidation = false
    /// The first key without a property that a predicate or expression has read from a plain object.
    var unknownKey: String?
}
