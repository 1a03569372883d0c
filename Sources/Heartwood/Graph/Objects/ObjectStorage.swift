import Foundation

/// What a managed object holds beyond its row, from its first change on.
final class ObjectStorage {
    /// By property index; `unset` where the row speaks. Empty until something is written.
    @exclusivity(unchecked) var values: [ManagedValue] = []
    /// What the parent said, where no row says it; only in a child context.
    var base: CommittedState?
    /// The ID handed out last, so that asking twice gives one object.
    var objectID: NSManagedObjectID?
    /// The key a save in progress gives to an inserted object.
    var permanentKey = ObjectKey.none
    /// The version a save in progress gives to the row; 0 where it writes none.
    var savedVersion: UInt32 = 0
    /// The row was deleted, by somebody else or before an undo, and the next save writes it again.
    var isRevived = false
    /// What the object's row lies in, once the object belongs to no context.
    var rowCopies: KeptRows?
    /// Whoever observes the object.
    var publisher: ObjectWillChangePublisher? {
        didSet { heedsSetters = publisher != nil || !silent.isEmpty }
    }
    /// The attributes and to-one relationships that primitive setters have set without notice: no changes for `changedValues()`.
    var silent: Set<Int> = [] {
        didSet { heedsSetters = publisher != nil || !silent.isEmpty }
    }
    /// Whether a setter has to tell the storage first.
    private(set) var heedsSetters = false

    /// A property is about to be set, and everybody may know of it.
    func heed(_ index: Int) {
        publisher?.send()
        if !silent.isEmpty { silent.remove(index) }
    }

    /// The values when the last event ended; nil where none has ended since the object was changed first.
    var eventValues: [ManagedValue]?
    /// What fetched properties gave, by property index; nil until one is read.
    var fetched: [Int: NSArray] = [:]
    /// By index: the to-many relationships that accessors are just changing.
    var primitiveSets: [Int: OpenPrimitiveSet] = [:]
}

extension NSManagedObject {
    /// What the object holds beyond its row, made where that is nothing yet.
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
    /// It stands in its context's list of changed objects.
    static let listed = ObjectState(rawValue: 1 << 5)
    /// Its row was gone when the fault fired; every property reads as nil.
    static let inaccessible = ObjectState(rawValue: 1 << 6)
    /// Nothing changed since the event (or, in a save, since `willSave`) that saw its last change.
    static let settled = ObjectState(rawValue: 1 << 7)
    /// It is waking: what it sets now does not count as a change.
    static let waking = ObjectState(rawValue: 1 << 8)
    /// Its context has an undo manager.
    static let recorded = ObjectState(rawValue: 1 << 9)
    /// `delete(_:)` is following its relationships.
    static let deleting = ObjectState(rawValue: 1 << 10)
    /// A save has deleted it.
    static let erased = ObjectState(rawValue: 1 << 11)
    /// Uses from the wrong queue trap.
    static let watched = ObjectState(rawValue: 1 << 12)

    /// Its context has deleted it, and merged a newer row of it since: should it come back, it reads that one.
    static let outdated = ObjectState(rawValue: 1 << 13)

    /// A merge has told that its row was deleted: it is detached, and among its context's deleted objects until the next save.
    static let gone = ObjectState(rawValue: 1 << 14)

    static let changed: ObjectState = [.inserted, .updated, .deleted]
    /// What a look at the row has to attend to first.
    static let attended: ObjectState = [.fault, .watched]
    /// Something must happen before a value is written.
    static let guarded: ObjectState = [.fault, .recorded, .watched]
}
