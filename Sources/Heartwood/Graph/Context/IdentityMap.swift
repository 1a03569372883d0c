/// The objects that a context has registered, by key: one instance a key.
///
/// An open-addressing table with linear probing. Sixteen neighbouring row numbers share one stretch of the table, so
/// objects fetched in row order fall beside each other; the stretches are spread by multiplication.
///
/// A slot is twelve bytes: the object, and a mark in place of its key, which the object has itself. The mark alone says where an
/// object belongs, so that the table grows without looking at one. With the object's 72 bytes, and 8 of its allocation, a
/// registered object costs 112 bytes where the table has just doubled, and less anywhere else.
///
/// The map owns a reference to each object. An unchanged object that nobody else refers to is let go by `sweep`, which
/// the context runs when the map has doubled since the last one: amortised, a registration costs one look at one
/// reference count. This keeps the table free of weak references (six times dearer), and of `deinit`s that race with
/// look-ups from another thread.
///
/// Invariants:
/// 1. `capacity` is a power of two and at least 16; at most 3/4 of the slots are taken.
/// 2. A mark stands at its home slot or at a later one with no empty slot in between.
/// 3. `marks[i]` is the mark of the key of `objects[i]`, and 0 exactly where that is empty.
/// 4. Each place with an object owns one reference to it; objects are moved as bits.
final class IdentityMap {
    private var marks: UnsafeMutablePointer<UInt32>
    private var objects: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>
    private var capacity: Int
    private(set) var count = 0
    private var sweepAt = minimumSweep
    /// Who is told of objects that come and go; nil where no store wants to know.
    var observer: RegistrationObserver?

    private static let minimumSweep = 1024
    /// As many objects as that leave a quarter of so many places free.
    private static let sweptCapacity = 2048
    private static let minimumCapacity = 16

    init() {
        capacity = Self.minimumCapacity
        (marks, objects) = Self.allocate(capacity)
    }

    deinit {
        Self.release(marks, objects, capacity)
    }

    private static func allocate(_ capacity: Int) -> (UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<Unmanaged<NSManagedObject>?>) {
        let marks = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
        marks.initialize(repeating: 0, count: capacity)
        let objects = UnsafeMutablePointer<Unmanaged<NSManagedObject>?>.allocate(capacity: capacity)
        objects.initialize(repeating: nil, count: capacity)
        return (marks, objects)
    }

    private static func release(
        _ marks: UnsafeMutablePointer<UInt32>, _ objects: UnsafeMutablePointer<Unmanaged<NSManagedObject>?>, _ capacity: Int
    ) {
        for index in 0..<capacity { objects[index]?.release() }
        objects.deallocate()
        marks.deallocate()
    }

    /// The bytes of the table, objects left out.
    var byteCount: Int { capacity * (MemoryLayout<UInt32>.stride + MemoryLayout<NSManagedObject?>.stride) }

    /// Stands for a key, never 0. Keys of one entity have different marks up to row numbers four thousand million apart.
    @inline(__always)
    private static func mark(_ key: ObjectKey) -> UInt32 {
        let high = UInt32(truncatingIfNeeded: key.rawValue >> 32)
        let mark = UInt32(truncatingIfNeeded: key.rawValue) ^ (high &* 0x9E37_79B1)
        return mark == 0 ? 1 : mark
    }

    @inline(__always)
    private static func home(_ mark: UInt32, _ capacity: Int) -> Int {
        let spread = UInt64(mark >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: ((spread >> 32) << 4) | UInt64(mark & 15)) & (capacity &- 1)
    }

    /// Where `key` stands, or the empty slot where it would.
    @inline(__always)
    private func slot(of key: ObjectKey) -> Int {
        let mark = Self.mark(key)
        var index = Self.home(mark, capacity)
        while marks[index] != 0, marks[index] != mark || objects[index].unsafelyUnwrapped._withUnsafeGuaranteedRef({ $0.key != key }) {
            index = (index &+ 1) & (capacity &- 1)
        }
        return index
    }

