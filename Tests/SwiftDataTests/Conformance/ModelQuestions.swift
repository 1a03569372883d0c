import Foundation
import SwiftData
import Testing

@Suite struct ModelQuestions {
    @Test(.reference("model()"))
    func `A class with @Model is a persistent model, observable, hashable, and identified by its persistent identifier`() {
        let bed = Bed(number: 1)
        #expect(bed as Any is any PersistentModel && bed as Any is any Observable)
        #expect(bed.id == bed.persistentModelID)
        #expect(Set([bed, bed]).count == 1 && bed != Bed(number: 1))
    }

    @Test(.reference("preserving-your-apps-model-data-across-launches"), arguments: StoreKind.allCases)
    func `A stored property is saved, and a computed one is not`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Garden(name: "Kew", area: 3))
        #expect(try stack.stored(Garden.self).map(\.title) == ["Kew, 3.0"])
        #expect(stack.container.schema.entity(for: Garden.self)?.storedPropertiesByName["title"] == nil)
    }

    @Test(.reference("transient()"), arguments: StoreKind.allCases)
    func `A transient property is no part of the schema`(kind: StoreKind) throws {
        let entity = try #require(try Stack(kind, Garden.self).container.schema.entity(for: Garden.self))
        #expect(entity.storedPropertiesByName["visitors"] == nil && entity.storedPropertiesByName["area"] != nil)
    }

    @Test(
        .source(
            "Hacking with Swift, How to make transient attributes in a SwiftData model",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-make-transient-attributes-in-a-swiftdata-model"),
        arguments: StoreKind.allCases)
    func `A transient property has its default value in a model that is fetched`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        garden.visitors = 7
        try stack.save(garden)
        #expect(garden.visitors == 7)
        #expect(try stack.stored(Garden.self).map(\.visitors) == [0])
    }

    @Test(.reference("transient()"), arguments: StoreKind.allCases)
    func `Setting a transient property is no change of the model`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        garden.visitors = 7
        #expect(!garden.hasChanges && !stack.context.hasChanges)
    }

    @Test(.reference("model()"), arguments: StoreKind.allCases)
    func `A change of a persisted property is observed, of a saved model too`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        nonisolated(unsafe) var changes = 0
        withObservationTracking { _ = garden.area } onChange: { changes += 1 }
        garden.area = 1
        try stack.save(garden)
        withObservationTracking { _ = garden.area } onChange: { changes += 1 }
        garden.name = "Wisley"
        #expect(changes == 1)
        garden.area = 2
        #expect(changes == 2)
    }

    @Test(.reference("persistentmodel/modelcontext"))
    func `A model of no context has none, keeps its values, and can be changed`() {
        let garden = Garden(name: "Kew")
        garden.area = 4
        #expect(garden.modelContext == nil && garden.name == "Kew" && garden.area == 4 && !garden.isDeleted)
    }

    @Test(.reference("persistentmodel/modelcontext"), arguments: StoreKind.allCases)
    func `A model has its context from the insertion on, and after a save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        #expect(garden.modelContext == stack.context)
        try stack.context.save()
        #expect(garden.modelContext == stack.context)
    }

    @Test(
        .source(
            "Hacking with Swift, How to read the list of objects that have been inserted, edited or deleted",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-read-the-list-of-objects-that-have-been-inserted-edited-or-deleted"),
        arguments: StoreKind.allCases)
    func `A model has changes after its insertion, a change and its deletion, until the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        #expect(garden.hasChanges)
        try stack.context.save()
        #expect(!garden.hasChanges)
        garden.area = 2
        #expect(garden.hasChanges)
        try stack.context.save()
        stack.context.delete(garden)
        #expect(garden.hasChanges)
    }

    @Test(
        .source(
            "Hacking with Swift, Why are SwiftData models created as classes?",
            "https://www.hackingwithswift.com/quick-start/swiftdata/why-are-swiftdata-models-created-as-classes"),
        arguments: StoreKind.allCases)
    func `A context has one instance of a stored model, so that a change shows wherever it is used`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Garden(name: "Kew"))
        let other = stack.other(), all = FetchDescriptor<Garden>()
        let first = try #require(try other.fetch(all).first), second = try #require(try other.fetch(all).first)
        first.area = 9
        #expect(first === second && second.area == 9)
    }

    @Test(
        .source(
            "Hacking with Swift, Why are SwiftData models created as classes?",
            "https://www.hackingwithswift.com/quick-start/swiftdata/why-are-swiftdata-models-created-as-classes"),
        arguments: StoreKind.allCases)
    func `A model may have a relationship to models of its own class`(kind: StoreKind) throws {
        let stack = try Stack(kind, Gardener.self), mentor = Gardener(name: "Ada")
        try stack.save(Gardener(name: "Bo", mentor: mentor), Gardener(name: "Cy", mentor: mentor))
        let found = try stack.stored(Gardener.self, by: SortDescriptor(\.name))
        #expect(found.map { $0.mentor?.name } == [nil, "Ada", "Ada"])
        #expect(Set(found[0].pupils.map(\.name)) == ["Bo", "Cy"])
    }

    @Test(
        .source(
            "Hacking with Swift, How to make SwiftData models conform to Codable",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-make-swiftdata-models-conform-to-codable"),
        arguments: StoreKind.allCases)
    func `A model may be Codable by hand, and one that was decoded can be inserted`(kind: StoreKind) throws {
        let stack = try Stack(kind, Recipe.self)
        let recipe = try JSONDecoder().decode(Recipe.self, from: Data(#"{"name":"soup","minutes":20}"#.utf8))
        try stack.save(recipe)
        let stored = try #require(try stack.stored(Recipe.self).first)
        let again = try JSONDecoder().decode(Recipe.self, from: JSONEncoder().encode(stored))
        #expect(stored.name == "soup" && again.minutes == 20 && again.modelContext == nil)
    }

    @Test(.reference("model()"), arguments: StoreKind.allCases)
    func `An optional property without a value is nil, before and after the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        #expect(garden.opened == nil)
        try stack.save(garden)
        #expect(try stack.stored(Garden.self).first?.opened == nil)
    }

    @Test(
        .source(
            "Hacking with Swift, How to create derived attributes with SwiftData",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-create-derived-attributes-with-swiftdata"),
        arguments: StoreKind.allCases)
    func `Observers of a persisted property are not called, those of a transient one are`(kind: StoreKind) throws {
        let stack = try Stack(kind, Watched.self), watched = Watched()
        stack.context.insert(watched)
        watched.passing = 2
        #expect(watched.passings == 1)
        watched.kept = 2
        knownDifference("Observers run, as they do in any class: a program that writes one wants it to") { #expect(watched.changes == 0) }
    }
}

@Model final class Recipe: Codable {
    var name: String
    var minutes: Int

    private enum CodingKeys: CodingKey { case name, minutes }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.decode(String.self, forKey: .name)
        minutes = try values.decode(Int.self, forKey: .minutes)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        try values.encode(minutes, forKey: .minutes)
    }
}

@Model final class Watched {
    var kept: Int = 0 { didSet { changes += 1 } }
    @Transient var passing = 0 { didSet { passings += 1 } }
    @Transient var changes = 0
    @Transient var passings = 0

    init() {}
}
