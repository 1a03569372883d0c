import Foundation

/// The way in which a fetch was answered: the result of `NSManagedObjectContext.explain(_:)`.
public struct FetchPlan: Sendable, Equatable, CustomStringConvertible {
    /// A way to find rows.
    public indirect enum Access: Sendable, Equatable, CustomStringConvertible {
        /// Tests every row of the entity.
        case scan
        /// Scans ranges of the index with this name: `index:NAME` for a fetch index, `unique:ATTRIBUTES` for a uniqueness constraint,
        /// `reference:RELATIONSHIP` for a to-one relationship.
        case index(String)
        /// Reads rows by number: the predicate names them, or a relationship led to them.
        case rows
        /// Finds the rows that any of these gives, each once.
        case union([Access])
        /// Reads nothing: no row can match.
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

    /// The part of the fetch for one entity: the request's, or one of its subentities.
    public struct Part: Sendable, Equatable {
        public let entityName: String
        public let access: Access
        /// The number of index ranges that were scanned.
        public let rangeCount: Int
        /// Whether the index gave the rows in the requested order.
        public let isOrderedByIndex: Bool
    }

    /// A search for related objects before the main search, so that an index could find the rows that refer to them.
    public struct Lookup: Sendable, Equatable {
        public let entityName: String
        public let access: Access
    }

    public let parts: [Part]
    public let lookups: [Lookup]
    /// The number of rows that were read, those of lookups included.
    public let rowsVisited: Int
    /// The number of rows that met the predicate, up to the limit.
    public let rowsMatched: Int
    /// The number of index entries that were counted instead of rows.
    public let entriesCounted: Int
    /// The number of threads of the widest scan.
    public let cores: Int
    /// Whether rows were sorted, because no index gave the requested order.
    public let isSorted: Bool
    /// Whether the context evaluated the predicate or the order on objects, because it has pending changes that concern the fetch, or the store
    /// cannot evaluate them.
    public let isInMemory: Bool
    /// For a store on a server: the statement, what the store judges on the rows that come back, and the server's own plan, a line each. Empty for
    /// other stores.
    public let server: [String]

    /// The same plan, where the caller evaluates the predicate on each object that the store has.
    package var evaluatedInMemory: FetchPlan {
        FetchPlan(
            parts: parts, lookups: lookups, rowsVisited: rowsVisited, rowsMatched: rowsMatched, entriesCounted: entriesCounted, cores: cores,
            isSorted: isSorted, isInMemory: true, server: server)
    }

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
        lines += server
        var counts = "\(rowsVisited) row\(rowsVisited == 1 ? "" : "s") visited, \(rowsMatched) matched"
        if entriesCounted > 0 { counts += ", \(entriesCounted) index entries counted" }
        if cores > 1 { counts += ", \(cores) cores" }
        return lines + [counts]
    }
}

extension FetchPlan {
    init(_ statistics: QueryStatistics, isSorted: Bool, isInMemory: Bool, server: [String]) {
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
        self.server = server
    }
}
