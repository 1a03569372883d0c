import RecordLog

/// The objects of rows, one after the other: those that a context has registered, and faults for the others.
struct RowObjects: ~Copyable {
    private let context: NSManagedObjectContext
    private let slotBase: UInt64
    private var runtime: EntityRuntime
    // What each fault's initializer takes over.
    private var contexts: CountedAhead<NSManagedObjectContext>
    private var entities: CountedAhead<NSEntityDescription>
    private var runtimes: CountedAhead<EntityRuntime>

    /// - Parameter runtime: of the first rows' entity, where that is known.
    init(_ context: NSManagedObjectContext, _ store: NSPersistentStore, _ runtime: EntityRuntime) {
        self.context = context
        slotBase = store.slotBase
        self.runtime = runtime
        contexts = CountedAhead(context)
        entities = CountedAhead(runtime.entity)
        runtimes = CountedAhead(runtime)
    }

    /// The object of a row, bound to it; nil where the model has no such entity.
    @inline(__always)
    mutating func object(of row: RowView) -> NSManagedObject? {
        let key = ObjectKey(rawValue: row.reference.rawValue &+ slotBase)
        if let known = context.identities[key] {
            if known.isFault {
                known.bind(row)
                if known.storage != nil { known.forgetMembers() }
            }
            return known
        }
        guard key.slot == runtime.slot || goOn(to: key.slot) else { return nil }
        let object = context.makeFault(key, runtimes.take(), entities.take(), contexts.take())
        object.bind(row)
        return object
    }

    @inline(never)
    private mutating func goOn(to slot: UInt16) -> Bool {
        guard let found = context.runtime(slot: slot) else { return false }
        runtime = found
        entities = CountedAhead(found.entity)
        runtimes = CountedAhead(found)
        return true
    }
}

/// References to one object that are counted many at a time.
///
/// An initializer takes over a reference to each of its arguments, and what it stores is one more: counted one by one they are an eighth of
/// what a fetched object costs. The compiler makes one atomic operation of the references that are counted one after the other here.
///
/// Invariant: `left` references to the object are counted and not given away.
struct CountedAhead<Object: AnyObject>: ~Copyable {
    private let object: Unmanaged<Object>
    private var left = 0
    private var isFirst = true

    init(_ object: Object) {
        self.object = Unmanaged.passUnretained(object)
    }

    deinit {
        for _ in 0..<left / 4 {
            object.release()
            object.release()
            object.release()
            object.release()
        }
        for _ in 0..<left % 4 { object.release() }
    }

    /// A reference that is the caller's.
    @inline(__always)
    mutating func take() -> Unmanaged<Object> {
        if left == 0 { count() }
        left &-= 1
        return object
    }

    @inline(never)
    private mutating func count() {
        // Most fetches of one object end with it.
        guard !isFirst else {
            isFirst = false
            left = 1
            _ = object.retain()
            return
        }
        left = 32
        _ = object.retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
    }
}
