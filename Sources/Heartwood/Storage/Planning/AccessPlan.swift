import RecordLog

/// The way in which the rows of one table are found.
struct AccessPlan {
    enum Access {
        case scan
        /// No row can match.
        case nothing
        case index(IndexScan)
        case text(TextScan)
        /// Rows known by number: listed by the predicate, or found through a relationship.
        case rows(RowSet)
        /// The rows that any of these plans gives, each once.
        case union([AccessPlan])
    }

    var access: Access
    /// The remaining test of each found row; nil where every found row matches.
    var test: RowFilter?
    /// Estimates of the rows to find, and of the cost of finding and testing them, in rows of a scan.
    var rows: Double
    var cost: Double
    /// The same plan for other arguments of the format; nil where they may change the planner's choice.
    var template: PlanTemplate?

    static var nothing: AccessPlan { AccessPlan(access: .nothing, test: nil, rows: 0, cost: 0) }

    /// Whether the rows come in the requested order.
    var isOrdered: Bool {
        if case .index(let scan) = access { return scan.order != nil }
        return false
    }

    /// Whether an ordered scan can be merged with those of other tables.
    var canMerge: Bool {
        if case .index(let scan) = access { return scan.order?.key != nil }
        return false
    }

    var name: QueryStatistics.Access {
        switch access {
        case .scan: .scan
        case .nothing: .nothing
        case .index(let scan): .index(scan.index.name)
        case .text(let scan): .index(scan.index?.name ?? "")
        case .rows: .rows
        case .union(let parts): .union(parts.map(\.name))
        }
    }

    /// The number of index ranges to scan.
    var rangeCount: Int {
        switch access {
        case .scan, .nothing, .rows: 0
        case .index(let scan): scan.ranges.count
        case .text(let scan): scan.termCount
        case .union(let parts): parts.reduce(0) { $0 + $1.rangeCount }
        }
    }
}

/// A scan of ranges of an index, in the index's order.
final class IndexScan {
    let index: TableIndex
    /// Disjoint and ascending.
    let ranges: [KeyRange]
    /// The conditions that gave the ranges; nil for the joined ranges of an OR.
    let conditions: IndexRanges?
    /// nil where the scan gives no requested order.
    let order: Order?
    /// The key of the only possible entry: all values of a uniqueness constraint.
    let key: [UInt8]?

    init(index: TableIndex, ranges: [KeyRange], conditions: IndexRanges? = nil, order: Order? = nil, key: [UInt8]? = nil) {
        self.index = index
        self.ranges = ranges
        self.conditions = conditions
        self.order = order
        self.key = key
    }

    /// The order that an index scan gives.
    struct Order {
        /// The number of leading index parts that make up the order, including parts that are constant.
        let partCount: Int
        let isDescending: Bool
        /// The sort key's components, in the scan's direction, for merging scans of several tables, whose indexes may have them at other positions.
        /// nil where it is unknown, since there is only one row.
        let key: [Component]?

        enum Component {
            case part(Int)
            /// The same value for all rows of the scan.
            case constant([UInt8])
        }

        /// Whether some sort keys have the same value in all rows.
        var hasConstants: Bool {
            key?.contains { component in
                if case .constant = component { true } else { false }
            } ?? true
        }
    }
}
