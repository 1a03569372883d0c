import Synchronization

/// Counts the events by which registered objects of a context may become old: commits, and changes in a context that has children.
///
/// The process has one number, so that a look-up compares it without a look at the context's coordinator. A context that has not seen the newest
/// number looks whether its own stores have newer commits, and a child whether its coordinator or its tree has changed.
enum ChangeClock {
    private static let count = Atomic<UInt32>(0)

    @inline(__always)
    static var now: UInt32 { count.load(ordering: .acquiring) }

    static func tick() { count.wrappingAdd(1, ordering: .releasing) }
}

/// Counts the changes of one kind: the commits to a coordinator's stores, or the changes in a tree of contexts that children may have read.
final class ChangeCount: Sendable {
    private let count = Atomic<Int>(0)

    var now: Int { count.load(ordering: .acquiring) }

    func note() {
        count.add(1, ordering: .releasing)
        ChangeClock.tick()
    }
}
