/// The registered objects of a context, by key: one instance for each key.
///
/// An open-addressing table with linear probing. Sixteen neighbouring row numbers share one run of slots, so objects fetched in row
/// order are stored next to each other; the runs are spread by multiplication.
///
/// A slot takes twelve bytes: the object and a tag. The slot needs no key, because the object has it. The tag determines the home slot,
/// so the table grows without reading an object. With an object's 72 bytes, and 8 for its allocation, a registered object costs 112 bytes
/// just after the table has doubled, and less otherwise.
///
/// The map owns a reference to each object. `sweep` releases unchanged objects that only the map refers to. The context runs it when the
/// map has doubled since the last sweep, so a registration costs, amortised, one look at one reference count. This avoids weak references,
/// which cost six times as much, and `deinit`s that race with look-ups from another thread.
///
/// Invariants:
/// 1. `capacity` is a power of two and at least 16; at most 3/4 of the slots are taken.
/// 2. A tag is at its home slot, or at a later slot with no empty slot in between.
/// 3. `tags[i]` is the tag of the key of `objects[i]`, and 0 exactly where `objects[i]` is nil.
/// 4. Each slot with an object owns one reference to it; objects are moved as bits.
final class IdentityMap {
    private var tags: UnsafeMutablePointer<UInt32>
    private var objects: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>
    private var capacity: Int
    private(set) var count = 0
    private var sweepAt = minimumSweep
    /// Learns of registered and unregistered objects; nil if no store needs that.
    var observer: RegistrationObserver?

    private static let minimumSweep = 1024
    /// The smallest capacity that `sweep` considers for the remaining objects.
    private static let sweptCapacity = 2048
    private static let minimumCapacity = 16

    init() {
        capacity = Self.minimumCapacity
        (tags, objects) = Self.allocate(capacity)
    }

    deinit {
        Self.release(tags, objects, capacity)
    }

    private static func allocate(_ capacity: Int) -> (UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<Unmanaged<NSManagedObject>?>) {
        let tags = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
        tags.initialize(repeating: 0, count: capacity)
        let objects = UnsafeMutablePointer<Unmanaged<NSManagedObject>?>.allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
        return (tags, objects)
    }

    private static func release(
        _ tags: UnsafeMutablePointer<UInt32>, _ objects: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>, _ capacity: Int
    ) {
        for index in 0..<capacity { objects[index]?.release() }
        objects.deallocate()
        tags.deallocate()
    }

    /// The bytes of the table, without the objects.
    var byteCount: Int { capacity * (MemoryLayout<UInt32>.stride + MemoryLayout<NSManagedObject?>.stride) }

    /// A 32-bit value that represents a key; never 0. Two keys of one entity have equal tags only if their row numbers differ by about
    /// four thousand million.
    @inline(__always)
    private static func tag(_ key: ObjectKey) -> UInt32 {
        let high = UInt32(truncatingIfNeeded: key.rawValue >> 32)
        let tag = UInt32(truncatingIfNeeded: key.rawValue) ^ (high &* 0x9E37_79B1)
        return tag == 0 ? 1 : tag
    }

    @inline(__always)
    private static func home(_ tag: UInt32, _ capacity: Int) -> Int {
        let spread = UInt64(tag >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((spread >> 32) << 4) | UInt64(tag & 15)) & (capacity &- 1)
    }

    /// The slot of `key`, or the empty slot into which it would be inserted.
    @inline(__always)
    private func slot(of key: ObjectKey) -> Int {
        let tag = Self.tag(key)
        var index = Self.home(tag, capacity)
        while tags[index] != 0, tags[index] != tag || objects[index].unsafelyUnwrapped._withUnsafeGuaranteedRef({ $0.key != key }) {
            index = (index &+ 1) & (capacity &- 1)
        }
        return index
    }

    subscript(key: ObjectKey) -> NSManagedObject? {
        @inline(__always) get {
            objects[slot(of: key)]?.takeUnretainedValue()
        }
    }

