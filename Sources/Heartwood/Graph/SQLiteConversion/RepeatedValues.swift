import Foundation
import RecordLog

/// Finds rows with the same values of a uniqueness constraint among rows that are only read.
///
/// (1) A first pass notes a hash of each row's unique values. Rows that share one are read again, and their values are compared.
/// (2) Hashes of many rows are noted in several passes, each for a part of all possible hashes, so that memory does not grow with the rows.
final class RepeatedValues {
    typealias Row = (UnsafeRowView, EntityTable) throws -> Void

    struct Found {
        var count = 0
        /// In the order of `UniquenessAudit`.
        var first: [UniquenessAudit.Repetition] = []
    }

    private struct Candidate {
        /// The constraint's place among all.
        let constraint: Int
        let key: [UInt8]
        let row: RowReference
    }

    private let schema: RecordLogSchema
    /// The part of the hashes that is noted, and the number of parts.
    private var part: UInt64 = 0
    private let parts: UInt64
    private var hashes: [UInt64] = []
    private let key = KeyBuilder()
    /// The constraints in the order in which `UniquenessAudit` checks them.
    private let constraints: [UInt16: Int]
    private let names: [String]

    private static let hashesMax = 2 << 20
    /// Candidates that are kept to be compared in words: more than twice the findings that a report shows.
    private static let candidatesMax = 4 * CoreDataFindings.linesMax

    init(_ schema: RecordLogSchema, rowCount: Int) {
        self.schema = schema
        var constraints: [UInt16: Int] = [:], names: [String] = []
        for case let table? in schema.tables {
            for index in table.indexes where index.isUnique && index.constraint == index.id.rawValue {
                constraints[index.constraint] = names.count
                names.append(table.names(of: index).joined(separator: ", "))
            }
        }
        (self.constraints, self.names) = (constraints, names)
        parts = UInt64(Double(rowCount) * Double(names.count) / Double(Self.hashesMax)) + 1
    }

    /// Notes a row of the first pass.
    func note(_ row: UnsafeRowView, _ table: EntityTable) {
        forEachHash(of: row, table) { hash, _ in
            if hash % parts == part { hashes.append(hash) }
        }
    }

    /// - Parameter body: gets the unique values' hash and the constraint; the values are in `key`.
    private func forEachHash(of row: UnsafeRowView, _ table: EntityTable, _ body: (UInt64, TableIndex) -> Void) {
        for index in table.uniqueIndexes {
            index._withUnsafeGuaranteedRef { index in
                key.removeAll()
                guard table.appendUniqueKey(of: row, index, to: key) else { return }
                var hasher = Hasher()
                hasher.combine(index.constraint)
                hasher.combine(bytes: key.unsafeBuffer)
                body(UInt64(bitPattern: Int64(hasher.finalize())), index)
            }
        }
    }

    // MARK: Comparing

    /// - Parameter pass: reads all rows.
    func find(_ pass: (Row) throws -> Void) throws -> Found {
        guard !names.isEmpty else { return Found() }
        var found = Found(), candidates: [Candidate] = []
        while true {
            let repeated = takeRepeated(&found.count)
            if !repeated.isEmpty { try pass { row, table in gather(row, table, repeated, &candidates) } }
            part += 1
            guard part < parts else { break }
            try pass(note)
        }
        Self.sort(&candidates)
        for (first, second) in zip(candidates, candidates.dropFirst()) where first.constraint == second.constraint && first.key == second.key {
            found.first.append(.init(row: second.row, holder: first.row, attributes: names[first.constraint]))
        }
        return found
    }

    /// The noted hashes that several rows have.
    private func takeRepeated(_ count: inout Int) -> Set<UInt64> {
        hashes.sort()
        var repeated: Set<UInt64> = []
        for (first, second) in zip(hashes, hashes.dropFirst()) where first == second {
            count += 1
            repeated.insert(first)
        }
        hashes.removeAll(keepingCapacity: true)
        return repeated
    }

    private func gather(_ row: UnsafeRowView, _ table: EntityTable, _ repeated: Set<UInt64>, _ candidates: inout [Candidate]) {
        forEachHash(of: row, table) { hash, index in
            guard hash % parts == part, repeated.contains(hash), let constraint = constraints[index.constraint] else { return }
            candidates.append(Candidate(constraint: constraint, key: Array(key.unsafeBuffer), row: row.reference))
        }
        if candidates.count >= 2 * Self.candidatesMax { Self.sort(&candidates) }
    }

    private static func sort(_ candidates: inout [Candidate]) {
        candidates.sort { a, b in
            guard a.constraint == b.constraint else { return a.constraint < b.constraint }
            guard a.key == b.key else { return a.key.lexicographicallyPrecedes(b.key) }
            return a.row.rawValue < b.row.rawValue
        }
        candidates.removeLast(max(0, candidates.count - candidatesMax))
    }
}
