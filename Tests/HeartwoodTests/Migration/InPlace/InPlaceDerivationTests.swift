import Foundation
import Testing

@testable import Heartwood

/// Derived attributes after a migration in place have the values of the new version.
struct InPlaceDerivationTests {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute
    typealias Relationship = ModelVersion.Relationship

    @Test
    func `Derived attributes follow names that change their meaning`() throws {
        let low = Attribute(name: "low", derivation: "lowercase:(a)")
        let version = ModelVersion(Entity(name: "Note", attributes: [Attribute(name: "a"), Attribute(name: "b"), low]))
        let changes: [([Attribute], String?)] = [
            ([Attribute(name: "a", was: "b"), Attribute(name: "b", was: "a")], "bb"), ([Attribute(name: "a", was: "b")], "bb"),
            ([Attribute(name: "a", was: "what nobody was")], nil),
        ]
        for (attributes, expected) in changes {
            let store = try VersionedStore(version) { $0.make("Note", ["a": "AA", "b": "BB"]) }
            // Renaming identifiers do not change the version, so an attribute is added.
            let after = ModelVersion(Entity(name: "Note", attributes: attributes + [low, Attribute(name: "added")]))
            #expect(try store.migrated(to: after).all("Note").map { $0.value(forKey: "low") as? String } == [expected])
        }
    }

    @Test
    func `Derived attributes follow relationships that swap names`() throws {
        var version = ModelVersion(
            Entity(
                name: "Group",
                attributes: [Attribute(name: "name"), Attribute(name: "count", type: .integer64AttributeType, derivation: "members.@count")],
                relationships: [Relationship(name: "members", destination: "Member", inverse: "group"), Relationship(name: "guests", destination: "Member", inverse: "host")]),
            Entity(
                name: "Member", attributes: [Attribute(name: "of", derivation: "group.name")], relationships: [
                    Relationship(name: "group", destination: "Group", inverse: "members", isToMany: false),
                    Relationship(name: "host", destination: "Group", inverse: "guests", isToMany: false),
                ]))
        let store = try VersionedStore(version) { context in
            let groups = ["g", "h"].map { context.make("Group", ["name": $0]) }
            for _ in 0..<3 { context.make("Member", ["group": groups[0], "host": groups[1]]) }
        }
        version["Group"].attributes.append(Attribute(name: "added"))
        for (entity, pair) in [("Group", ["members", "guests"]), ("Member", ["group", "host"])] {
            version[entity].relationships[0].was = pair[1]
            version[entity].relationships[1].was = pair[0]
        }
        let context = try store.migrated(to: version)
        #expect(try context.all("Group").map { $0.value(forKey: "count") as? Int } == [0, 3])
        #expect(Set(try context.all("Member").map { $0.value(forKey: "of") as? String }) == ["h"])
        try store.close()
        #expect(try store.problems == [])
    }

    /// The version has changed by then, so that the store could never be opened again.
    @Test
    func `A sum that does not fit its attribute is null until a save`() throws {
        var version = ModelVersion(
            Entity(name: "Group", relationships: [Relationship(name: "members", destination: "Member", inverse: "group")]),
            Entity(
                name: "Member", attributes: [Attribute(name: "amount", type: .integer64AttributeType)],
                relationships: [Relationship(name: "group", destination: "Group", inverse: "members", isToMany: false)]))
        let store = try VersionedStore(version) { context in
            for amount in [30_000, 5] {
                let group = context.make("Group")
                for _ in 0..<3 { context.make("Member", ["amount": amount, "group": group]) }
            }
        }
        version["Group"].attributes = [Attribute(name: "total", type: .integer16AttributeType, derivation: "members.@sum.amount")]
        let context = try store.migrated(to: version)
        #expect(try context.all("Group").map { $0.value(forKey: "total") as? Int } == [nil, 15])
        let member = try context.all("Member")[0]
        member.setValue(29_000, forKey: "amount")
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationNumberTooLargeError)
        member.setValue(-40_000, forKey: "amount")
        try context.save()
        #expect(try store.anew().all("Group").map { $0.value(forKey: "total") as? Int } == [20_000, 15])
        version["Group"].attributes[0].type = .integer64AttributeType
        #expect(try store.migrated(to: version).all("Group").map { $0.value(forKey: "total") as? Int } == [20_000, 15])
    }
}
