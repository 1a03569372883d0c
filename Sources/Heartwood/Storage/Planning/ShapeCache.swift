import Synchronization

/// The plans that one table keeps, found by format without a lock.
///
/// Invariants:
/// 1. `kept` lets go of no plan, so readers need no lock (`AtomicTable`).
/// 2. `kept` has at most `keptMax` plans; then no more are kept.
final class PlanCache: Sendable {
    private static let count = 64
    /// The entries that are searched from a format's own on.
    private static let reach = 4
    private static let keptMax = 256

    private let entries = AtomicTable<CachedPlan>(count: count)
    private let kept = Mutex<[CachedPlan]>([])

    private static func index(_ number: Int, _ step: Int) -> Int { (number &* 2 &+ step) & (count - 1) }

    @inline(__always)
    private func entry(_ index: Int) -> CachedPlan? { entries[index]?.takeUnretainedValue() }

    func find(_ key: CachedPlan.Key) -> CachedPlan? {
        for step in 0..<Self.reach {
            guard let plan = entry(Self.index(key.number, step)) else { return nil }
            if plan.key.isSame(as: key) { return plan }
        }
        return nil
    }

    /// Every plan that was kept, the oldest first.
    var all: [CachedPlan] { kept.withLock { $0 } }

    /// Keeps a plan in the place of an older one of its kind, else in a free place, else in its first.
    func keep(_ plan: CachedPlan) {
        kept.withLock { kept in
            guard kept.count < Self.keptMax else { return }
            let places = (0..<Self.reach).map { Self.index(plan.key.number, $0) }
            let place = places.first { index in entry(index).map { $0.key.isSame(as: plan.key) } ?? true }
            kept.append(plan)
            entries.set(place ?? places[0], to: plan)
        }
    }
}
