/// The objects that a context has registered, by key: one instance a key.
///
/// An open-addressing table with linear probing. Sixteen neighbouring row numbers share one stretch of the table, so
/// objects fetched in row order fall beside each other; the stretches are spread by multiplication.
///
/// The map owns a reference to each object. An unchanged object that nobody else refers to is let go by `sweep`, which
/// the context runs when the map has doubled since the last one: amortised, a registration costs one look at one
/// reference count. This keeps the table free of weak references (six times dearer), and of `deinit`s that race with
/// look-ups from another thread.
///
/// Invariants:
/// 1. `capacity` is a power of two and at least 16; at most 3/4 of the slots are taken.
/// 2. A key stands at its home slot or at a later one with no empty slot in between.
/// 3. A slot's key is 0 exactly where it has no object.
/// 4. Each slot with an object owns one reference to it; slots are moved as bits.
final class IdentityMap {
    private struct Slot {
        var key: UInt64
        var object: Unmanaged<NSManagedObject>?

        static var empty: Slot { Slot(key: 0, object: nil) }
    }

    private var slots: UnsafeMutablePointer<Slot>
    private var capacity: Int
    private(set) var count = 0
    private var sweepAt = minimumSweep

    private static let minimumSweep = 1024
    private static let minimumCapacity = 16

    init() {
        capacity = Self.minimumCapacity
        slots = Self.allocate(capacity)
    }

    deinit {
        Self.release(slots, capacity)
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        slots.initialize(repeating: .empty, count: capacity)
        return slots
    }

    @inline(__always)
    private static func home(_ key: UInt64, _ capacity: Int) -> Int {
        let spread = (key >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((spread >> 32) << 4) | (key & 15)) & (capacity &- 1)
    }

    @inline(__always)
    private func place(of key: UInt64) -> Int {
        let slots = slots, mask = capacity &- 1
        var index = Self.home(key, capacity)
        while slots[index].key != key && slots[index].key != 0 {
            index = (index &+ 1) & mask
        }
        return index
    }

    subscript(key: ObjectKey) -> NSManagedObject? {
        @inline(__always) get {
            slots[place(of: key.rawValue)].object?.takeUnretainedValue()
        }
    }

    /// Registers `object`; the key must not be taken.
    func insert(_ object: NSManagedObject, for key: ObjectKey) {
        if count &* 4 >= capacity &* 3 { resize(to: capacity &* 2) }
        let index = place(of: key.rawValue)
        precondition(slots[index].key == 0, "a context registers one object for a key")
        slots[index] = Slot(key: key.rawValue, object: .passRetained(object))
        count &+= 1
    }

    /// Makes room for so many more.
    func reserve(_ more: Int) {
        var wanted = capacity
        while (count &+ more) &* 4 >= wanted &* 3 { wanted &*= 2 }
        if wanted > capacity { resize(to: wanted) }
    }

    @discardableResult
    func remove(_ key: ObjectKey) -> NSManagedObject? {
        let index = place(of: key.rawValue)
        guard let object = slots[index].object else { return nil }
        vacate(index)
        return object.takeRetainedValue()
    }

    /// Empties a slot and closes the gap, so that (2) holds.
    private func vacate(_ start: Int) {
        let mask = capacity &- 1
        var gap = start
        slots[gap] = .empty
        count &-= 1
        var index = (gap &+ 1) & mask
        while slots[index].key != 0 {
            let home = Self.home(slots[index].key, capacity)
            if ((index &- home) & mask) >= ((index &- gap) & mask) {
                slots[gap] = slots[index]
                slots[index] = .empty
                gap = index
            }
            index = (index &+ 1) & mask
        }
    }

    private func resize(to newCapacity: Int) {
        let old = slots, oldCapacity = capacity
        capacity = newCapacity
        slots = Self.allocate(newCapacity)
        for index in 0..<oldCapacity where old[index].key != 0 {
            slots[place(of: old[index].key)] = old[index]
        }
        old.deallocate()
    }

    /// Whether the map has grown enough since the last sweep for another to pay.
    var wantsSweep: Bool { count >= sweepAt }

    /// Lets go of every object that only the map refers to and that has no changes. A `deinit` may use the map again: it runs after
    /// everything else.
    func sweep() {
        var disposed: [Unmanaged<NSManagedObject>] = []
        for index in 0..<capacity where isDisposable(index) {
            if let object = slots[index].object { disposed.append(object) }
            slots[index] = .empty
        }
        count &-= disposed.count
        if !disposed.isEmpty {
            var wanted = Self.minimumCapacity
            while count &* 4 >= wanted &* 3 { wanted &*= 2 }
            resize(to: wanted)
        }
        sweepAt = max(Self.minimumSweep, count &* 2)
        for object in disposed { object.release() }
    }

    private func isDisposable(_ index: Int) -> Bool {
        guard slots[index].object?._withUnsafeGuaranteedRef({ $0.isDisposable }) ?? false else { return false }
        return isOnlyReference(index)
    }

    /// Whether nobody but the map refers to an object.
    private func isOnlyReference(_ index: Int) -> Bool {
        withUnsafeMutablePointer(to: &slots[index].object) { reference in
            // (4) The bits of an owned reference.
            UnsafeMutableRawPointer(reference).withMemoryRebound(to: NSManagedObject?.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }

    /// Takes every object out of its context. Those that somebody else holds keep `memory`, in which their rows lie.
    func detachAll(_ memory: [AnyObject]) {
        for index in 0..<capacity where slots[index].key != 0 {
            let isHeld = !isOnlyReference(index)
            slots[index].object?._withUnsafeGuaranteedRef { object in
                object.state.insert(.detached)
                if isHeld { object.keepRow(memory) }
            }
        }
    }

    func forEach(_ body: (NSManagedObject) -> Void) {
        for index in 0..<capacity {
            if let object = slots[index].object { body(object.takeUnretainedValue()) }
        }
    }

    func removeAll() {
        let old = slots, oldCapacity = capacity
        capacity = Self.minimumCapacity
        slots = Self.allocate(capacity)
        count = 0
        sweepAt = Self.minimumSweep
        Self.release(old, oldCapacity)
    }

    private static func release(_ slots: UnsafeMutablePointer<Slot>, _ capacity: Int) {
        for index in 0..<capacity { slots[index].object?.release() }
        slots.deallocate()
    }

    /// Invariants (1) to (3); for tests.
    func checkInvariants() -> Bool {
        guard capacity >= Self.minimumCapacity, capacity & (capacity - 1) == 0, count * 4 <= capacity * 3 else { return false }
        var seen = 0
        for index in 0..<capacity {
            guard (slots[index].key == 0) == (slots[index].object == nil) else { return false }
            guard slots[index].key != 0 else { continue }
            seen += 1
            guard place(of: slots[index].key) == index else { return false }
        }
        return seen == count
    }
}
