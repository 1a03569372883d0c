import Foundation
import RecordLog

/// Receives results: drops duplicates, sorts where the store could not, and applies offset and limit.
package final class ResultSink {
    private let shape: ResultShape
    private var toSkip: Int
    private var left: Int
    private let body: ([PredicateValue]) throws -> Bool
    private let key = KeyBuilder()
    private let seen: GroupTable?
    private var kept: [(values: [PredicateValue], order: [PredicateValue])] = []

    /// - Parameters:
    ///   - limit: nil for none.
    ///   - body: takes the values of the columns. It returns false to end.
    init(_ shape: ResultShape, limit: Int?, offset: Int, _ body: @escaping ([PredicateValue]) throws -> Bool) {
        self.shape = shape
        toSkip = offset
        left = limit ?? .max
        self.body = body
        seen = shape.isDistinct ? GroupTable() : nil
    }

    /// - Parameter order: the values of the shape's order expressions.
    /// - Returns: whether the sink takes more results.
    func take(_ values: [PredicateValue], order: [PredicateValue]) throws -> Bool {
        if let seen {
            key.removeAll()
            for value in values { value.appendIdentity(to: key) }
            guard seen.number(of: key.unsafeBuffer).isNew else { return true }
        }
        guard shape.order.isEmpty else {
            kept.append((values, order))
            return true
        }
        return try give(values)
    }

    /// Gives the results that were held back to be sorted.
    func finish() throws {
        let order = shape.order
        let sorted = kept.enumerated().sorted { a, b in
            for (index, part) in order.enumerated() {
                let x = a.element.order[index], y = b.element.order[index]
                switch part.isAscending ? x.sorted(against: y, part.textOrder) : y.sorted(against: x, part.textOrder) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a.offset < b.offset
        }
        kept = []
        for (_, result) in sorted where try !give(result.values) { return }
    }

    private func give(_ values: [PredicateValue]) throws -> Bool {
        guard toSkip == 0 else {
            toSkip -= 1
            return true
        }
        guard left > 0 else { return false }
        left -= 1
        return try body(values) && left > 0
    }
}

extension PredicateValue {
    /// Sorts null first, and objects by their IDs.
    fileprivate func sorted(against other: PredicateValue, _ textOrder: NSSortDescriptor.TextOrder) -> ComparisonResult {
        guard case .objectID(let a) = self, case .objectID(let b) = other else { return SortKey.compare(self, other, textOrder) }
        return a.key.rawValue < b.key.rawValue ? .orderedAscending : a.key == b.key ? .orderedSame : .orderedDescending
    }
}
