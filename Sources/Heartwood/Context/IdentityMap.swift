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
/// 3. `keys[i] == 0` exactly where `objects[i]` is empty.
final class IdentityMap {
    private var keys: UnsafeMutablePointer<UInt64>
    private var objects: UnsafeMutablePointer<NSManagedObject?>
    private var capacity: Int
    private(set) var count = 0
    private var sweepAt = minimumSweep

    private static let minimumSweep = 1024

    init() {
        capacity = 16
        keys = .allocate(capacity: capacity)
        keys.initialize(repeating: 0, count: capacity)
        objects = .allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
    }

    deinit {
        objects.deinitialize(count: capacity)
        objects.deallocate()
        keys.deallocate()
    }

    @inline(__always)
    private static func home(_ key: UInt64, _ capacity: Int) -> Int {
        let spread = (key >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((spread >> 32) << 4) | (key & 15)) & (capacity &- 1)
    }

    @inline(__always)
    private func slot(of key: UInt64) -> Int {
        var index = Self.home(key, capacity)
        while keys[index] != key && keys[index] != 0 {
            index = (index &+ 1) & (capacity &- 1)
        }
        return index
    }

    subscript(key: ObjectKey) -> NSManagedObject? {
        @inline(__always) get {
            objects[slot(of: key.rawValue)]
        }
    }

    /// Registers `object`; the key must not be taken.
    func insert(_ object: NSManagedObject, for key: ObjectKey) {
        if count &* 4 >= capacity &* 3 { grow() }
        let index = slot(of: key.rawValue)
        precondition(keys[index] == 0, "a context registers one object for a key")
        keys[index] = key.rawValue
        objects[index] = object
        count &+= 1
    }

    @discardableResult
    func remove(_ key: ObjectKey) -> NSManagedObject? {
        let index = slot(of: key.rawValue)
        guard keys[index] != 0 else { return nil }
        let object = objects[index]
        vacate(index)
        return object
    }

    /// Empties a slot and closes the gap, so that (2) holds.
    private func vacate(_ start: Int) {
        let mask = capacity &- 1
        var gap = start
        keys[gap] = 0
        objects[gap] = nil
        count &-= 1
        var index = (gap &+ 1) & mask
        while keys[index] != 0 {
            let home = Self.home(keys[index], capacity)
            if ((index &- home) & mask) >= ((index &- gap) & mask) {
                keys[gap] = keys[index]
                (objects + gap).moveUpdate(from: objects + index, count: 1)
                (objects + index).initialize(to: nil)
                keys[index] = 0
                gap = index
            }
            index = (index &+ 1) & mask
        }
    }

    private func grow() {
        resize(to: capacity &* 2)
    }

    private func resize(to newCapacity: Int) {
        let oldKeys = keys, oldObjects = objects, oldCapacity = capacity
        capacity = newCapacity
        keys = .allocate(capacity: newCapacity)
        keys.initialize(repeating: 0, count: newCapacity)
        objects = .allocate(capacity: newCapacity)
        objects.initialize(repeating: nil, count: newCapacity)
        for index in 0..<oldCapacity where oldKeys[index] != 0 {
            let target = slot(of: oldKeys[index])
            keys[target] = oldKeys[index]
            (objects + target).moveUpdate(from: oldObjects + index, count: 1)
        }
        oldKeys.deallocate()
        oldObjects.deallocate()
    }

    /// Whether the map has grown enough since the last sweep for another to pay.
    var wantsSweep: Bool { count >= sweepAt }

    /// Lets go of every object that only the map refers to and that has no changes.
    func sweep() {
        var kept: [(UInt64, NSManagedObject)] = []
        var released = 0
        for index in 0..<capacity where keys[index] != 0 {
            if isKnownUniquelyReferenced(&objects[index]), objects[index]?.isDisposable == true {
                objects[index] = nil
                keys[index] = 0
                released &+= 1
            }
        }
        guard released > 0 else {
            sweepAt = max(Self.minimumSweep, count &* 2)
            return
        }
        count &-= released
        kept.reserveCapacity(count)
        for index in 0..<capacity where keys[index] != 0 {
            if let object = objects[index] { kept.append((keys[index], object)) }
        }
        var wanted = 16
        while count &* 4 >= wanted &* 3 { wanted &*= 2 }
        rebuild(capacity: max(wanted, 16), from: kept)
        sweepAt = max(Self.minimumSweep, count &* 2)
    }

    private func rebuild(capacity newCapacity: Int, from entries: [(UInt64, NSManagedObject)]) {
        objects.deinitialize(count: capacity)
        if newCapacity != capacity {
            objects.deallocate()
            keys.deallocate()
            capacity = newCapacity
            keys = .allocate(capacity: capacity)
            objects = .allocate(capacity: capacity)
        }
        keys.initialize(repeating: 0, count: capacity)
        objects.initialize(repeating: nil, count: capacity)
        for (key, object) in entries {
            let index = slot(of: key)
            keys[index] = key
            objects[index] = object
        }
    }

    /// Takes every object out of its context. Those that somebody else holds keep `memory`, in which their rows lie.
    func detachAll(_ memory: [AnyObject]) {
        for index in 0..<capacity where keys[index] != 0 {
            objects[index]?.state.insert(.detached)
            if !isKnownUniquelyReferenced(&objects[index]) { objects[index]?.keepRow(memory) }
        }
    }

    func forEach(_ body: (NSManagedObject) -> Void) {
        for index in 0..<capacity {
            if let object = objects[index] { body(object) }
        }
    }

    func removeAll() {
        objects.deinitialize(count: capacity)
        keys.initialize(repeating: 0, count: capacity)
        objects.initialize(repeating: nil, count: capacity)
        count = 0
        sweepAt = Self.minimumSweep
    }

    /// Invariants (1) to (3); for tests.
    func checkInvariants() -> Bool {
        guard capacity >= 16, capacity & (capacity - 1) == 0, count * 4 <= capacity * 3 else { return false }
        var seen = 0
        for index in 0..<capacity {
            guard (keys[index] == 0) == (objects[index] == nil) else { return false }
            guard keys[index] != 0 else { continue }
            seen += 1
            guard slot(of: keys[index]) == index else { return false }
        }
        return seen == count
    }
}
