import Foundation
import SwiftData
import Testing

private let inferred = Source.source(
    "Hacking with Swift, Inferred vs explicit relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/inferred-vs-explicit-relationships")
private let fatbobman = Source.source(
    "Fatbobman, Relationships in SwiftData: changes and considerations",
    "https://fatbobman.com/en/posts/relationships-in-swiftdata-changes-and-considerations/")
private let manyToMany = Source.source(
    "Hacking with Swift, How to create many-to-many relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-create-many-to-many-relationships")
private let counts = Source.source(
    "Hacking with Swift, How to add minimum and maximum constraints to relationships",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-add-minimum-and-maximum-constraints-to-relationships")
private let macro = Source.reference("relationship(_:deleterule:minimummodelcount:maximummodelcount:originalname:inverse:hashmodifier:)")

@Suite struct RelationshipQuestions {
    // MARK: Inverses

    @Test(inferred, arguments: StoreKind.allCases)
    func `Setting the to-one end puts the model into the array at the other end, before a save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1)
        stack.context.insert(garden)
        stack.context.insert(bed)
        bed.garden = garden
        #expect(garden.beds == [bed])
        try stack.context.save()
        #expect(try stack.stored(Garden.self).first?.beds.map(\.number) == [1])
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `Adding to the array sets the to-one end, removing from it makes that nil`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1)
        stack.context.insert(garden)
        stack.context.insert(bed)
        garden.beds.append(bed)
        #expect(bed.garden === garden)
        try stack.context.save()
        garden.beds.removeAll()
        #expect(bed.garden == nil)
        try stack.context.save()
        #expect(try stack.stored(Bed.self).map { $0.garden == nil } == [true])
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `A model that gets another owner leaves the array of the former one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), old = Garden(name: "Kew"), new = Garden(name: "Wisley"), bed = Bed(number: 1, garden: old)
        try stack.save(new, bed)
        bed.garden = new
        #expect(old.beds.isEmpty && new.beds == [bed])
        try stack.context.save()
        #expect(try stack.stored(Garden.self, by: SortDescriptor(\.name)).map(\.beds.count) == [0, 1])
    }

    @Test(fatbobman, arguments: StoreKind.allCases)
    func `Two optional to-one properties are each other's inverse without a statement`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak"), sign = Sign(text: "Oak")
        stack.context.insert(plant)
        plant.sign = sign
        #expect(sign.plant === plant)
        try stack.context.save()
        #expect(try stack.stored(Sign.self).first?.plant?.name == "oak")
    }

    @Test(macro, arguments: StoreKind.allCases)
    func `A new partner in a one-to-one relationship frees the former one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak"), first = Sign(text: "a"), second = Sign(text: "b")
        try stack.save(plant, first, second)
        plant.sign = first
        plant.sign = second
        #expect(first.plant == nil && second.plant === plant)
        try stack.context.save()
        #expect(try stack.stored(Sign.self, by: SortDescriptor(\.text)).map { $0.plant != nil } == [false, true])
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `No inverse is inferred where the to-one end must have a value`(kind: StoreKind) throws {
        let stack = try Stack(kind, Tower.self), tower = Tower(name: "north"), bell = Bell(note: "c", tower: tower)
        try stack.save(bell)
        #expect(tower.bells.isEmpty)
        let schema = stack.container.schema
        #expect(schema.entity(for: Bell.self)?.relationshipsByName["tower"]?.inverseName == nil)
        #expect(schema.entity(for: Tower.self)?.relationshipsByName["bells"]?.inverseName == nil)
        #expect(try stack.stored(Bell.self).map(\.tower.name) == ["north"])
    }

    @Test(inferred, arguments: StoreKind.allCases)
    func `A stated inverse holds for an end that must have a value, too`(kind: StoreKind) throws {
        let stack = try Stack(kind, Nest.self), nest = Nest(place: "oak"), egg = Egg(weight: 5, nest: nest)
        try stack.save(egg)
        #expect(nest.eggs == [egg])
        #expect(try stack.stored(Nest.self).map { $0.eggs.map(\.weight) } == [[5]])
    }

    @Test(manyToMany, arguments: StoreKind.allCases)
    func `Both arrays of a many-to-many relationship change together`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        let gardens = [Garden(name: "Kew"), Garden(name: "Wisley")], gardeners = [Gardener(name: "Ada"), Gardener(name: "Bo")]
        for garden in gardens { stack.context.insert(garden) }
        for gardener in gardeners { stack.context.insert(gardener) }
        gardens[0].gardeners = gardeners
        gardeners[1].gardens.append(gardens[1])
        #expect(gardens[1].gardeners == [gardeners[1]] && gardeners[0].gardens == [gardens[0]])
        try stack.context.save()
        let stored = try stack.stored(Gardener.self, by: SortDescriptor(\.name))
        #expect(stored.map { Set($0.gardens.map(\.name)) } == [["Kew"], ["Kew", "Wisley"]])
    }

    @Test(macro, arguments: StoreKind.allCases)
    func `A tree of models of one class has parents and children`(kind: StoreKind) throws {
        let stack = try Stack(kind, Gardener.self), root = Gardener(name: "Ada"), child = Gardener(name: "Bo", mentor: root)
        try stack.save(Gardener(name: "Cy", mentor: child))
        let found = try #require(try stack.stored(Gardener.self, by: SortDescriptor(\.name)).first)
        #expect(found.pupils.map(\.name) == ["Bo"] && found.pupils.first?.pupils.map(\.name) == ["Cy"])
    }

    // MARK: The graph of an insertion

    @Test(.reference("modelcontext"), arguments: StoreKind.allCases)
    func `The insertion of a model inserts all models that its relationships lead to`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        garden.beds = [Bed(number: 1, plants: [Plant(name: "oak"), Plant(name: "elm")]), Bed(number: 2)]
        stack.context.insert(garden)
        #expect(stack.context.insertedModelsArray.count == 5)
        try stack.context.save()
        #expect(try stack.count(Plant.self) == 2 && stack.count(Bed.self) == 2)
    }

    @Test(.reference("modelcontext"), arguments: StoreKind.allCases)
    func `A graph may have new models and models of the context`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let bed = Bed(number: 1, garden: garden)
        stack.context.insert(bed)
        #expect(garden.beds == [bed])
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 1)
        #expect(try stack.stored(Bed.self).first?.garden?.name == "Kew")
    }

    @Test(
        .source(
            "Hacking with Swift, How to create one-to-one relationships",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-create-one-to-one-relationships"),
        arguments: StoreKind.allCases)
    func `The insertion of one end of a one-to-one relationship inserts the other`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak")
        stack.context.insert(Sign(text: "Oak", plant: plant))
        #expect(plant.modelContext === stack.context)
        try stack.context.save()
        #expect(try stack.count(Plant.self) == 1 && stack.count(Sign.self) == 1)
    }

    @Test(.reference("modelcontext"), arguments: StoreKind.allCases)
    func `A new model that is added to a relationship of a context's model is inserted`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        garden.beds.append(Bed(number: 3))
        try stack.context.save()
        #expect(try stack.stored(Bed.self).map(\.number) == [3])
    }

    @Test(fatbobman, arguments: StoreKind.allCases)
    func `A model that an initializer makes is inserted with its owner`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Bed(number: 1, plants: [Plant(name: "oak")]))
        #expect(try stack.stored(Plant.self).first?.bed?.number == 1)
    }

    // MARK: Arrays

    @Test(fatbobman, arguments: StoreKind.allCases)
    func `The order of a stored array of models is not promised, its members are`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        garden.beds = [5, 3, 9, 1].map { Bed(number: $0) }
        try stack.save(garden)
        let stored = try #require(try stack.stored(Garden.self).first)
        #expect(stored.beds.map(\.number).sorted() == [1, 3, 5, 9])
        #expect(stored.beds.sorted { $0.number < $1.number }.first?.number == 1)
    }

    @Test(fatbobman, arguments: StoreKind.allCases)
    func `A model is in a stored array once, however often it was added`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew"), bed = Bed(number: 1)
        try stack.save(garden)
        garden.beds = [bed, bed]
        garden.beds.append(bed)
        try stack.context.save()
        #expect(try stack.stored(Garden.self).first?.beds.count == 1)
    }

    @Test(.reference("relationshipcollection"), arguments: StoreKind.allCases)
    func `A relationship to many may be an optional array`(kind: StoreKind) throws {
        let stack = try Stack(kind, Plant.self), plant = Plant(name: "oak")
        try stack.save(plant)
        #expect(plant.notes?.isEmpty ?? true)
        plant.notes = [Note(text: "a"), Note(text: "b")]
        try stack.context.save()
        #expect(Set(try #require(try stack.stored(Plant.self).first?.notes).map(\.text)) == ["a", "b"])
        plant.notes = nil
        try stack.context.save()
        #expect(try stack.stored(Note.self).allSatisfy { $0.plant == nil })
    }

    // MARK: Counts

    @Test(counts, arguments: StoreKind.allCases)
    func `A save with too many models in a relationship throws, and the changes stay`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self), canoe = Canoe(name: "a", rowers: ["x", "y"].map(Rower.init))
        try stack.save(canoe)
        canoe.rowers.append(Rower(name: "z"))
        #expect(canoe.rowers.count == 3)
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(stack.context.hasChanges && canoe.rowers.count == 3)
        #expect(try stack.stored(Canoe.self).first?.rowers.count == 2)
        stack.context.delete(try #require(canoe.rowers.last))
        try stack.context.save()
    }

    @Test(counts, arguments: StoreKind.allCases)
    func `A save with too few models in a relationship throws`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self), canoe = Canoe(name: "a", rowers: [Rower(name: "x")])
        try stack.save(canoe)
        canoe.rowers = []
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(try stack.stored(Canoe.self).first?.rowers.count == 1)
    }
}
