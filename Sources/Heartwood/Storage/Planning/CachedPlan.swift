import RecordLog
import Synchronization

/// A plan that a table keeps for the fetches of one format, order and kind.
final class CachedPlan: ShapeEntry, @unchecked Sendable {
    // Unchecked: only `isWide` changes, and it is atomic. The template's tests are immutable.

    /// The fetches that a plan serves: those of one format in one order, with a limit or without, and counts apart.
    struct Key: ShapeKey {
        let number: Int
        let sort: [SortKey]
        let hasLimit: Bool
        let isCount: Bool

        func isSame(as other: Key) -> Bool {
            number == other.number && hasLimit == other.hasLimit && isCount == other.isCount && sort.count == other.sort.count
                && sort.indices.allSatisfy { sort[$0].isSame(as: other.sort[$0]) }
        }
    }

    let key: Key
    private let template: PlanTemplate
    private let state: TableState
    /// Whether a fetch found so many rows that a scan may have been cheaper. Then the planner chooses for the next ones, until it again chooses this
    /// plan.
    private let isWide = Atomic(false)

    init(_ key: Key, _ template: PlanTemplate, _ state: TableState) {
        (self.key, self.template, self.state) = (key, template, state)
    }

    func isCurrent(_ table: EntityTable, _ view: RecordLogView) -> Bool { state.isCurrent(table, view) }

    /// Returns the plan for arguments; see `PlanTemplate.plan`.
    func plan(_ binding: PlanBinding) throws -> AccessPlan? {
        isWide.load(ordering: .relaxed) ? nil : try template.plan(binding)
    }

    /// Learns how many rows a fetch visited and matched, of all rows of its table.
    func note(visited: Int, matched: Int, of rows: Int) {
        guard !key.hasLimit else { return }
        let count: Int
        switch template.way {
        case .index(let scan) where !scan.isUnique: count = visited
        // The visited rows include those of the other table.
        case .through: count = matched
        default: return
        }
        if count > 64, count &* 3 > rows { isWide.store(true, ordering: .relaxed) }
    }

    /// Learns the plan that the planner chose for a fetch of this kind.
    func note(_ plan: AccessPlan) {
        guard isWide.load(ordering: .relaxed), case .index(let scan) = plan.access else { return }
        switch template.way {
        case .index(let known) where known.index === scan.index: isWide.store(false, ordering: .relaxed)
        case .through(let index, _) where index === scan.index: isWide.store(false, ordering: .relaxed)
        default: break
        }
    }
}

extension SortKey {
    func isSame(as other: SortKey) -> Bool { path == other.path && isAscending == other.isAscending && textOrder == other.textOrder }
}
