import RecordLog

/// How the rows of one table are found.
struct AccessPlan {
    enum Access {
        case scan
        /// No row can match.
        case nothing
        case index(IndexScan)
        /// Rows that are known by number: those of a list, or found from the other end of a relationship.
        case rows(RowSet)
        /// The rows that any of these gives, each once.
        case union([AccessPlan])
    }

    var access: Access
    /// What is left to be asked of each row; nil where every row that is found matches.
    var test: RowFilter?
    /// About how many rows are found, and what finding and testing them costs, in rows of a scan.
    var rows: Double
    var cost: Double

    /// Whether the rows come in the order that is asked for.
    var isOrdered: Bool {
        if case .index(let walk) = access { return walk.order != nil }
        return false
    }

    var name: QueryStatistics.Access {
        switch access {
        case .scan: .scan
        case .nothing: .nothing
        case .index(let walk): .index(walk.index.name)
        case .rows: .rows
        case .union(let parts): .union(parts.map(\.name))
        }
    }

    /// The stretches of indexes that it walks.
    var rangeCount: Int {
        switch access {
        case .scan, .nothing, .rows: 0
        case .index(let walk): walk.ranges.count
        case .union(let parts): parts.reduce(0) { $0 + $1.rangeCount }
        }
    }
}

/// Stretches of an index, in its order.
final class IndexScan {
    let index: TableIndex
    /// Apart from each other, ascending.
    let ranges: [KeyRange]
    /// nil: in no order that somebody asked for.
    let order: Order?
    /// The key of the only entry there can be: all the values of a uniqueness constraint.
    let key: [UInt8]?

    init(index: TableIndex, ranges: [KeyRange], order: Order? = nil, key: [UInt8]? = nil) {
        self.index = index
        self.ranges = ranges
        self.order = order
        self.key = key
    }

    /// How a walk gives an order.
    struct Order {
        /// So many parts of the index make up the order, with those among them that are the same for all rows.
        let partCount: Int
        let isDescending: Bool
        /// What is sorted by, in the walk's direction: other tables may have it in other places of other indexes. nil where that is not
        /// known, since one row has no order.
        let key: [Component]?

        enum Component {
            case part(Int)
            /// The same for all rows of the walk.
            case constant([UInt8])
        }
    }
}
