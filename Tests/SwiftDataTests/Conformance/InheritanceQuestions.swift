import Foundation
import SwiftData
import Testing

private let article = Source.reference("adopting-inheritance-in-swiftdata")
private let session = Source.wwdc(2025, 291, "SwiftData: Dive into inheritance and schema migration")

@Suite struct InheritanceQuestions {
    private func town(_ kind: StoreKind) throws -> Stack {
        let stack = try Stack(kind, Building.self, House.self, Villa.self, Barn.self, Room.self, Owner.self)
        try stack.save(
            Building(name: "hall"), House(name: "home", floors: 2), Villa(name: "lake", floors: 3, hasPool: true), Barn(name: "farm", cows: 9))
        return stack
    }

    @Test(article, arguments: StoreKind.allCases)
    func `A subclass has the properties of its superclasses, and stores them`(kind: StoreKind) throws {
        let villa = try #require(try town(kind).stored(Villa.self).first)
        #expect(villa.name == "lake" && villa.floors == 3 && villa.hasPool)
    }

    @Test(session, arguments: StoreKind.allCases)
    func `A fetch of the superclass finds the models of its subclasses`(kind: StoreKind) throws {
        let found = try town(kind).stored(Building.self, by: SortDescriptor(\.name))
        #expect(found.map(\.name) == ["farm", "hall", "home", "lake"])
    }

    @Test(session, arguments: StoreKind.allCases)
    func `A fetch of a subclass finds its own models and those of classes below`(kind: StoreKind) throws {
        let stack = try town(kind)
        #expect(try stack.stored(House.self, by: SortDescriptor(\.floors)).map(\.name) == ["home", "lake"])
        #expect(try stack.count(Barn.self) == 1)
    }

    @Test(article, arguments: StoreKind.allCases)
    func `A model that was found as its superclass is of its own class`(kind: StoreKind) throws {
        let found = try town(kind).stored(Building.self, by: SortDescriptor(\.name))
        #expect((found[0] as? Barn)?.cows == 9 && found[1] as? House == nil && (found[3] as? Villa)?.hasPool == true)
    }

    @Test(session, arguments: StoreKind.allCases)
    func `A count of the superclass counts the subclasses`(kind: StoreKind) throws {
        #expect(try town(kind).count(Building.self) == 4)
    }

    @Test(session, arguments: StoreKind.allCases)
    func `A predicate on a property of the superclass holds for the subclasses`(kind: StoreKind) throws {
        let context = try town(kind).other()
        let wanted = FetchDescriptor<Building>(predicate: #Predicate { $0.name.contains("a") }, sortBy: [SortDescriptor(\.name)])
        #expect(try context.fetch(wanted).map(\.name) == ["farm", "hall", "lake"])
        #expect(try context.fetchCount(FetchDescriptor<Villa>(predicate: #Predicate { $0.name == "lake" && $0.floors == 3 })) == 1)
    }

    @Test(article, arguments: StoreKind.allCases)
    func `A relationship of the superclass holds models of the subclasses, with its delete rule`(kind: StoreKind) throws {
        let stack = try town(kind), villa = try #require(try stack.context.fetch(FetchDescriptor<Villa>()).first)
        villa.rooms = [Room(purpose: "bath")]
        try stack.context.save()
        let room = try #require(try stack.stored(Room.self).first)
        #expect((room.building as? Villa)?.hasPool == true)
        stack.context.delete(villa)
        try stack.context.save()
        #expect(try stack.count(Room.self) == 0)
    }

    @Test(article, arguments: StoreKind.allCases)
    func `A subclass has relationships of its own`(kind: StoreKind) throws {
        let stack = try town(kind), owner = Owner(name: "Ada")
        owner.houses = try stack.context.fetch(FetchDescriptor<House>())
        try stack.context.save()
        #expect(Set(try stack.stored(Owner.self).flatMap { $0.houses.map(\.name) }) == ["home", "lake"])
        #expect(try stack.stored(Villa.self).first?.owner?.name == "Ada")
    }

    @Test(.reference("modelcontext/delete(model:where:includesubclasses:)"), arguments: StoreKind.allCases)
    func `The deletion of a class's models includes its subclasses unless it is told not to`(kind: StoreKind) throws {
        let stack = try town(kind)
        try stack.context.delete(model: House.self, includeSubclasses: false)
        try stack.context.save()
        #expect(try stack.stored(Building.self, by: SortDescriptor(\.name)).map(\.name) == ["farm", "hall", "lake"])
        try stack.context.delete(model: Building.self)
        try stack.context.save()
        #expect(try stack.count(Building.self) == 0)
    }

    @Test(session, arguments: StoreKind.allCases)
    func `The schema has an entity for each class that is listed, with its superclass`(kind: StoreKind) throws {
        let schema = try town(kind).container.schema, villa = try #require(schema.entity(for: Villa.self))
        #expect(villa.superentityName == "House" && villa.superentity?.superentity?.name == "Building")
        #expect(Set(try #require(schema.entity(for: Building.self)).subentities.map(\.name)) == ["House", "Barn"])
        #expect(villa.storedPropertiesByName.keys.sorted() == ["hasPool"])
        #expect(Set(villa.inheritedPropertiesByName.keys) == ["name", "rooms", "floors", "owner"])
    }

    @Test(session, arguments: StoreKind.allCases)
    func `A change of a subclass's model is seen by those who fetch the superclass`(kind: StoreKind) throws {
        let stack = try town(kind), barn = try #require(try stack.context.fetch(FetchDescriptor<Barn>()).first)
        barn.cows = 10
        barn.name = "dairy"
        try stack.context.save()
        let found = try #require(try stack.stored(Building.self, by: SortDescriptor(\.name)).first as? Barn)
        #expect(found.name == "dairy" && found.cows == 10 && found.persistentModelID == barn.persistentModelID)
        #expect(found.persistentModelID.entityName == "Barn")
    }
}
