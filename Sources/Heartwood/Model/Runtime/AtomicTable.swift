import Synchronization

/// A table of objects that threads read without a lock.
///
/// Invariants:
/// 1. The table does not hold its objects. Its owner holds each one that it has set for as long as the table, and none of them changes. So a
///    reader needs no lock.
/// 2. One thread at a time sets entries.
struct AtomicTable<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Unchecked: the entries are atomic, and the pointer never changes.
    private let entries: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>
    private let count: Int

    init(count: Int) {
        self.count = count
        entries = .allocate(capacity: count)
        for index in 0..<count { (entries + index).initialize(to: Atomic(nil)) }
    }

    deinit {
        entries.deinitialize(count: count)
        entries.deallocate()
    }

    /// - Precondition: `index` is less than the count.
    @inline(__always)
    subscript(index: Int) -> Unmanaged<Object>? {
        entries[index].load(ordering: .acquiring).map { Unmanaged.fromOpaque($0) }
    }

    func set(_ index: Int, to object: Object) {
        entries[index].store(Unmanaged.passUnretained(object).toOpaque(), ordering: .releasing)
    }
}
