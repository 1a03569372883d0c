import Foundation
import RecordLog

/// By table ID: an expression over a relationship's destination, whose rows may lie in several tables.
struct DestinationExpressions {
    private var byTable: [RowExpression?] = []

    mutating func set(_ expression: RowExpression, for table: TableID) {
        let id = Int(table.rawValue)
        while byTable.count <= id { byTable.append(nil) }
        byTable[id] = expression
    }

    func value(_ reference: RowReference, _ scope: QueryScope) throws -> PredicateValue {
        let id = Int(reference.table.rawValue)
        guard id < byTable.count, let expression = byTable[id], let row = try scope.view.snapshot.row(reference) else { return .null }
        return try expression.value(row, scope)
    }
}

/// A value of the object at the other end of a to-one relationship; null without one.
final class ToOneExpression: PropertyExpression {
    private let destinations: DestinationExpressions

    init(_ runtime: EntityRuntime, _ property: Int, _ destinations: DestinationExpressions) {
        self.destinations = destinations
        super.init(runtime, property)
    }

    override func value(at access: ColumnAccess, of row: RowView, _ scope: QueryScope) throws -> PredicateValue {
        return try destinations.value(row.reference(access), scope)
    }
}

/// The values of a to-many relationship's members, as a collection.
final class MembersExpression: RowExpression {
    private let source: MemberSource
    private let destinations: DestinationExpressions

    init(_ source: MemberSource, _ destinations: DestinationExpressions) {
        self.source = source
        self.destinations = destinations
    }

    override func value(_ row: RowView, _ scope: QueryScope) throws -> PredicateValue {
        var values: [PredicateValue] = []
        try scope.view.forEachMember(of: row.reference, in: source) { member in
            let value = try destinations.value(member, scope)
            if let members = value.members { values += members } else { values.append(value) }
            return true
        }
        return .collection(values)
    }
}

/// How many members a to-many relationship has; counted in the index.
final class MemberCountExpression: RowExpression {
    private let source: MemberSource

    init(_ source: MemberSource) {
        self.source = source
    }

    override func value(_ row: RowView, _ scope: QueryScope) throws -> PredicateValue {
        .integer(Int64(try scope.view.memberCount(of: row.reference, in: source)))
    }
}

/// The ID of the object itself.
final class IdentityExpression: RowExpression {
    override func value(_ row: RowView, _ scope: QueryScope) throws -> PredicateValue { scope.view.identity(of: row.reference) }
}

/// The ID of a to-one relationship's destination.
final class ReferenceExpression: PropertyExpression {
    override func value(at access: ColumnAccess, of row: RowView, _ scope: QueryScope) throws -> PredicateValue {
        return scope.view.identity(of: row.reference(access))
    }
}

/// The value of an attribute that predicates do not compare: an archived one, or data outside its row.
final class OpaqueExpression: PropertyExpression {
    override func value(at access: ColumnAccess, of row: RowView, _ scope: QueryScope) throws -> PredicateValue {
        guard runtime.properties[property].kind == .externalData else {
            return PredicateValue(AttributeTransformer.object(Data(row.bytes(access)), of: runtime.entity.frozenProperties[property]))
        }
        return try scope.view.snapshot.value(access, of: row).map { .data(try Data($0)) } ?? .null
    }
}

extension RecordLogView {
    /// The ID of the object that a row is; null where the reference names none.
    fileprivate func identity(of reference: RowReference) -> PredicateValue {
        guard !reference.isNone, let runtime = schema.table(reference.table)?.runtime else { return .null }
        return .objectID(NSManagedObjectID(entity: runtime.entity, key: key(reference), store: runtime.holder, contextToken: 0))
    }
}
