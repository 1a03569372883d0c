import Foundation
import SwiftData
import Testing

private func rule(_ name: String) -> Source { .reference("schema/relationship/deleterule-swift.enum/\(name)") }
private let table = Source.source(
    "Zenn, SwiftData DeleteRule observations by samekard", "https://zenn.dev/samekard_dev/articles/c1bdeb2ae2b095")
private let cascades = Source.source(
    "Hacking with Swift, How to create cascade deletes using relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-create-cascade-deletes-using-relationships")

@Suite struct DeleteRuleQuestions {
    @Test(rule("nullify"), arguments: StoreKind.allCases)
    func `Without a rule a deletion leaves the related models, and makes their reference nil`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak"), sign = Sign(text: "Oak", plant: plant)
        try stack.save(sign)
        stack.context.delete(plant)
        try stack.context.save()
        #expect(sign.plant == nil)
        #expect(try stack.stored(Sign.self).map { $0.plant == nil } == [true])
    }

    @Test(rule("nullify"), arguments: StoreKind.allCases)
    func `A deleted model leaves the arrays that it is in`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), beds = [Bed(number: 1), Bed(number: 2)]
        garden.beds = beds
        try stack.save(garden)
        stack.context.delete(beds[0])
        try stack.context.save()
        #expect(garden.beds == [beds[1]])
        #expect(try stack.stored(Garden.self).first?.beds.map(\.number) == [2])
    }

    @Test(rule("nullify"), arguments: StoreKind.allCases)
    func `A deletion leaves the models of a many-to-many relationship`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), gardener = Gardener(name: "Ada")
        garden.gardeners = [gardener]
        try stack.save(garden)
        stack.context.delete(garden)
        try stack.context.save()
        #expect(gardener.gardens.isEmpty)
        #expect(try stack.count(Gardener.self) == 1)
    }

    @Test(rule("cascade"), arguments: StoreKind.allCases)
    func `Cascade deletes the related models`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        garden.beds = [Bed(number: 1), Bed(number: 2)]
        try stack.save(garden, Bed(number: 3))
        stack.context.delete(garden)
        try stack.context.save()
        #expect(try stack.stored(Bed.self).map(\.number) == [3])
    }

    @Test(cascades, arguments: StoreKind.allCases)
    func `Cascades go on through the relationships of the models that they delete`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), plant = Plant(name: "oak")
        garden.beds = [Bed(number: 1, plants: [plant, Plant(name: "elm")])]
        plant.sign = Sign(text: "Oak")
        try stack.save(garden)
        stack.context.delete(garden)
        try stack.context.save()
        #expect(try stack.count(Plant.self) == 0)
        #expect(try stack.stored(Sign.self).map { $0.plant == nil } == [true])
    }

    @Test(cascades, arguments: StoreKind.allCases)
    func `A cascade does not go upwards: the deletion of a part leaves the whole`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), bed = Bed(number: 1, garden: Garden(name: "Kew"))
        try stack.save(bed)
        stack.context.delete(bed)
        try stack.context.save()
        #expect(try stack.stored(Garden.self).map(\.beds.count) == [0])
    }

    @Test(table, arguments: StoreKind.allCases)
    func `Two cascades against each other delete both models, from either end`(kind: StoreKind) throws {
        for fromFlower in [true, false] {
            let stack = try Stack(kind, Flower.self), flower = Flower(name: "rose"), bee = Bee(name: "Maya", flower: flower)
            try stack.save(bee, Flower(name: "lily"))
            if fromFlower { stack.context.delete(flower) } else { stack.context.delete(bee) }
            try stack.context.save()
            #expect(try stack.count(Bee.self) == 0)
            #expect(try stack.stored(Flower.self).map(\.name) == ["lily"])
        }
    }

    @Test(rule("deny"), arguments: StoreKind.allCases)
    func `Deny prevents the deletion of a model that has references to others`(kind: StoreKind) throws {
        let stack = try Stack(kind, Shed.self), shed = Shed(name: "big"), rake = Rake(teeth: 9, shed: shed)
        try stack.save(rake)
        stack.context.delete(shed)
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(try stack.count(Shed.self) == 1)
        stack.context.rollback()
        #expect(!shed.isDeleted && shed.rakes == [rake])
    }

    @Test(rule("deny"), arguments: StoreKind.allCases)
    func `Deny lets a model go that has no references, or whose references go too`(kind: StoreKind) throws {
        let stack = try Stack(kind, Shed.self), empty = Shed(name: "empty"), shed = Shed(name: "big"), rake = Rake(teeth: 9, shed: shed)
        try stack.save(empty, rake)
        stack.context.delete(empty)
        try stack.context.save()
        stack.context.delete(rake)
        stack.context.delete(shed)
        try stack.context.save()
        #expect(try stack.count(Shed.self) == 0)
    }

    @Test(table, arguments: StoreKind.allCases)
    func `The end that names no rule may be deleted although the other one denies`(kind: StoreKind) throws {
        let stack = try Stack(kind, Shed.self), rake = Rake(teeth: 9, shed: Shed(name: "big"))
        try stack.save(rake)
        stack.context.delete(rake)
        try stack.context.save()
        #expect(try stack.stored(Shed.self).map(\.rakes.count) == [0])
    }

    @Test(rule("noaction"), arguments: StoreKind.allCases)
    func `No action changes nothing of the related models`(kind: StoreKind) throws {
        let stack = try Stack(kind, Pond.self), pond = Pond(depth: 2)
        pond.fish = [Fish(name: "koi")]
        try stack.save(pond)
        stack.context.delete(pond)
        try stack.context.save()
        #expect(try stack.count(Pond.self) == 0)
        #expect(try stack.stored(Fish.self).map(\.name) == ["koi"])
    }

    @Test(
        .source(
            "Hacking with Swift, Common SwiftData errors and their solutions",
            "https://www.hackingwithswift.com/quick-start/swiftdata/common-swiftdata-errors-and-their-solutions"),
        arguments: StoreKind.allCases)
    func `A deletion that would make a required reference nil cannot be saved`(kind: StoreKind) throws {
        let stack = try Stack(kind, Nest.self), nest = Nest(place: "oak")
        try stack.save(Egg(weight: 5, nest: nest))
        stack.context.delete(nest)
        #expect(throws: (any Error).self) { try stack.context.save() }
        stack.context.rollback()
        #expect(try stack.count(Nest.self) == 1)
    }

    @Test(.reference("deleting-persistent-data-from-your-app"), arguments: StoreKind.allCases)
    func `The deletion of all models of a class follows their delete rules`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), gardener = Gardener(name: "Ada")
        garden.beds = [Bed(number: 1, plants: [Plant(name: "oak")])]
        garden.gardeners = [gardener]
        try stack.save(garden, Garden(name: "Wisley"))
        try stack.context.delete(model: Garden.self)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0 && stack.count(Plant.self) == 0)
        #expect(try stack.stored(Gardener.self).map(\.gardens.count) == [0])
    }

    @Test(.reference("modelcontext/delete(_:)"), arguments: StoreKind.allCases)
    func `Models that a rule will delete can be kept by giving them away first`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1, garden: garden)
        try stack.save(bed)
        bed.garden = nil
        stack.context.delete(garden)
        try stack.context.save()
        #expect(try stack.stored(Bed.self).map(\.number) == [1])
    }
}
