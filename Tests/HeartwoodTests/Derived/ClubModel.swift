import Foundation

@testable import Heartwood

/// Clubs in regions with members and tags, and every kind of derived attribute: of the object's own text, one and two steps away, counts and sums
/// over each kind of relationship storage, the time, and one derived from another.
enum ClubModel {
    static func derived(_ name: String, _ type: NSAttributeType, _ format: String) -> NSDerivedAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    static func make(_ change: ([String: NSEntityDescription]) -> Void = { _ in }) -> NSManagedObjectModel {
        let names = ["Region", "Club", "Member", "Captain", "Tag"]
        let entities = Dictionary(uniqueKeysWithValues: names.map { name in
            let entity = NSEntityDescription()
            entity.name = name
            return (name, entity)
        })
        guard let region = entities["Region"], let club = entities["Club"], let member = entities["Member"],
            let captain = entities["Captain"], let tag = entities["Tag"]
        else { return NSManagedObjectModel() }
        let clubs = TestStack.relationship("clubs", to: club, toMany: true)
        let inRegion = TestStack.relationship("region", to: region, toMany: false)
        let members = TestStack.relationship("members", to: member, toMany: true)
        let inClub = TestStack.relationship("club", to: club, toMany: false)
        let tags = TestStack.relationship("tags", to: tag, toMany: true)
        let tagged = TestStack.relationship("members", to: member, toMany: true)
        let queue = TestStack.relationship("queue", to: member, toMany: true, ordered: true)
        let queues = TestStack.relationship("queues", to: club, toMany: true)
        for (a, b) in [(clubs, inRegion), (members, inClub), (tags, tagged), (queue, queues)] { TestStack.connect(a, b) }
        func name() -> NSAttributeDescription { TestStack.attribute("name", .stringAttributeType) }
        region.properties = [
            name(), clubs, derived("clubCount", .integer16AttributeType, "clubs.@count"),
            derived("dues", .integer64AttributeType, "clubs.@sum.dues"),
        ]
        let count = derived("memberCount", .integer64AttributeType, "members.@count")
        let search = derived("search", .stringAttributeType, "canonical:(name)")
        club.properties = [
            name(), inRegion, members, queue, count, search, derived("dues", .integer64AttributeType, "members.@sum.dues"),
            derived("height", .doubleAttributeType, "queue.@sum.height"),
            derived("queueCount", .integer32AttributeType, "queue.@count"),
        ]
        club.indexes = [TestStack.index("byCount", [count]), TestStack.index("bySearch", [search])]
        member.properties = [
            name(), TestStack.attribute("dues", .integer32AttributeType, default: 0), TestStack.attribute("height", .doubleAttributeType),
            inClub, tags, queues, derived("upper", .stringAttributeType, "uppercase:(name)"),
            derived("touched", .dateAttributeType, "now()"),
            derived("clubName", .stringAttributeType, "club.name"),
            derived("regionName", .stringAttributeType, "lowercase:(club.region.name)"),
        ]
        captain.properties = [TestStack.attribute("rank", .stringAttributeType)]
        member.subentities = [captain]
        tag.properties = [
            name(), tagged, derived("use", .integer32AttributeType, "members.@count"),
            derived("dues", .decimalAttributeType, "members.@sum.dues"),
        ]
        change(entities)
        let model = NSManagedObjectModel()
        model.entities = names.compactMap { entities[$0] }
        return model
    }
}
