import Foundation
import RecordLog

/// Collects the groups of one fetch.
final class ResultGroups {
    private let shape: ResultShape
    private let grouped: GroupedExpressions
    private let table = GroupTable()
    let accumulators: [Accumulator]
    /// The same objects, called for each row without retain and release.
    private let unmanaged: UnsafeMutableBufferPointer<Unmanaged<Accumulator>>

    init(_ shape: ResultShape, _ grouped: GroupedExpressions) {
        self.shape = shape
        self.grouped = grouped
        accumulators = grouped.aggregates.map(\.accumulator)
        unmanaged = .allocate(capacity: accumulators.count)
        for (index, accumulator) in accumulators.enumerated() { unmanaged.initializeElement(at: index, to: .passUnretained(accumulator)) }
        // Without keys all objects form one group, which exists even when no object matches.
        if grouped.keys.isEmpty { _ = group(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    deinit {
        unmanaged.deallocate()
    }

    @inline(__always)
    func withAccumulator(_ index: Int, _ body: (Accumulator) throws -> Void) rethrows {
        try unmanaged[index]._withUnsafeGuaranteedRef(body)
    }

    /// Returns the number of the group that has these key bytes. Opens a new group where none has them.
    @inline(__always)
    func group(_ key: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
        let found = table.number(of: key)
        if found.isNew { for accumulator in accumulators { accumulator.open() } }
        return found
    }

    /// Hands over the groups in the order in which their first rows came.
    /// - Parameter keyValue: returns a key's value, given the group's number and the key's index.
    func finish(into sink: ResultSink, keyValue: (Int, Int) throws -> PredicateValue) throws {
        for group in 0..<table.count {
            func value(_ slot: GroupedExpressions.Slot) throws -> PredicateValue {
                switch slot {
                case .key(let index): try keyValue(group, index)
                case .aggregate(let index): accumulators[index].result(of: group)
                }
            }
            // Built only where an expression is more than a slot.
            var scope: PredicateScope?
            func values() throws -> PredicateScope {
                if let scope { return scope }
                var variables: [String: Any] = [:]
                for index in grouped.keys.indices {
                    let slot = GroupedExpressions.Slot.key(index)
                    variables[slot.name] = try value(slot)
                }
                for index in grouped.aggregates.indices {
                    let slot = GroupedExpressions.Slot.aggregate(index)
                    variables[slot.name] = try value(slot)
                }
                let made = PredicateScope(subject: nil, variables: variables)
                scope = made
                return made
            }
            func value(_ expression: ExpressionNode) throws -> PredicateValue {
                if let slot = GroupedExpressions.Slot(expression) { return try value(slot) }
                return try expression.value(try values())
            }
            if let having = shape.having, try !having.evaluate(try values()) { continue }
            let order = try shape.order.map { try value($0.expression) }
            guard try sink.take(try shape.columns.map { try value($0.expression) }, order: order) else { return }
        }
        try sink.finish()
    }
}
