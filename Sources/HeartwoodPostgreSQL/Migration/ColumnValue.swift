import Foundation
import Heartwood
import RecordLog

/// The value of a new column for the rows that one entity had.
enum ColumnValue {
    /// The part of a reference.
    enum Part { case number, entity }

    case null
    /// A former column as it is.
    case column(Int)
    /// A former column of numbers of another type.
    case converted(Int, from: PropertyKind, to: PropertyKind)
    case constant(String)
    /// A former reference, where its destination may still be one.
    case reference(BoundEntity.Field, destinations: Set<Int16>, mustExist: Bool, Part)
    /// The destination that pairs of another storage name.
    case pairs([FormerPairs], owner: Int16, Part)

    /// The former column, where the rows keep what they have in it.
    var column: Int? { if case .column(let column) = self { column } else { nil } }

    /// Whether a value may be lost.
    var isPartial: Bool {
        switch self {
        case .reference, .pairs: true
        default: false
        }
    }

    /// The expression over a former row `o`.
    /// - Parameter family: the row's former family.
    func sql(_ names: WorkingNames, _ family: Int) -> String {
        switch self {
        case .null: return "NULL"
        case .constant(let text): return text
        case .column(let column): return "o." + names.column(family, column)
        case .converted(let column, let old, let new): return Self.converted("o." + names.column(family, column), old, new)
        case .reference(let field, let destinations, let mustExist, let part):
            guard !destinations.isEmpty else { return "NULL" }
            let number = "o." + names.column(family, field.column), entity = names.entity(of: field, family)
            let there = mustExist ? names.existence(of: field, number) : ""
            return "CASE WHEN \(FamilyTable.isOne(entity, of: destinations.sorted()))\(there) THEN \(part == .number ? number : entity) END"
        case .pairs(let pairs, let owner, let part):
            let selections = pairs.flatMap { $0.selections(names) }
            guard !selections.isEmpty else { return "NULL" }
            return "(SELECT p.\(part == .number ? "member" : "member_e") FROM (\(selections.joined(separator: " UNION ALL "))) p"
                + " WHERE p.owner = o.\(FamilyTable.number) AND p.owner_e = \(owner))"
        }
    }

    /// The conversions of the stack's inferred migrations. A value that does not fit is an error of the server.
    static func converted(_ text: String, _ old: PropertyKind, _ new: PropertyKind) -> String {
        guard let before = SQLType(old), let after = SQLType(new) else { return text }
        let number = before == .boolean ? text + "::integer" : text
        switch after {
        case .boolean: return "(\(text) <> 0)"
        case .smallint, .integer, .bigint:
            return [.real, .double, .numeric].contains(before) ? "trunc(\(text))::\(after.name)" : "\(number)::\(after.name)"
        // The shortest decimal that reads as the same number.
        case .numeric where before == .real || before == .double: return "\(text)::double precision::text::numeric"
        default: return "\(number)::\(after.name)"
        }
    }

    /// A value as it stands in a statement.
    static func literal(_ value: ManagedValue, _ type: SQLType) -> String? {
        switch value {
        case .unset, .null, .toMany, .object, .reference: nil
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let number): "\(number)::\(type.name)"
        case .double(let number), .date(let number):
            "'\(number.isInfinite ? number < 0 ? "-Infinity" : "Infinity" : number.isNaN ? "NaN" : "\(number)")'::\(type.name)"
        case .text(let text): "\(SQLName.literal(text))::text"
        case .url(let url): "\(SQLName.literal(url.absoluteString))::text"
        case .data(let data): "decode('\(data.base64EncodedString())', 'base64')"
        case .uuid(let uuid): "'\(uuid.uuidString)'::uuid"
        case .decimal(let number): "'\(number.decimalValue)'::numeric"
        }
    }
}
