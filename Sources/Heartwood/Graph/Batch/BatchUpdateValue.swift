import Foundation
import RecordLog

/// One entry of `propertiesToUpdate`, prepared for the rows of one table: a constant, or an expression over the row's columns.
package final class BatchUpdateValue {
    /// The property's index.
    package let property: Int
    private let constant: ManagedValue
    /// Replaces `constant` where the value is an expression.
    private let computed: (any RowExpression)?
    private let kind: PropertyKind
    private let name: String

    /// - Parameter view: the state in which an expression looks up other rows; nil if only the row itself is read.
    /// - Throws: 1550 where a constant does not fit; 134091 where an expression needs more than the row's own attributes.
    package init(_ name: String, _ value: Any, _ table: EntityTable, _ view: RecordLogView?) throws {
        let runtime = table.runtime
        self.name = name
        guard let index = runtime.index(of: name) else {
            throw BatchValues.error("\(runtime.entity.name ?? "?") has no property \"\(name)\" to update\(runtime.entity.listedProperties(besides: name)).", key: name, value)
        }
        property = index
        kind = runtime.properties[index].kind
        guard let expression = value as? NSExpression else {
            constant = try BatchValues.value(value, index, runtime)
            computed = nil
            return
        }
        let node = expression.node.joiningComposites(of: runtime.entity).folded
        if case .constant(let value) = node {
            constant = try BatchValues.value(value.object ?? NSNull(), index, runtime)
            computed = nil
            return
        }
        // An expression is allowed only for a property that could take a constant.
        _ = try BatchValues.value(NSNull(), index, runtime)
        guard !kind.isRelationship, Self.isOwn(node, runtime), let compiled = PredicateCompiler(table: table, view: view).expression(node) else {
            throw CoreDataError.unsupported(
                "A batch update cannot compute \(runtime.entity.name ?? "?").\(name) as \(PredicatePrinter.format(node)): an expression is "
                    + "made of the object's own attributes, constants and functions. Set it in a context.")
        }
        constant = .null
        computed = compiled
    }

    /// Whether the value is made of the row's own attributes only. The condition of a conditional expression may read other objects.
    private static func isOwn(_ node: ExpressionNode, _ runtime: EntityRuntime) -> Bool {
        switch node {
        case .keyPath(let keys): keys.count == 1 && runtime.index(of: keys[0]) != nil
        case .call(_, let parts), .aggregate(let parts): parts.allSatisfy { isOwn($0, runtime) }
        case .conditional(_, let first, let second): isOwn(first, runtime) && isOwn(second, runtime)
        default: true
        }
    }

    /// Returns the new value for a row, computed from its values before the request.
    /// - Throws: 1550 where a computed value does not fit the attribute.
    package func value(for row: UnsafeRowView, _ scope: QueryScope) throws -> ManagedValue {
        guard let computed else { return constant }
        let value = try computed.value(row, scope)
        if let fitted = Self.fit(value, kind) { return fitted }
        let object = value.object
        throw BatchValues.error(
            "The batch update made \(ValueText.of(object)) of row \(row.reference.row), which does not fit \(name).", key: name, object)
    }

    /// Converts a computed value to the attribute's type; an integer attribute drops the fraction.
    private static func fit(_ value: PredicateValue, _ kind: PropertyKind) -> ManagedValue? {
        switch (value, kind) {
        case (.null, _): .null
        case (.text(let text), .string): .text(text)
        case (.double(let number), .double): .double(number)
        case (.integer(let number), .int64): .integer(number)
        case (.integer(let number), .double): .double(Double(number))
        case (.double(let number), .date): .date(number)
        case (.integer(let number), .date): .date(Double(number))
        case (.double(let number), .int16), (.double(let number), .int32), (.double(let number), .int64):
            Int64(exactly: number.rounded(.towardZero)).flatMap { ManagedValue(attributeObject: $0, kind: kind) }
        default: ManagedValue(attributeObject: value.object, kind: kind)
        }
    }
}
