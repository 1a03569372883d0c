/// What two states of a store do not have alike.
struct ReportDifference: Encodable {
    struct Property: Encodable {
        var name: String
        var old: String?
        var new: String?
    }

    struct Object: Encodable {
        /// "inserted", "updated" or "deleted".
        var kind: String
        var entity: String
        var id: String
        var properties: [Property]
    }

    var old: String
    var new: String
    /// By kind, all of them.
    var counts: [String: Int]
    /// The first ones.
    var objects: [Object]
}
