import RecordLog
import Synchronization

/// The predicate of a partial index, which contains only the rows for which it holds.
final class PartialIndex: Sendable {
    /// The predicate in the format language.
    let format: String
    private let compiled = Mutex<Compiled?>(nil)

    private struct Compiled: @unchecked Sendable {
        // Unchecked: row filters are immutable.
        let tests: [RowFilter]?
    }

    init(_ format: String) {
        self.format = format
    }

    /// Returns the conditions that must all hold; nil where the predicate cannot be evaluated on the table's rows.
    func tests(_ table: EntityTable) -> [RowFilter]? {
        compiled.withLock { known in
            if let known { return known }
            let node = try? PredicateParser.parse(format, arguments: [])
            let test = node.flatMap { PredicateCompiler(table: table, view: nil).compile($0.joiningComposites(of: table.runtime.entity).folded) }
            let made = Compiled(tests: test.flatMap { QueryPlanner.flattened([$0]) })
            known = made
            return made
        }.tests
    }

    /// Whether the index contains every row that meets `tests`. This is decided by form: each part of the index's predicate must occur in the
    /// query word for word, or a part of the query must restrict the same attribute to a narrower range. A wrong false costs only time: the index
    /// is not used.
    func isImplied(by tests: [RowFilter], _ table: EntityTable) -> Bool {
        guard let wanted = self.tests(table) else { return false }
        return wanted.allSatisfy { part in
            tests.contains { test in
                if let format = part.format, test.format?.hasSameBytes(as: format) ?? false { return true }
                guard let outer = part.indexCondition, outer.isExact, let inner = test.indexCondition else { return false }
                return outer.contains(inner)
            }
        }
    }

    /// Whether these tests may imply the index's predicate with other arguments.
    func mayBeImplied(by tests: [RowFilter], _ table: EntityTable) -> Bool {
        self.tests(table)?.allSatisfy { part in
            guard let column = part as? ColumnFilter else { return true }
            return tests.contains { ($0 as? ColumnFilter)?.property == column.property }
        } ?? false
    }

    /// Whether the test holds for every row in the index.
    func answers(_ test: RowFilter, _ table: EntityTable) -> Bool {
        guard let format = test.format else { return false }
        return tests(table)?.contains { $0.format?.hasSameBytes(as: format) ?? false } ?? false
    }
}

extension IndexCondition {
    /// Whether every row that meets `other` meets this condition.
    fileprivate func contains(_ other: IndexCondition) -> Bool {
        guard key == other.key else { return false }
        switch other.kind {
        case .equal(let list): return list.allSatisfy(contains)
        case .prefix(let bytes):
            switch kind {
            case .prefix(let outer): return bytes.starts(with: outer)
            case .range(nil, _, nil, _): return true
            default: return false
            }
        case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen):
            guard case .range(let low, let lowIsOpen, let high, let highIsOpen) = kind else { return false }
            if let low {
                guard let lower, !lower.lexicographicallyPrecedes(low), lower != low || !lowIsOpen || lowerIsOpen else { return false }
            }
            if let high {
                guard let upper, !high.lexicographicallyPrecedes(upper), upper != high || !highIsOpen || upperIsOpen else { return false }
            }
            return true
        }
    }

    private func contains(_ component: [UInt8]) -> Bool {
        switch kind {
        case .equal(let list): return list.contains(component)
        case .prefix(let bytes): return component.starts(with: bytes)
        case .range(let low, let lowIsOpen, let high, let highIsOpen):
            guard component.first == KeyBuilder.valueTag else { return false }
            if let low, component.lexicographicallyPrecedes(low) || lowIsOpen && component == low { return false }
            if let high, high.lexicographicallyPrecedes(component) || highIsOpen && component == high { return false }
            return true
        }
    }
}
