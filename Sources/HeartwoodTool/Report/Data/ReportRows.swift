/// A sample of each entity's rows.
struct ReportRows: Encodable {
    struct Column: Encodable {
        enum End: String, Encodable {
            case one, many
        }

        var name: String
        /// As models spell it; nil for a relationship.
        var type: String?
        /// nil for an attribute.
        var end: End?
        /// The entity to which a relationship leads.
        var destination: String?
    }

    struct Row: Encodable {
        /// The position of the entity in the list of tables, a dot, and the last part of the object's URI.
        var id: String
        /// One for each column.
        var cells: [ReportCell]
        /// Whether it is here beside the sample: another row refers to it, a query finds it, or one of the newest commits changed it.
        var isEnd: Bool?
    }

    struct Table: Encodable {
        var entity: String
        /// All objects, without those of subentities.
        var objects: Int?
        var columns: [Column]
        /// The column that names an object to a person.
        var label: Int?
        var rows: [Row]
        /// The reason why rows are missing.
        var failure: String?
    }

    /// The most rows of the sample of an entity.
    var limit: Int
    /// The URI of an object up to its entity.
    var prefix: String
    var tables: [Table]
}
