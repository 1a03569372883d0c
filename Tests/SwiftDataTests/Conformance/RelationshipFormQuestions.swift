import Foundation
import SwiftData
import Testing

private let inferred = Source.source(
    "Hacking with Swift, Inferred vs explicit relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/inferred-vs-explicit-relationships")
private let cascades = Source.source(
    "Hacking with Swift, How to create cascade deletes using relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-create-cascade-deletes-using-relationships")
private let table = Source.source(
    "Zenn, SwiftData DeleteRule observations by samekard", "https://zenn.dev/samekard_dev/articles/c1bdeb2ae2b095")

@Suite struct RelationshipFormQuestions {
    @Test(inferred, arguments: StoreKind.allCases)
    func `A class may lead to another one by two relationships, each with its inverse`(kind: StoreKind) throws {
        let stack = try Stack(kind, Flight.self), oslo = Airport(code: "OSL"), bergen = Airport(code: "BGO")
        try stack.save(Flight(number: "1", from: oslo, to: bergen), Flight(number: "2", from: bergen, to: oslo))
        #expect(oslo.departures.map(\.number) == ["1"] && oslo.arrivals.map(\.number) == ["2"])
        let found = try stack.stored(Airport.self, by: SortDescriptor(\.code))
        #expect(found.map { $0.departures.map(\.number) } == [["2"], ["1"]] && found.map { $0.arrivals.map(\.number) } == [["1"], ["2"]])
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `A class may lead to another one by two relationships that it knows nothing of`(kind: StoreKind) throws {
        let stack = try Stack(kind, Match.self), home = Team(name: "a"), guest = Team(name: "b")
        try stack.save(Match(day: 1, home: home, guest: guest), Match(day: 2, home: guest, guest: home), Match(day: 3, home: home, guest: home))
        let found = try stack.stored(Match.self, by: SortDescriptor(\.day))
        #expect(found.map { $0.home?.name } == ["a", "b", "a"] && found.map { $0.guest?.name } == ["b", "a", "a"])
        #expect(try stack.count(Team.self) == 2)
    }

    @Test(cascades, arguments: StoreKind.allCases)
    func `Cascade deletes models that must have their owner`(kind: StoreKind) throws {
        let stack = try Stack(kind, Cutter.self), cutter = Cutter(name: "Fram"), other = Cutter(name: "Vasa")
        try stack.save(Sail(area: 10, cutter: cutter), Sail(area: 20, cutter: cutter), Sail(area: 30, cutter: other))
        #expect(cutter.sails.count == 2)
        stack.context.delete(cutter)
        try stack.context.save()
        #expect(try stack.stored(Sail.self).map(\.area) == [30])
        #expect(try stack.stored(Cutter.self).map(\.name) == ["Vasa"])
    }

    @Test(cascades, arguments: StoreKind.allCases)
    func `Cascade deletes models that know nothing of their owner`(kind: StoreKind) throws {
        let stack = try Stack(kind, Kite.self), kite = Kite(name: "red")
        kite.tail = Tail(length: 3)
        kite.knots = [Knot(number: 1), Knot(number: 2)]
        try stack.save(kite, Knot(number: 3), Tail(length: 9))
        stack.context.delete(kite)
        try stack.context.save()
        #expect(try stack.stored(Knot.self).map(\.number) == [3])
        #expect(try stack.stored(Tail.self).map(\.length) == [9])
    }

    @Test(table, arguments: StoreKind.allCases)
    func `Without a rule a model that knows nothing of its owner stays`(kind: StoreKind) throws {
        let stack = try Stack(kind, Kite.self), kite = Kite(name: "red")
        kite.winder = Winder(name: "w")
        try stack.save(kite)
        stack.context.delete(kite)
        try stack.context.save()
        #expect(try stack.stored(Winder.self).map(\.name) == ["w"])
    }

    @Test(.reference("modelcontext"), arguments: StoreKind.allCases)
    func `A model that a graph leads to by several ways is inserted once`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), gardener = Gardener(name: "Ada"), gardens = [Garden(name: "Kew"), Garden(name: "Wisley")]
        for garden in gardens { garden.gardeners = [gardener] }
        gardener.mentor = Gardener(name: "Bo")
        stack.context.insert(gardens[0])
        #expect(stack.context.insertedModelsArray.count == 4)
        try stack.context.save()
        #expect(try stack.count(Gardener.self) == 2 && stack.count(Garden.self) == 2)
        #expect(try stack.stored(Gardener.self, by: SortDescriptor(\.name)).first?.gardens.count == 2)
    }

    @Test(
        .source(
            "Hacking with Swift, How to completely reset a SwiftData ModelContainer",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-completely-reset-a-swiftdata-modelcontainer"),
        arguments: StoreKind.allCases)
    func `The models of a list of classes can be deleted, one class after the other`(kind: StoreKind) throws {
        let stack = try Stack(kind, Schema([Garden.self, Pond.self]))
        try stack.save(Bed(number: 1, garden: Garden(name: "Kew")), Pond(depth: 1), Fish(name: "koi"))
        let types: [any PersistentModel.Type] = [Garden.self, Bed.self, Pond.self, Fish.self]
        for type in types { try stack.context.delete(model: type) }
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0 && stack.count(Pond.self) == 0 && stack.count(Fish.self) == 0)
    }

    @Test(.reference("modelcontext/delete(_:)"), arguments: StoreKind.allCases)
    func `An owner and its parts may be deleted in one save, in any order`(kind: StoreKind) throws {
        for ownerFirst in [true, false] {
            let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1, garden: garden)
            try stack.save(bed)
            if ownerFirst { stack.context.delete(garden) }
            stack.context.delete(bed)
            if !ownerFirst { stack.context.delete(garden) }
            try stack.context.save()
            #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0)
        }
    }

    @Test(.reference("modelcontext/delete(_:)"), arguments: StoreKind.allCases)
    func `The deletion of a new model discards the new models that its cascade deletes`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        garden.beds = [Bed(number: 1, plants: [Plant(name: "oak")])]
        stack.context.insert(garden)
        stack.context.delete(garden)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0 && stack.count(Plant.self) == 0)
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `A model whose owner is deleted can get another one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak"), other = Plant(name: "elm"), sign = Sign(text: "s", plant: plant)
        try stack.save(sign, other)
        stack.context.delete(plant)
        sign.plant = other
        try stack.context.save()
        #expect(other.sign === sign)
        #expect(try stack.stored(Sign.self).first?.plant?.name == "elm")
    }
}
