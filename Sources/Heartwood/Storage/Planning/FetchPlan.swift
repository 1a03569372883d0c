import Foundation

/// How a fetch was answered: what `NSManagedObjectContext.explain(_:)` gives.
public struct FetchPlan: Sendable, Equatable, CustomStringConvertible {
    /// How rows are found.
    public indirect enum Access: Sendable, Equatable, CustomStringConvertible {
        /// Every row of the entity is tested.
        case scan
        /// By ranges of the index of this name: `index:NAME` for a fetch index, `unique:ATTRIBUTES` for a uniqueness
        /// constraint, `reference:RELATIONSHIP` for a to-one relationship.
        case index(String)
        /// By number: the predicate names them, or they were found from the other end of a relationship.
        case rows
        /// The rows that any of these gives, each once.
        case union([Access])
        /// No row can match.
        case nothing

        public var description: String {
            switch self {
            case .scan: "scan"
            case .index(let name): "index \(name)"
            case .rows: "rows"
            case .union(let parts): "union of \(parts.map(\.description).joined(separator: " and "))"
            case .nothing: "nothing"
            }
        }
    }

    /// One entity's part of the fetch: that of the request, or one below it.
    public struct Part: Sendable, Equatable {
        public let entityName: String
        public let access: Access
        /// The stretches of indexes that were walked.
        public let rangeCount: Int
        /// Whether the index gave the rows in the order that is asked for.
        public let isOrderedByIndex: Bool
    }

    /// Objects that were found first, so that those that refer to them could be found by an index.
    public struct Lookup: Sendable, Equatable {
        public let entityName: String
        public let access: Access
    }

    public let parts: [Part]
    public let lookups: [Lookup]
    /// Rows whose bytes were looked at, those of look-ups among them.
    public let rowsVisited: Int
    /// Rows that met the predicate, as far as they were asked for.
    public let rowsMatched: Int
    /// Entries of indexes that were counted in place of rows.
    public let entriesCounted: Int
    /// The threads that the widest scan took.
    public let cores: Int
    /// Whether rows were sorted: an order was asked for, and no index gave it.
    public let isSorted: Bool
    /// Whether the context evaluated the predicate, or the order, on objects: it has changes that concern the fetch, or the
    /// store cannot evaluate them.
    public let isInMemory: Bool

    public var description: String { lines.joined(separator: "\n") }

    package var lines: [String] {
        var lines = lookups.map { "\($0.entityName) first: \($0.access)" }
        for part in parts {
            var line = "\(part.entityName): \(part.access)"
            if part.rangeCount > 1 { line += ", \(part.rangeCount) ranges" }
            if part.isOrderedByIndex { line += ", in order" }
            lines.append(line)
        }
        if isInMemory { lines.append("evaluated on objects in memory") }
        if isSorted { lines.append("sorted") }
        var counts = "\(rowsVisited) rows visited, \(rowsMatched) matched"
        if entriesCounted > 0 { counts += ", \(entriesCounted) index entries counted" }
        if cores > 1 { counts += ", \(cores) cores" }
        return lines + [counts]
    }
}

extension FetchPlan {
    init(_ statistics: QueryStatistics, isSorted: Bool, isInMemory: Bool) {
        parts = statistics.parts.map {
            Part(
                entityName: $0.entity, access: $0.access, rangeCount: $0.rangeCount,
                isOrderedByIndex: $0.isOrdered && statistics.isOrderedByIndex)
        }
        lookups = statistics.lookups.map { Lookup(entityName: $0.entity, access: $0.access) }
        rowsVisited = statistics.rowsVisited
        rowsMatched = statistics.rowsMatched
        entriesCounted = statistics.entriesCounted
        cores = statistics.cores
        self.isSorted = isSorted && (isInMemory || !statistics.isOrderedByIndex)
        self.isInMemory = isInMemory
    }
}
