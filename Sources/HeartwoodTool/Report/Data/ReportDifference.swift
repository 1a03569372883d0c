/// What two states of a store do not have alike.
struct ReportDifference: Encodable {
    struct Property: Encodable {
        var name: String
        var old: String?
        var new: String?
        /// Of dates: milliseconds since 1970-01-01 UTC. The page shows them in the reader's zone.
        var oldTime: Double?
        var newTime: Double?
    }

    struct Object: Encodable {
        /// "inserted", "updated" or "deleted".
        var kind: String
        var entity: String
        var id: String
        var properties: [Property]
    }

    /// The objects of an entity in both states; nil where the entity is not there.
    struct Count: Encodable {
        var entity: String
        var old: Int?
        var new: Int?
    }

    struct ModelChange: Encodable {
        /// "+", "-" or "~".
        var sign: String
        var element: String
        var text: String
    }

    var old: String
    var new: String
    var entities: [Count]
    var model: [ModelChange]
    /// The reason why objects are not compared one by one.
    var note: String?
    /// By kind, all of them.
    var counts: [String: Int] = [:]
    /// The first ones.
    var objects: [Object] = []
}