    subscript(key: ObjectKey) -> NSManagedObject? {
        @inline(__always) get {
            objects[slot(of: key)]?.takeUnretainedValue()
        }
    }

    /// Registers `object`, whose key is `key`; the key must not be taken.
    func insert(_ object: NSManagedObject, for key: ObjectKey) {
        if count &* 4 >= capacity &* 3 { resize(to: capacity &* 2) }
        let index = slot(of: key)
        precondition(marks[index] == 0 && object.key == key, "a context registers one object for a key")
        marks[index] = Self.mark(key)
        objects[index] = .passRetained(object)
        count &+= 1
        if let observer { observer.registered(object) }
    }

    /// Makes room for so many more.
    func reserve(_ more: Int) {
        var wanted = capacity
        while (count &+ more) &* 4 >= wanted &* 3 { wanted &*= 2 }
        if wanted > capacity { resize(to: wanted) }
    }

    @discardableResult
    func remove(_ key: ObjectKey) -> NSManagedObject? {
        let index = slot(of: key)
        guard marks[index] != 0, let object = objects[index] else { return nil }
        if let observer { observer.unregistered([object]) }
        vacate(index)
        return object.takeRetainedValue()
    }

    /// Empties a slot and closes the gap, so that (2) holds.
    private func vacate(_ start: Int) {
        let mask = capacity &- 1
        var gap = start
        marks[gap] = 0
        objects[gap] = nil
        count &-= 1
        var index = (gap &+ 1) & mask
        while marks[index] != 0 {
            let home = Self.home(marks[index], capacity)
            if ((index &- home) & mask) >= ((index &- gap) & mask) {
                marks[gap] = marks[index]
                objects[gap] = objects[index]
                marks[index] = 0
                objects[index] = nil
                gap = index
            }
            index = (index &+ 1) & mask
        }
    }

    /// Puts every object into a table of another size. Looks at none of them.
    private func resize(to newCapacity: Int) {
        let oldMarks = marks, oldObjects = objects, oldCapacity = capacity
        capacity = newCapacity
        (marks, objects) = Self.allocate(newCapacity)
        for index in 0..<oldCapacity where oldMarks[index] != 0 { place(oldObjects[index], oldMarks[index]) }
        oldMarks.deallocate()
        oldObjects.deallocate()
    }

    @inline(__always)
    private func place(_ object: Unmanaged<NSManagedObject>?, _ mark: UInt32) {
        var index = Self.home(mark, capacity)
        while marks[index] != 0 { index = (index &+ 1) & (capacity &- 1) }
        marks[index] = mark
        objects[index] = object
    }

    /// Restores (2) after objects have gone.
    private func closeGaps() {
        var left: [(object: Unmanaged<NSManagedObject>?, mark: UInt32)] = []
        left.reserveCapacity(count)
        for index in 0..<capacity where marks[index] != 0 { left.append((objects[index], marks[index])) }
        marks.update(repeating: 0, count: capacity)
        objects.update(repeating: nil, count: capacity)
        for one in left { place(one.object, one.mark) }
    }

    /// Whether objects stay that only the map refers to.
    var retainsAll = false {
        didSet { sweepAt = retainsAll ? .max : Self.minimumSweep }
    }

    /// Whether the map has grown enough since the last sweep for another to pay.
    var wantsSweep: Bool { count >= sweepAt }

    /// Puts the next sweep off until so many more objects are there.
    func makeRoom(for more: Int) { sweepAt = max(sweepAt, count + more) }

