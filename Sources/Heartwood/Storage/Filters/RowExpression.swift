import Foundation
import RecordLog

/// A node of a compiled expression, bound to one table, which computes a value from row bytes.
protocol RowExpression: AnyObject {
    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue
}

final class ConstantExpression: RowExpression {
    private let constant: PredicateValue

    init(_ constant: PredicateValue) {
        self.constant = constant
    }

    var isNull: Bool { constant.isNull }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue { constant }
}

/// A value computed from one column; null where the column is null.
protocol PropertyExpression: RowExpression {
    var runtime: EntityRuntime { get }
    var property: Int { get }
    func value(at access: ColumnAccess, of row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue
}

extension PropertyExpression {
    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        guard let access = runtime.access(property, in: row) else { return .null }
        return try value(at: access, of: row, scope)
    }
}

/// An attribute's value, as key-value coding returns it.
final class ColumnExpression: PropertyExpression {
    let runtime: EntityRuntime
    let property: Int
    private let kind: PropertyKind

    init(_ runtime: EntityRuntime, _ property: Int) {
        self.runtime = runtime
        self.property = property
        kind = runtime.properties[property].kind
    }

    func value(at access: ColumnAccess, of row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        switch kind {
        case .bool: return .integer(row.int64(access) != 0 ? 1 : 0)
        case .int16, .int32, .int64: return .integer(row.int64(access))
        case .float, .double: return .double(row.double(access))
        case .date: return .date(row.double(access))
        case .string: return .text(String(stored: row.bytes(access)))
        case .decimal: return .decimal(Decimal(row.decimal(access)))
        case .uuid: return .uuid(UUID(storedBytes: row.uuid(access)))
        case .data: return .data(Data(row.bytes(access)))
        case .uri: return URL(string: String(stored: row.bytes(access))).map(PredicateValue.url) ?? .null
        case .externalData, .transformable, .objectID, .undefined, .toOne, .toMany: return .null
        }
    }
}

final class CallExpression: RowExpression {
    private let function: PredicateFunction
    private let arguments: [any RowExpression]

    init(_ function: PredicateFunction, _ arguments: [any RowExpression]) {
        self.function = function
        self.arguments = arguments
    }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        function.apply(try arguments.map { try $0.value(row, scope) })
    }
}

final class ListExpression: RowExpression {
    private let parts: [any RowExpression]

    init(_ parts: [any RowExpression]) {
        self.parts = parts
    }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        .collection(try parts.map { try $0.value(row, scope) })
    }
}

final class ConditionalExpression: RowExpression {
    private let test: RowFilter
    private let first: any RowExpression
    private let second: any RowExpression

    init(_ test: RowFilter, _ first: any RowExpression, _ second: any RowExpression) {
        self.test = test
        self.first = first
        self.second = second
    }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        try test.matches(row, scope) ? first.value(row, scope) : second.value(row, scope)
    }
}