    /// The registered object, not retained: so the caller can ask whether anything else refers to it.
    @inline(__always)
    func reference(to key: ObjectKey) -> Unmanaged<NSManagedObject>? { objects[slot(of: key)] }

    /// Registers `object`.
    /// - Precondition: its key is `key`, and no registered object has that key.
    func insert(_ object: NSManagedObject, for key: ObjectKey) {
        if count &* 4 >= capacity &* 3 { resize(to: capacity &* 2) }
        let index = slot(of: key)
        precondition(tags[index] == 0 && object.key == key, "a context registers one object for a key")
        tags[index] = Self.tag(key)
        objects[index] = .passRetained(object)
        count &+= 1
        if let observer { observer.registered(object) }
    }

    /// Reserves slots for `more` objects.
    func reserve(_ more: Int) {
        var wanted = capacity
        while (count &+ more) &* 4 >= wanted &* 3 { wanted &*= 2 }
        if wanted > capacity { resize(to: wanted) }
    }

    @discardableResult
    func remove(_ key: ObjectKey) -> NSManagedObject? {
        let index = slot(of: key)
        guard tags[index] != 0, let object = objects[index] else { return nil }
        if let observer { observer.unregistered([object]) }
        vacate(index)
        return object.takeRetainedValue()
    }

    /// Empties a slot and closes the gap, which restores (2).
    private func vacate(_ start: Int) {
        let mask = capacity &- 1
        var gap = start
        tags[gap] = 0
        objects[gap] = nil
        count &-= 1
        var index = (gap &+ 1) & mask
        while tags[index] != 0 {
            let home = Self.home(tags[index], capacity)
            if ((index &- home) & mask) >= ((index &- gap) & mask) {
                tags[gap] = tags[index]
                objects[gap] = objects[index]
                tags[index] = 0
                objects[index] = nil
                gap = index
            }
            index = (index &+ 1) & mask
        }
    }

    /// Moves every object into a table of another size. Reads no object.
    private func resize(to newCapacity: Int) {
        let oldTags = tags, oldObjects = objects, oldCapacity = capacity
        capacity = newCapacity
        (tags, objects) = Self.allocate(newCapacity)
        for index in 0..<oldCapacity where oldTags[index] != 0 { place(oldObjects[index], oldTags[index]) }
        oldTags.deallocate()
        oldObjects.deallocate()
    }

    @inline(__always)
    private func place(_ object: Unmanaged<NSManagedObject>?, _ tag: UInt32) {
        var index = Self.home(tag, capacity)
        while tags[index] != 0 { index = (index &+ 1) & (capacity &- 1) }
        tags[index] = tag
        objects[index] = object
    }

    /// Restores (2) after slots were emptied.
    private func closeGaps() {
        var left: [(object: Unmanaged<NSManagedObject>?, tag: UInt32)] = []
        left.reserveCapacity(count)
        for index in 0..<capacity where tags[index] != 0 { left.append((objects[index], tags[index])) }
        tags.update(repeating: 0, count: capacity)
        objects.update(repeating: nil, count: capacity)
        for one in left { place(one.object, one.tag) }
    }

    /// Whether the map keeps objects that only it refers to.
    var retainsAll = false {
        didSet { sweepAt = retainsAll ? .max : Self.minimumSweep }
    }

    /// Whether the map has grown enough since the last sweep to run another.
    var wantsSweep: Bool { count >= sweepAt }

    /// Delays the next sweep until `more` objects have been added.
    func makeRoom(for more: Int) { sweepAt = max(sweepAt, count + more) }

