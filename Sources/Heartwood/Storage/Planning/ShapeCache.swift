import Synchronization

/// Names the queries that one entry serves. They have one format.
package protocol ShapeKey: Sendable {
    /// The number of the format.
    var number: Int { get }
    func isSame(as other: Self) -> Bool
}

/// A plan or a statement for the queries of one shape.
package protocol ShapeEntry: AnyObject, Sendable {
    associatedtype Key: ShapeKey
    var key: Key { get }
}

/// The plans of a table, or the statements of a store, by the shape of the queries that they serve. They are found without a lock.
///
/// Invariants:
/// 1. `kept` lets go of no entry, so readers need no lock (`AtomicTable`).
/// 2. `kept` has at most `keptMax` entries; then no more are kept.
package final class ShapeCache<Entry: ShapeEntry>: Sendable {
    private static var count: Int { 64 }
    /// The places that are searched from a format's own on.
    private static var reach: Int { 4 }
    private static var keptMax: Int { 256 }

    private let entries = AtomicTable<Entry>(count: count)
    private let kept = Mutex<[Entry]>([])

    package init() {}

    private static func index(_ number: Int, _ step: Int) -> Int { (number &* 2 &+ step) & (count - 1) }

    @inline(__always)
    private func entry(_ index: Int) -> Entry? { entries[index]?.takeUnretainedValue() }

    package func find(_ key: Entry.Key) -> Entry? {
        for step in 0..<Self.reach {
            guard let entry = entry(Self.index(key.number, step)) else { return nil }
            if entry.key.isSame(as: key) { return entry }
        }
        return nil
    }

    /// Everything that was kept, the oldest first.
    package var all: [Entry] { kept.withLock { $0 } }

    /// Keeps an entry in the place of an older one of its key, else in a free place, else in its first.
    package func keep(_ entry: Entry) {
        kept.withLock { kept in
            guard kept.count < Self.keptMax else { return }
            let places = (0..<Self.reach).map { Self.index(entry.key.number, $0) }
            let place = places.first { index in self.entry(index).map { $0.key.isSame(as: entry.key) } ?? true }
            kept.append(entry)
            entries.set(place ?? places[0], to: entry)
        }
    }
}
