import Heartwood

/// The table of a root entity and its subentities.
///
/// A row has its number, which no other row of the family has, the number of its entity, and its version.
struct FamilyTable: Sendable {
    static let number = "_id", entity = "_e", version = "_v"
    /// The names of the server's own columns, which a table cannot have: https://www.postgresql.org/docs/15/ddl-system-columns.html
    static let reserved: Set<String> = [number, entity, version, "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]

    /// The condition that a row is of one of these entities.
    static func isOne(of numbers: [Int16]) -> String { isOne(entity, of: numbers) }

    /// The condition that an expression is one of these entities' numbers.
    static func isOne(_ expression: String, of numbers: some Collection<Int16>) -> String {
        "\(expression) IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }

    struct Column: Sendable, Equatable {
        let name: String
        /// The name as it stands in statements.
        let quoted: String
        let type: SQLType
        /// The family that a reference leads to; nil for an attribute.
        var family: Int?
        /// Whether the server checks that the row of a reference is there.
        var isChecked = false

        init(name: String, type: SQLType) { (self.name, quoted, self.type) = (name, SQLName.quoted(name), type) }
    }

    struct Index: Sendable, Equatable {
        struct Part: Sendable, Equatable {
            let column: Int
            let isAscending: Bool
        }

        let name: String
        let parts: [Part]
    }

    /// A uniqueness constraint.
    struct Constraint: Sendable {
        /// The number that the tables of the schema give it.
        let number: UInt16
        let name: String
        let attributes: [String]
        let columns: [Int]
        /// The numbers of the entities that it covers; nil for all of the family.
        let entities: [Int16]?
    }

    let name: String
    /// The name as it stands in statements, behind that of the schema.
    let quoted: String
    let sequenceName: String
    /// The sequence of the rows' numbers, as it stands in statements.
    let sequence: String
    var columns: [Column] = []
    var indexes: [Index] = []
    var constraints: [Constraint] = []
}

/// The table of a relationship's pairs.
struct LinkTable: Sendable {
    static let source = "source", destination = "destination", sourceEntity = "source_e", destinationEntity = "destination_e"
    static let position = "position", inversePosition = "inverse_position"

    let name: String
    let quoted: String
    let sourceFamily: Int
    let destinationFamily: Int
    let isOrdered: Bool
    /// Whether the other side has an order of its own.
    let isInverseOrdered: Bool
    /// Whether a destination has at most one source.
    let isExclusive: Bool

    /// All columns, in the order of the table.
    var columns: [String] {
        [Self.source, Self.sourceEntity, Self.destination, Self.destinationEntity] + (isOrdered ? [Self.position] : [])
            + (isInverseOrdered ? [Self.inversePosition] : [])
    }
}
