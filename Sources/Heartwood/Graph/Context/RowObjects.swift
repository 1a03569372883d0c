import RecordLog

/// Makes the objects of rows, one after the other: registered objects, and faults for the other rows.
struct RowObjects: ~Copyable {
    private let context: NSManagedObjectContext
    private let slotBase: UInt64
    private var slot: UInt16
    // Consumed by the initializer of each fault.
    private var contexts: CountedAhead<NSManagedObjectContext>
    private var descriptions: CountedAhead<NSEntityDescription>
    private var entities: CountedAhead<EntityInContext>

    /// - Parameter runtime: the runtime of the first rows' entity, if known; another one costs one more look-up.
    init(_ context: NSManagedObjectContext, _ store: NSPersistentStore, _ runtime: EntityRuntime) {
        self.context = context
        slotBase = store.slotBase
        slot = runtime.slot
        contexts = CountedAhead(context)
        descriptions = CountedAhead(runtime.entity)
        entities = CountedAhead(context.entity(of: runtime))
    }

    /// Returns the object of a row, bound to it; nil if the model has no such entity.
    @inline(__always)
    mutating func object(of row: UnsafeRowView) -> NSManagedObject? {
        let key = ObjectKey(rawValue: row.reference.rawValue &+ slotBase)
        if let known = context.registered(key, at: row) { return known }
        guard key.slot == slot || goOn(to: key.slot) else { return nil }
        let object = context.makeFault(key, entities.take(), descriptions.take(), contexts.take())
        object.bind(row)
        return object
    }

    @inline(never)
    private mutating func goOn(to slot: UInt16) -> Bool {
        guard let found = context.entity(slot: slot) else { return false }
        self.slot = slot
        descriptions = CountedAhead(found.runtime.entity)
        entities = CountedAhead(found)
        return true
    }
}

extension NSManagedObjectContext {
    /// Returns the object of one row, bound to it.
    final func object(of row: UnsafeRowView, _ key: ObjectKey, _ runtime: EntityRuntime) -> NSManagedObject {
        if let known = registered(key, at: row) { return known }
        let object = makeFault(key, runtime: runtime)
        object.bind(row)
        return object
    }
}
