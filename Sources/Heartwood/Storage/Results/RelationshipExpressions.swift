import Foundation
import RecordLog

/// An expression over a relationship's destination, by table ID: several tables may contain the destination's rows.
struct DestinationExpressions {
    private(set) var byTable: [(any RowExpression)?] = []

    mutating func set(_ expression: any RowExpression, for table: TableID) {
        let id = Int(table.rawValue)
        while byTable.count <= id { byTable.append(nil) }
        byTable[id] = expression
    }

    func value(_ reference: RowReference, _ scope: QueryScope) throws -> PredicateValue {
        let id = Int(reference.table.rawValue)
        guard id < byTable.count, let expression = byTable[id], let row = try scope.row(reference) else { return .null }
        return try expression.value(row, scope)
    }
}

/// A value of the object that a to-one relationship refers to; null where it refers to none.
final class ToOneExpression: PropertyExpression {
    let runtime: EntityRuntime
    let property: Int
    let destinations: DestinationExpressions

    init(_ runtime: EntityRuntime, _ property: Int, _ destinations: DestinationExpressions) {
        self.runtime = runtime
        self.property = property
        self.destinations = destinations
    }

    func value(at access: ColumnAccess, of row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        return try destinations.value(row.reference(access), scope)
    }
}

/// The values of a to-many relationship's members, as a collection.
final class MembersExpression: RowExpression {
    private let source: MemberSources
    private let destinations: DestinationExpressions
    /// Whether a member without a value is given by its row.
    private let givesReferences: Bool

    init(_ source: MemberSources, _ destinations: DestinationExpressions, givesReferences: Bool = false) {
        self.source = source
        self.destinations = destinations
        self.givesReferences = givesReferences
    }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        var values: [PredicateValue] = []
        try scope.forEachMember(of: row.reference, in: source) { member in
            let value = try destinations.value(member, scope)
            if let members = value.members {
                values += members
            } else {
                values.append(value.isNull && givesReferences ? .other(MemberReference(member)) : value)
            }
            return true
        }
        return .collection(values)
    }
}

/// The number of a to-many relationship's members, counted in the index.
final class MemberCountExpression: RowExpression {
    private let source: MemberSources

    init(_ source: MemberSources) {
        self.source = source
    }

    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        .integer(Int64(try scope.memberCount(of: row.reference, in: source)))
    }
}

/// The object's own ID.
final class IdentityExpression: RowExpression {
    func value(_ row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue { scope.view.identity(of: row.reference) }
}

/// The ID of a to-one relationship's destination.
final class ReferenceExpression: PropertyExpression {
    let runtime: EntityRuntime
    let property: Int

    init(_ runtime: EntityRuntime, _ property: Int) {
        self.runtime = runtime
        self.property = property
    }

    func value(at access: ColumnAccess, of row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        return scope.view.identity(of: row.reference(access))
    }
}

/// The value of an attribute that predicates cannot compare: an archived object, or data outside the row.
final class OpaqueExpression: PropertyExpression {
    let runtime: EntityRuntime
    let property: Int

    init(_ runtime: EntityRuntime, _ property: Int) {
        self.runtime = runtime
        self.property = property
    }

    func value(at access: ColumnAccess, of row: UnsafeRowView, _ scope: QueryScope) throws -> PredicateValue {
        guard runtime.properties[property].kind == .externalData else {
            return PredicateValue(AttributeTransformer.object(Data(row.bytes(access)), of: runtime.entity.propertiesByIndex[property]))
        }
        return try scope.view.snapshot.value(access, of: row).map { .data(try Data($0)) } ?? .null
    }
}

extension RecordLogView {
    /// Returns the ID of a row's object; null where the reference is none.
    func identity(of reference: RowReference) -> PredicateValue {
        guard !reference.isNone, let runtime = schema.table(reference.table)?.runtime else { return .null }
        return .objectID(NSManagedObjectID(entity: runtime.entity, key: key(reference), store: runtime.holder, contextToken: 0))
    }
}