    /// Lets go of every object that only the map refers to and that has no changes. A `deinit` may use the map again: it runs after
    /// everything else.
    func sweep() {
        guard !retainsAll else { return }
        let disposed = UnsafeMutablePointer<Unmanaged<NSManagedObject>>.allocate(capacity: max(count, 1))
        defer { disposed.deallocate() }
        var gone = 0
        for index in 0..<capacity where marks[index] != 0 && isDisposable(index) {
            if let object = objects[index] {
                (disposed + gone).initialize(to: object)
                gone &+= 1
            }
            marks[index] = 0
            objects[index] = nil
        }
        count &-= gone
        if gone > 0 {
            // As many may come again before the next sweep: a table that was just large enough for them stays.
            var wanted = Self.sweptCapacity
            while count &* 4 >= wanted &* 3 { wanted &*= 2 }
            if wanted &* 2 < capacity { resize(to: wanted &* 2) } else if count > 0 { closeGaps() }
        }
        sweepAt = max(Self.minimumSweep, count &* 2)
        if let observer { observer.unregistered(Array(UnsafeBufferPointer(start: disposed, count: gone))) }
        for position in 0..<gone { disposed[position].release() }
    }

    /// Lets go of the object of a key where only the map refers to it and it has no changes. O(1).
    func releaseUnheld(_ key: ObjectKey) {
        guard !retainsAll else { return }
        let index = slot(of: key)
        if marks[index] != 0, isDisposable(index) { remove(key) }
    }

    /// Has the next look whether a sweep is wanted find that it is.
    func wantSweep() { sweepAt = 0 }

    private func isDisposable(_ index: Int) -> Bool {
        guard objects[index]?._withUnsafeGuaranteedRef({ $0.isDisposable }) ?? false else { return false }
        return isOnlyReference(index)
    }

    /// Whether nobody but the map refers to an object.
    private func isOnlyReference(_ index: Int) -> Bool {
        // (4) The bits of an owned reference.
        UnsafeMutableRawPointer(objects + index).withMemoryRebound(to: NSManagedObject?.self, capacity: 1) {
            isKnownUniquelyReferenced(&$0.pointee)
        }
    }

    /// Takes every object out of its context. Those that somebody else holds get copies of their rows.
    func detachAll() {
        tellOfAll()
        let copies = KeptRows()
        for index in 0..<capacity where marks[index] != 0 {
            let isHeld = !isOnlyReference(index)
            objects[index]?._withUnsafeGuaranteedRef { object in
                object.state.insert(.detached)
                // Objects may hold each other by what they have fetched.
                object.storage?.fetched = [:]
                if isHeld { object.keepRow(in: copies) }
            }
        }
    }

    private func tellOfAll() {
        guard let observer else { return }
        observer.unregistered((0..<capacity).compactMap { objects[$0] })
    }

    func forEach(_ body: (NSManagedObject) -> Void) {
        for index in 0..<capacity {
            if let object = objects[index] { body(object.takeUnretainedValue()) }
        }
    }

    /// Every object, for work that may register and release others meanwhile.
    var all: [NSManagedObject] {
        var result: [NSManagedObject] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }

    /// Lets go of every object, and of the table's memory.
    func removeAll() {
        tellOfAll()
        let oldMarks = marks, oldObjects = objects, oldCapacity = capacity
        capacity = Self.minimumCapacity
        (marks, objects) = Self.allocate(capacity)
        count = 0
        if !retainsAll { sweepAt = Self.minimumSweep }
        Self.release(oldMarks, oldObjects, oldCapacity)
    }

    /// Invariants (1) to (3); for tests.
    func checkInvariants() -> Bool {
        guard capacity >= Self.minimumCapacity, capacity & (capacity - 1) == 0, count * 4 <= capacity * 3 else { return false }
        var seen = 0
        for index in 0..<capacity {
            guard (marks[index] == 0) == (objects[index] == nil) else { return false }
            guard let object = objects[index]?.takeUnretainedValue() else { continue }
            seen += 1
            guard marks[index] == Self.mark(object.key), slot(of: object.key) == index else { return false }
        }
        return seen == count
    }
}
