import Foundation
import SwiftData
import Testing

@Suite struct AttributeQuestions {
    // MARK: Unique values

    @Test(.wwdc(2023, 10195, "Model your schema with SwiftData, Utilizing schema macros"), arguments: StoreKind.allCases)
    func `A model that is saved with the unique value of a stored one updates that one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Garden(name: "Kew", area: 1))
        try stack.save(Garden(name: "Kew", area: 2))
        #expect(try stack.stored(Garden.self).map(\.area) == [2])
    }

    @Test(
        .source(
            "Hacking with Swift, How to make unique attributes in a SwiftData model",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-make-unique-attributes-in-a-swiftdata-model"),
        arguments: StoreKind.allCases)
    func `Of two new models with one unique value the later one's values are kept`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        stack.context.insert(Garden(name: "Kew", area: 1000))
        stack.context.insert(Garden(name: "Kew", area: 0))
        try stack.context.save()
        #expect(try stack.stored(Garden.self).map(\.area) == [0])
    }

    @Test(.wwdc(2023, 10195, "Model your schema with SwiftData, Utilizing schema macros"), arguments: StoreKind.allCases)
    func `The stored model keeps its identifier when another one updates it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), first = Garden(name: "Kew")
        try stack.save(first)
        let identifier = first.persistentModelID
        try stack.save(Garden(name: "Kew", area: 2))
        #expect(try stack.stored(Garden.self).map(\.persistentModelID) == [identifier])
    }

    @Test(.wwdc(2023, 10195, "Model your schema with SwiftData, Utilizing schema macros"), arguments: StoreKind.allCases)
    func `After the save the new instance stands for the stored model, and so does the one that the program had`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), first = Garden(name: "Kew", area: 1), second = Garden(name: "Kew", area: 2)
        try stack.save(first)
        try stack.save(second)
        #expect(first.area == 2 && second.persistentModelID == first.persistentModelID && second.modelContext == stack.context)
        second.area = 5
        try stack.context.save()
        #expect(first.area == 5)
        #expect(try stack.stored(Garden.self).map(\.area) == [5])
        second.beds = [Bed(number: 1)]
        stack.context.delete(second)
        try stack.context.save()
        #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0)
        #expect(first.modelContext == nil && second.modelContext == nil)
    }

    @Test(.reference("modelcontext/didsave"), arguments: StoreKind.allCases)
    func `An insertion that updates a stored model is told as an update`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let heard = Heard(ModelContext.didSave, of: stack.context), id = garden.persistentModelID
        try stack.save(Garden(name: "Kew", area: 2))
        #expect(heard.identifiers(.insertedIdentifiers).isEmpty && heard.identifiers(.updatedIdentifiers) == [id])
    }

    @Test(.wwdc(2023, 10195, "Model your schema with SwiftData, Utilizing schema macros"), arguments: StoreKind.allCases)
    func `Another context shows what an insertion has updated, in the model that the program holds`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Garden(name: "Kew", area: 1))
        let other = stack.other(), held = try #require(try other.fetch(FetchDescriptor<Garden>()).first)
        try stack.save(Garden(name: "Kew", area: 2))
        #expect(try other.fetchCount(FetchDescriptor<Garden>()) == 1 && held.area == 2)
    }

    @Test(.reference("schema/attribute/option/unique"), arguments: StoreKind.allCases)
    func `A changed value that another model has leaves one of the two`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), first = Garden(name: "Kew", area: 1), second = Garden(name: "Wisley", area: 2)
        try stack.save(first, second)
        let ids = Set([first, second].map(\.persistentModelID)), heard = Heard(ModelContext.didSave, of: stack.context)
        second.name = "Kew"
        try stack.context.save()
        let left = try stack.stored(Garden.self)
        #expect(left.map(\.name) == ["Kew"])
        #expect(Set(heard.identifiers(.deletedIdentifiers)) == ids.subtracting(left.map(\.persistentModelID)))
        #expect([first, second].filter { $0.modelContext == nil }.count == 1)
    }

    @Test(.reference("schema/attribute/option/unique"), arguments: StoreKind.allCases)
    func `Models with other unique values stay apart`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Garden(name: "Kew"), Garden(name: "kew"), Garden(name: "Wisley"))
        #expect(try stack.count(Garden.self) == 3)
    }

    @Test(.reference("schema/relationship/option/unique"), arguments: StoreKind.allCases)
    func `A relationship may be unique, so that a second model with the same destination updates the first`(kind: StoreKind) throws {
        let stack = try Stack(kind, Coat.self), badge = Badge(number: 7)
        try stack.save(Coat(name: "old", badge: badge), Coat(name: "other", badge: Badge(number: 8)))
        try stack.save(Coat(name: "new", badge: badge))
        #expect(Set(try stack.stored(Coat.self).map(\.name)) == ["new", "other"])
    }

    @Test(.wwdc(2024, 10137, "What's new in SwiftData, the unique macro"), arguments: StoreKind.allCases)
    func `#Unique over two properties updates a model only if both are equal`(kind: StoreKind) throws {
        let stack = try Stack(kind, Seed.self)
        try stack.save(Seed(genus: "Rosa", species: "canina", code: 1, count: 1))
        try stack.save(Seed(genus: "Rosa", species: "alba", code: 2, count: 2))
        #expect(try stack.count(Seed.self) == 2)
        try stack.save(Seed(genus: "Rosa", species: "alba", code: 3, count: 9))
        #expect(Set(try stack.stored(Seed.self).map(\.count)) == [1, 9])
    }

    @Test(.reference("unique(_:)"), arguments: StoreKind.allCases)
    func `Each list of #Unique is a constraint of its own`(kind: StoreKind) throws {
        let stack = try Stack(kind, Seed.self)
        try stack.save(Seed(genus: "Rosa", species: "canina", code: 1, count: 1))
        try stack.save(Seed(genus: "Viola", species: "odorata", code: 1, count: 5))
        #expect(try stack.stored(Seed.self).map(\.genus) == ["Viola"])
        #expect(stack.container.schema.entity(for: Seed.self)?.uniquenessConstraints == [["genus", "species"], ["code"]])
    }

    // MARK: Indexes

    @Test(.wwdc(2024, 10137, "What's new in SwiftData, the index macro"), arguments: StoreKind.allCases)
    func `#Index makes an index of each list of properties, and fetches find by it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Seed.self)
        for code in 1...9 { stack.context.insert(Seed(genus: code < 5 ? "Rosa" : "Viola", species: "\(code)", code: code, count: code)) }
        try stack.context.save()
        #expect(stack.container.schema.entity(for: Seed.self)?.indices == [["genus"], ["species", "count"]])
        #expect(try stack.other().fetchCount(FetchDescriptor<Seed>(predicate: #Predicate { $0.genus == "Rosa" })) == 4)
    }

    // MARK: Options

    @Test(.reference("schema/attribute/option/externalstorage"), arguments: StoreKind.allCases, [10, 600_000])
    func `A value in external storage is read as any other, whatever its size`(kind: StoreKind, size: Int) throws {
        let stack = try Stack(kind, Card.self), card = Card(key: "a"), photo = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        card.photo = photo
        try stack.save(card)
        #expect(try stack.stored(Card.self).first?.photo == photo)
        card.photo = nil
        try stack.context.save()
        let stored = try #require(try stack.stored(Card.self).first)
        #expect(stored.photo == nil)
    }

    @Test(.reference("schema/attribute/option/ephemeral"), arguments: StoreKind.allCases)
    func `The changes of an ephemeral attribute are tracked and not stored`(kind: StoreKind) throws {
        let stack = try Stack(kind, Card.self), card = Card(key: "a")
        try stack.save(card)
        card.draft = "d"
        #expect(card.draft == "d" && stack.context.hasChanges)
        try stack.context.save()
        let stored = try #require(try stack.stored(Card.self).first)
        #expect(stored.draft == nil)
        #expect(stack.container.schema.entity(for: Card.self)?.attributesByName["draft"]?.isTransient == true)
    }

    @Test(.wwdc(2024, 10075, "Track model changes with SwiftData history, tombstones"), arguments: StoreKind.allCases)
    func `The history of a deletion has the values that the model preserves`(kind: StoreKind) throws {
        let stack = try Stack(kind, Card.self), card = Card(key: "a")
        card.title = "t"
        try stack.save(card)
        stack.context.delete(card)
        try stack.context.save()
        let changes = try stack.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
        let tombstones = changes.compactMap { change -> HistoryTombstone<Card>? in
            guard case .delete(let deletion) = change else { return nil }
            return (deletion as? any HistoryDelete<Card>)?.tombstone
        }
        #expect(tombstones.map { $0[\.key] as? String } == ["a"])
        #expect(tombstones.allSatisfy { $0[\.title] == nil })
    }

    @Test(.reference("schema/attribute/option/codable"), arguments: StoreKind.allCases)
    func `An attribute of the option codable is stored in its coded form, as one attribute`(kind: StoreKind) throws {
        let stack = try Stack(kind, Card.self), card = Card(key: "a"), spot = Spot(x: 1, y: 2, name: "n")
        card.spot = spot
        try stack.save(card)
        #expect(try stack.stored(Card.self).first?.spot == spot)
        let attribute = try #require(stack.container.schema.entity(for: Card.self)?.attributesByName["spot"])
        #expect(attribute.isCodable && !(attribute is Schema.CompositeAttribute))
    }

    @Test(.reference("schema/attribute/option/transformable(by:)"), arguments: StoreKind.allCases)
    func `A transformer by its type or its name makes the stored form of a value`(kind: StoreKind) throws {
        ReversedText.register()
        let stack = try Stack(kind, Card.self), card = Card(key: "a")
        card.motto = "abc"
        card.slogan = "def"
        try stack.save(card)
        let stored = try #require(try stack.stored(Card.self).first)
        #expect(stored.motto == "abc" && stored.slogan == "def")
        let attributes = try #require(stack.container.schema.entity(for: Card.self)).attributesByName
        #expect(attributes["motto"]?.isTransformable == true && attributes["key"]?.isTransformable == false)
    }

    @Test(.reference("schema/attribute/option"), arguments: StoreKind.allCases)
    func `Attributes for Spotlight and for encryption in the cloud are stored as any other`(kind: StoreKind) throws {
        let stack = try Stack(kind, Card.self), card = Card(key: "a")
        (card.title, card.secret) = ("t", "s")
        try stack.save(card)
        let stored = try #require(try stack.stored(Card.self).first)
        #expect(stored.title == "t" && stored.secret == "s")
    }

    @Test(
        .source(
            "Hacking with Swift, How to rename properties without losing data",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-rename-properties-without-losing-data"))
    func `A property with an original name takes over the values of that name, a relationship too`() throws {
        let old = try Stack(.database, Schema([Before.Letter.self]))
        try old.save(Before.Letter(text: "hello", answer: Before.Letter(text: "bye", answer: nil)))
        let new = try old.reopened(Schema([After.Letter.self]))
        let letters = try new.stored(After.Letter.self, by: SortDescriptor(\.content))
        #expect(letters.map(\.content) == ["bye", "hello"] && letters.map { $0.reply?.content } == [nil, "bye"])
    }
}

enum Before {
    @Model final class Letter {
        var text: String
        var answer: Letter?

        init(text: String, answer: Letter?) {
            self.text = text
            self.answer = answer
        }
    }
}

enum After {
    @Model final class Letter {
        @Attribute(originalName: "text") var content: String
        @Relationship(originalName: "answer") var reply: Letter?

        init(content: String) { self.content = content }
    }
}
