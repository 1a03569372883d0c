import Foundation

/// The state of a managed object beyond its row. It exists from the first change on.
package final class ObjectStorage {
    /// By property index; `unset` means that the row's value holds. Empty until something is written.
    @exclusivity(unchecked) var values: [ManagedValue] = []
    /// The values from the parent that no row has; only in a child context.
    var base: CommittedState?
    /// The ID returned last, so that two reads return the same object.
    var objectID: NSManagedObjectID?
    /// The key that a save in progress gives to an inserted object.
    var permanentKey = ObjectKey.none
    /// Whether a number that does not fit its attribute was set.
    var mayHoldUnfit = false
    /// The version that a save in progress gives to the row; 0 if it writes none.
    var savedVersion: UInt32 = 0
    /// Whether the next save writes a deleted row again. Another context or process deleted it, or an undo brought the object back.
    var isRevived = false
    /// The memory of the object's row, once the object belongs to no context.
    var rowCopies: KeptRows?
    /// The publisher of the object's observers.
    var publisher: ObjectWillChangePublisher? {
        didSet { observesSetters = publisher != nil || !silent.isEmpty }
    }
    /// The attributes and to-one relationships that primitive setters have set silently: `changedValues()` leaves them out.
    var silent: Set<Int> = [] {
        didSet { observesSetters = publisher != nil || !silent.isEmpty }
    }
    /// Whether a setter must call `setterWillRun(_:)` first.
    private(set) var observesSetters = false

    /// Called before a property is set openly.
    func setterWillRun(_ index: Int) {
        publisher?.send()
        if !silent.isEmpty { silent.remove(index) }
    }

    /// The values when the last event ended; nil if none has ended since the object's first change.
    var eventValues: [ManagedValue]?
    /// The results of fetched properties, by property index; empty until one is read.
    var fetched: [Int: NSArray] = [:]
    /// By index: the to-many relationships that accessors are changing.
    var primitiveSets: [Int: OpenPrimitiveSet] = [:]

    /// Whether a new object would have the same state, but for the ID.
    var hasOnlyID: Bool { values.isEmpty && base == nil && publisher == nil && fetched.isEmpty && primitiveSets.isEmpty && !isRevived }
}

extension NSManagedObject {
    /// The object's storage, made on first use.
    final func ownStorage() -> ObjectStorage {
        if let storage { return storage }
        let made = ObjectStorage()
        storage = made
        return made
    }
}

/// The state flags of a managed object.
struct ObjectState: OptionSet {
    let rawValue: UInt32

    /// Its values have not been read since it was made or refreshed.
    static let fault = ObjectState(rawValue: 1 << 0)
    static let inserted = ObjectState(rawValue: 1 << 1)
    static let updated = ObjectState(rawValue: 1 << 2)
    static let deleted = ObjectState(rawValue: 1 << 3)
    /// It belongs to no context any more (or never did).
    static let detached = ObjectState(rawValue: 1 << 4)
    /// Its context's list of changed objects contains it.
    static let listed = ObjectState(rawValue: 1 << 5)
    /// Its row was gone when the fault fired; every property reads as nil.
    static let inaccessible = ObjectState(rawValue: 1 << 6)
    /// Nothing changed since the event (or, in a save, since `willSave`) that saw its last change.
    static let processed = ObjectState(rawValue: 1 << 7)
    /// It is waking: values set now do not count as changes.
    static let waking = ObjectState(rawValue: 1 << 8)
    /// Its context has an undo manager.
    static let recorded = ObjectState(rawValue: 1 << 9)
    /// `delete(_:)` is following its relationships.
    static let deleting = ObjectState(rawValue: 1 << 10)
    /// A save has deleted it.
    static let erased = ObjectState(rawValue: 1 << 11)
    /// Uses from the wrong queue trap.
    static let watched = ObjectState(rawValue: 1 << 12)

    /// Its context has deleted it, and has merged a newer row since. If its deletion is undone, it reads that row.
    static let outdated = ObjectState(rawValue: 1 << 13)

    /// A merge has reported that its row was deleted: it is detached, and among its context's deleted objects until the next save.
    static let gone = ObjectState(rawValue: 1 << 14)

    /// The program has followed one of its relationships.
    static let followed = ObjectState(rawValue: 1 << 15)

    /// A child of its context has read it since its last change.
    static let shown = ObjectState(rawValue: 1 << 16)

    static let changed: ObjectState = [.inserted, .updated, .deleted]
    /// A read of the row must handle these flags first.
    static let attended: ObjectState = [.fault, .watched]
    /// A write of a value must handle these flags first.
    static let guarded: ObjectState = [.fault, .recorded, .watched]

    /// As the protocol's, which is generic code in a debug build.
    func contains(_ other: ObjectState) -> Bool { rawValue & other.rawValue == other.rawValue }
}
