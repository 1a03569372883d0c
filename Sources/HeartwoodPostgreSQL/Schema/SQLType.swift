import Heartwood

/// The type of a column.
enum SQLType: String, Sendable {
    case boolean, smallint, integer, bigint, real, uuid, numeric, bytea
    case double = "double precision"
    case text = "text COLLATE \"C\""

    /// The type for a property; nil for one without a column.
    init?(_ kind: PropertyKind) {
        switch kind {
        case .bool: self = .boolean
        case .int16: self = .smallint
        case .int32: self = .integer
        case .int64, .toOne: self = .bigint
        case .float: self = .real
        // A timestamp would be rounded to microseconds, and two dates that differ could become equal.
        case .double, .date: self = .double
        case .decimal: self = .numeric
        case .string, .uri: self = .text
        case .data, .externalData, .transformable: self = .bytea
        case .uuid: self = .uuid
        case .objectID, .undefined, .toMany: return nil
        }
    }

    /// The type's name without a collation.
    var name: String { self == .text ? "text" : rawValue }
}
