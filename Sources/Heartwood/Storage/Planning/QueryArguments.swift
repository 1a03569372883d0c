import Foundation

/// The arguments of a query of a known format, for stores whose statements have parameters in their places.
///
/// Only values of a column's own type are taken, and comparisons that mean the same for each of these. Null, NaN, text options, lists and paths may
/// change what a statement says, so a query with them has a statement of its own.
package struct QueryArguments {
    /// Everything of a query that decides its statement: all but the values of its arguments.
    package struct Shape: ShapeKey {
        let plan: CachedPlan.Key
        let hasOffset: Bool
        let runtimes: [EntityRuntime]
        /// The slots of the rows that references are compared with: the entity of such a row may be in the statement.
        let slots: [UInt16]

        package var number: Int { plan.number }

        package func isSame(as other: Shape) -> Bool {
            plan.isSame(as: other.plan) && hasOffset == other.hasOffset && slots == other.slots && runtimes.count == other.runtimes.count
                && runtimes.indices.allSatisfy { runtimes[$0] === other.runtimes[$0] }
        }
    }

    package enum Value {
        case bool(Bool)
        case integer(Int64)
        /// Of a date the seconds since 2001.
        case double(Double)
        case text(String)
        case uuid(UUID)
        case row(ObjectKey)
    }

    package let shape: Shape
    /// In the order of the comparisons.
    package private(set) var values: [Value] = []

    /// - Returns: nil for a query of an unknown format, or with an argument that is not taken.
    package init?(_ query: StoreQuery, isCount: Bool) {
        guard query.isOnRows, let tree = query.condition?.tree, let number = tree.number, let conditions = tree.conditions,
            let runtime = query.runtimes.first
        else { return nil }
        var slots: [UInt16] = []
        values.reserveCapacity(conditions.count)
        for condition in conditions {
            guard condition.keys.count == 1, condition.comparison.modifier == .direct, let index = runtime.index(of: condition.keys[0]),
                let value = Self.value(condition, of: tree, runtime.properties[index], runtime)
            else { return nil }
            values.append(value)
            if case .row(let key) = value { slots.append(key.slot) }
        }
        let plan = CachedPlan.Key(number: number, sort: query.sort, hasLimit: query.limit != nil, isCount: isCount)
        shape = Shape(plan: plan, hasOffset: query.offset != 0, runtimes: query.runtimes, slots: slots)
    }

    private static func value(
        _ condition: FormatTemplate.Condition, of tree: PredicateTree, _ property: PropertyRuntime, _ runtime: EntityRuntime
    ) -> Value? {
        guard let comparison = condition.comparison.comparison.order, condition.comparison.options.effective.isEmpty, property.hasColumn,
            property.elements == nil
        else { return nil }
        let isEquality = comparison == .equal
        switch (property.kind, condition.value(in: tree)) {
        case (.int16, .integer(let number)), (.int32, .integer(let number)), (.int64, .integer(let number)): return .integer(number)
        case (.float, .double(let number)), (.double, .double(let number)), (.date, .date(let number)): return number.isNaN ? nil : .double(number)
        case (.string, .text(let text)): return .text(text)
        case (.bool, .bool(let flag)) where isEquality: return .bool(flag)
        case (.uuid, .uuid(let uuid)) where isEquality: return .uuid(uuid)
        case (.toOne, .object(let object)) where isEquality: return runtime.holder.flatMap { object.key(in: $0) }.flatMap(row)
        case (.toOne, .objectID(let id)) where isEquality: return runtime.holder.flatMap { id.key(in: $0) }.flatMap(row)
        default: return nil
        }
    }

    private static func row(_ key: ObjectKey) -> Value? { key.isTemporary ? nil : .row(key) }
}
