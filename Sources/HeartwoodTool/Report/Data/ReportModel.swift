/// The entities of a store, with what they take.
struct ReportModel: Encodable {
    struct Attribute: Encodable {
        var name: String
        var type: String
        var isOptional: Bool
        /// Default, derivation, transformer, limits: as `model` shows them.
        var remarks: String
        /// Whether a row beyond the sample has a value, where no row of the sample has one; nil if that is not known.
        var isUsed: Bool?
    }

    struct Relationship: Encodable {
        var name: String
        var destination: String
        var multiplicity: String
        var inverse: String?
        var rule: String
        var isOrdered: Bool
    }

    struct Index: Encodable {
        var name: String
        var elements: String
        /// nil where the store does not say.
        var entries: UInt64?
        var bytes: UInt64?
    }

    struct Entity: Encodable {
        var name: String
        var isAbstract: Bool
        var parent: String?
        var className: String?
        /// nil for an abstract entity, and where the store cannot say.
        var objects: Int?
        var bytes: UInt64?
        var attributes: [Attribute]
        var relationships: [Relationship]
        /// The attributes of each constraint.
        var unique: [String]
        var indexes: [Index]
    }

    var name: String
    var version: String?
    var entities: [Entity]
    var warnings: [String]
}
