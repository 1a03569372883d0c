import Foundation
import SwiftData
import Testing

/// A property keeps its name, and its type has another form in the store.
@Suite struct FormMigrationTests {
    private let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")

    private func open(_ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Schema(versionedSchema: version), migrationPlan: plan, configurations: ModelConfiguration(url: url)))
    }

    private static func size(_ number: Int) -> KitchenV1.Size {
        KitchenV1.Size(
            name: "size \(number)", level: number.isMultiple(of: 2) ? .easy : .hard, grams: number == 0 ? .infinity : Double(number) / 3,
            since: Date(timeIntervalSinceReferenceDate: 0.125 + Double(number)), price: Decimal(string: "12345678901234567890.5") ?? 0, id: UUID(),
            link: number.isMultiple(of: 2) ? nil : URL(string: "https://example.org"), bytes: Data([1, 2, UInt8(number & 0xFF)]), counts: [number, 7])
    }

    private func makeKitchen(_ sizes: [KitchenV1.Size]) throws {
        let context = try open(KitchenV1.self)
        for (number, size) in sizes.enumerated() {
            let soup = number.isMultiple(of: 3) ? KitchenV1.Soup(name: "\(number)", size: size, level: .hard) : nil
            soup?.spice = ["salt", "pepper"]
            let dish = soup ?? KitchenV1.Dish(name: "\(number)", size: size, level: .easy)
            if number == 1 { (dish.origin, dish.former) = ("pepper", .hard) }
            context.insert(dish)
        }
        try context.save()
    }

    private func check(_ context: ModelContext, _ sizes: [KitchenV1.Size], steps: [String]) throws {
        let found = try context.fetch(FetchDescriptor<KitchenV2.Dish>()).sorted { (Int($0.name) ?? 0) < (Int($1.name) ?? 0) }
        #expect(found.map(\.size.parts) == sizes)
        for (number, dish) in found.enumerated() {
            #expect(dish.steps.texts == ["cook", "eat \(number)"] + steps)
            #expect(dish.difficulty.number == (number.isMultiple(of: 3) ? 20 : 10))
            #expect(dish.label.text == "label of \(number)")
            #expect(dish.link == URL(string: "https://example.org/\(number)"))
            #expect(dish.origin == (number == 1 ? .pepper : nil), "A value that was nil is no default value")
            #expect(dish.former?.number == (number == 1 ? 20 : nil))
            if let soup = dish as? KitchenV2.Soup { #expect(soup.spice == [.pepper, .salt]) }
        }
        let texts = ["cook", "eat 2"] + steps
        #expect(try context.fetchCount(FetchDescriptor<KitchenV2.Dish>(predicate: #Predicate { $0.steps.texts == texts })) == 1)
    }

    @Test func `Values are carried over to structures, JSON, raw values and texts that have another form`() throws {
        let sizes = (0..<7).map(Self.size)
        try makeKitchen(sizes)
        try check(try open(KitchenV2.self), sizes, steps: [])
        // Nothing is left to do, and nothing of the way is left over.
        try check(try open(KitchenV2.self), sizes, steps: [])
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(names.filter { $0.contains(url.lastPathComponent) && $0.contains("migrating") }.isEmpty)
    }

    @Test func `A stage of a plan finds the values in their new form`() throws {
        let sizes = (0..<4).map(Self.size)
        try makeKitchen(sizes)
        try check(try open(KitchenV2.self, KitchenPlan.self), sizes, steps: ["wash up"])
    }

    @Test func `More models than one save takes are carried over, and their identifiers and history stay`() throws {
        let sizes = (0..<1100).map(Self.size)
        try makeKitchen(sizes)
        let (ids, token) = try {
            let context = try open(KitchenV1.self)
            let all = try context.fetch(FetchDescriptor<KitchenV1.Dish>(sortBy: [SortDescriptor(\.name)]))
            return (all.map(\.persistentModelID), try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token)
        }()
        let context = try open(KitchenV2.self)
        try check(context, sizes, steps: [])
        #expect(try context.fetch(FetchDescriptor<KitchenV2.Dish>(sortBy: [SortDescriptor(\.name)])).map(\.persistentModelID) == ids)
        let first = try #require(token)
        let later = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first })
        #expect(try context.fetchHistory(later).flatMap(\.changes).count >= 1100, "The history has the new values as changes")
    }

    @Test func `The constraints and indexes of properties with a new form are there afterwards`() throws {
        let sizes = (0..<2).map(Self.size)
        try makeKitchen(sizes)
        let context = try open(KitchenV2.self)
        let dishes = try context.fetch(FetchDescriptor<KitchenV2.Dish>(sortBy: [SortDescriptor(\.name)]))
        let link = dishes[0].link
        dishes[1].link = link
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<KitchenV2.Dish>()) == 1)
        #expect(try context.fetchCount(FetchDescriptor<KitchenV2.Dish>(predicate: #Predicate { $0.link == link })) == 1)
    }

    @Test func `A value that the new type does not take is an error that names the class and the property, and the store stays as it was`() throws {
        let first = try open(ShelfV1.self)
        first.insert(ShelfV1.Box(colour: .blue, note: "a b"))
        try first.save()
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(ShelfV2.self) }
        #expect(error?.description.contains("Box.colour") == true)
        #expect(error?.underlying is DecodingError)
        #expect(try open(ShelfV1.self).fetch(FetchDescriptor<ShelfV1.Box>()).map(\.colour) == [.blue])
    }

    @Test func `A store without models of a class comes to any form`() throws {
        let first = try open(ShelfV1.self)
        first.insert(ShelfV1.Box(colour: .blue))
        try first.save()
        try first.delete(model: ShelfV1.Box.self)
        try first.save()
        let context = try open(ShelfV2.self)
        context.insert(ShelfV2.Box())
        try context.save()
        #expect(try context.fetch(FetchDescriptor<ShelfV2.Box>()).map(\.colour) == [.red])
    }

    @Test func `A required property without a stored value takes its default value, or the error names it`() throws {
        let first = try open(ShelfV1.self)
        first.insert(ShelfV1.Box(colour: .blue))
        first.insert(ShelfV1.Box(colour: .blue, note: "https://example.org"))
        try first.save()
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(ShelfV3.self) }
        #expect(error?.description.contains("Box.note") == true)
        let links = try open(ShelfV4.self).fetch(FetchDescriptor<ShelfV4.Box>()).map(\.note.absoluteString)
        #expect(links.sorted() == ["file:///none", "https://example.org"])
    }

    @Test func `A renamed enumeration keeps its values`() throws {
        let context = try open(RenamedV1.self)
        context.insert(RenamedV1.Leaf(mood: .curious))
        try context.save()
        #expect(try open(RenamedV2.self).fetch(FetchDescriptor<RenamedV2.Leaf>()).map(\.temper) == [.curious])
    }
}

private enum Temper: String, Codable { case calm, curious }

private enum RenamedV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Leaf.self] }

    @Model
    final class Leaf {
        var mood: Temper
        init(mood: Temper) { self.mood = mood }
    }
}

private enum RenamedV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Leaf.self] }

    @Model
    final class Leaf {
        @Attribute(originalName: "mood") var temper: Temper = Temper.calm
        init() {}
    }
}
