import RecordLog
import Synchronization

/// The rows that an index has where it has not all of its table: those for which a predicate holds.
final class PartialIndex: Sendable {
    /// In the format language.
    let format: String
    private let compiled = Mutex<Compiled?>(nil)

    private struct Compiled: @unchecked Sendable {
        // Unchecked: tests are immutable.
        let tests: [RowFilter]?
    }

    init(_ format: String) {
        self.format = format
    }

    /// The conditions that must all hold; nil where the predicate cannot be asked of this table's rows.
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

    /// Whether every row that meets `tests` is in the index. Told by the form alone: each part of the index's predicate is
    /// a part of the query's, word for word, or some part of the query's gives a narrower range of the same attribute. Where this
    /// says false though it is so the index is not used, and nothing is lost but time.
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

    /// Whether the index has a row only if this test holds for it.
    func answers(_ test: RowFilter, _ table: EntityTable) -> Bool {
        guard let format = test.format else { return false }
        return tests(table)?.contains { $0.format?.hasSameBytes(as: format) ?? false } ?? false
    }
}

extension IndexCondition {
    /// Whether what meets `other` meets this.
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
