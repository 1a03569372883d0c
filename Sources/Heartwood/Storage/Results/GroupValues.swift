/// One value for each group, in memory that is accessed without bounds checks and reference counting.
final class GroupValues<Value> {
    private var base: UnsafeMutablePointer<Value> = .allocate(capacity: 16)
    private var capacity = 16
    private(set) var count = 0

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    func append(_ value: Value) {
        if count == capacity { grow() }
        (base + count).initialize(to: value)
        count &+= 1
    }

    private func grow() {
        let grown = UnsafeMutablePointer<Value>.allocate(capacity: capacity * 2)
        grown.moveInitialize(from: base, count: count)
        base.deallocate()
        base = grown
        capacity *= 2
    }

    /// - Precondition: `index` is below `count`; not checked.
    subscript(index: Int) -> Value {
        @inline(__always) get { base[index] }
        @inline(__always) set { base[index] = newValue }
    }

    /// For changing a value in place.
    @inline(__always)
    func pointer(at index: Int) -> UnsafeMutablePointer<Value> { base + index }
}