    /// Releases every unchanged object that only the map refers to. A `deinit` may use the map: objects are released last, when the map is
    /// consistent.
    func sweep() {
        guard !retainsAll else { return }
        let disposed = UnsafeMutablePointer<Unmanaged<NSManagedObject>>.allocate(capacity: max(count, 1))
        defer { disposed.deallocate() }
        var gone = 0
        for index in 0..<capacity where tags[index] != 0 && isDisposable(index) {
            if let object = objects[index] {
                (disposed + gone).initialize(to: object)
                gone &+= 1
            }
            tags[index] = 0
            objects[index] = nil
        }
        count &-= gone
        if gone > 0 {
            // As many objects may come before the next sweep, so a table that was just large enough is kept.
            var wanted = Self.sweptCapacity
            while count &* 4 >= wanted &* 3 { wanted &*= 2 }
            if wanted &* 2 < capacity { resize(to: wanted &* 2) } else if count > 0 { closeGaps() }
        }
        sweepAt = max(Self.minimumSweep, count &* 2)
        if let observer { observer.unregistered(Array(UnsafeBufferPointer(start: disposed, count: gone))) }
        for position in 0..<gone { disposed[position].release() }
    }

    /// Releases the object of a key, if it is unchanged and only the map refers to it. O(1).
    func releaseUnheld(_ key: ObjectKey) {
        if isUnheld(key) { remove(key) }
    }

    /// Whether the object of a key is unchanged, and only the map refers to it. O(1).
    func isUnheld(_ key: ObjectKey) -> Bool {
        guard !retainsAll else { return false }
        let index = slot(of: key)
        return tags[index] != 0 && isDisposable(index)
    }

    /// Makes `wantsSweep` true.
    func wantSweep() { sweepAt = 0 }

    private func isDisposable(_ index: Int) -> Bool {
        guard objects[index]?._withUnsafeGuaranteedRef({ $0.isDisposable }) ?? false else { return false }
        return isOnlyReference(index)
    }

    /// Whether only the map refers to an object.
    private func isOnlyReference(_ index: Int) -> Bool {
        // (4) The bits of an owned reference.
        UnsafeMutableRawPointer(objects + index).withMemoryRebound(to: NSManagedObject?.self, capacity: 1) {
            isKnownUniquelyReferenced(&$0.pointee)
        }
    }

    /// Detaches every object from its context. Objects that the program still holds get copies of their rows.
    func detachAll() {
        reportAll()
        let copies = KeptRows()
        for index in 0..<capacity where tags[index] != 0 {
            let isHeld = !isOnlyReference(index)
            objects[index]?._withUnsafeGuaranteedRef { object in
                object.state.insert(.detached)
                // Fetched properties may make objects hold each other.
                object.storage?.fetched = [:]
                if isHeld { object.keepRow(in: copies) }
            }
        }
    }

    private func reportAll() {
        guard let observer else { return }
        observer.unregistered((0..<capacity).compactMap { objects[$0] })
    }

    func forEach(_ body: (NSManagedObject) -> Void) {
        for index in 0..<capacity {
            if let object = objects[index] { body(object.takeUnretainedValue()) }
        }
    }

    /// A copy of the list of objects, for callers that register or release objects while they iterate.
    var all: [NSManagedObject] {
        var result: [NSManagedObject] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }

    /// Releases every object and the table's memory.
    func removeAll() {
        reportAll()
        let oldTags = tags, oldObjects = objects, oldCapacity = capacity
        capacity = Self.minimumCapacity
        (tags, objects) = Self.allocate(capacity)
        count = 0
        if !retainsAll { sweepAt = Self.minimumSweep }
        Self.release(oldTags, oldObjects, oldCapacity)
    }

    /// Checks invariants (1) to (3); for tests.
    func checkInvariants() -> Bool {
        guard capacity >= Self.minimumCapacity, capacity & (capacity - 1) == 0, count * 4 <= capacity * 3 else { return false }
        var seen = 0
        for index in 0..<capacity {
            guard (tags[index] == 0) == (objects[index] == nil) else { return false }
            guard let object = objects[index]?.takeUnretainedValue() else { continue }
            seen += 1
            guard tags[index] == Self.tag(object.key), slot(of: object.key) == index else { return false }
        }
        return seen == count
    }
}
