import Foundation
import SwiftData
import Testing

/// Properties of types of which no value can be made up, in models whose rows are gone or cannot be read.
@Suite struct LostValueTests {
    private let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")

    private func open(_ types: [any PersistentModel.Type] = [Wall.self]) throws -> ModelContainer {
        PaintTransformer.register()
        return try ModelContainer(for: Schema(types), configurations: ModelConfiguration(url: url))
    }

    @Test(arguments: [false, true]) func `A model whose row another context has deleted keeps its last values`(isRead: Bool) throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let container = try open()
        let context = ModelContext(container), other = ModelContext(container)
        for name in ["red", "blue"] { context.insert(Wall(paint: Paint(name), mail: Mail("\(name)@x.org"), origin: .bought(price: 2))) }
        try context.save()
        let walls = try other.fetch(FetchDescriptor<Wall>())
        if isRead { #expect(Set(walls.map(\.paint.name)) == ["red", "blue"]) }
        walls[0].count = 7
        let id = walls[0].persistentModelID
        try context.delete(model: Wall.self)
        try context.save()
        #expect(try other.fetchCount(FetchDescriptor<Wall>()) == 0)
        #expect(Set(walls.map(\.paint.name)) == ["red", "blue"])
        #expect(Set(walls.map(\.mail.address)) == ["red@x.org", "blue@x.org"])
        #expect(walls.allSatisfy { $0.origin == .bought(price: 2) && $0.modelContext == nil && !$0.isDeleted })
        #expect(walls[0].count == 7)
        // The store has no such model any more, so this one has other values.
        if let absent = other.model(for: id) as? Wall { _ = (absent.paint, absent.mail, absent.origin) }
        walls[0].paint = Paint("green")
        other.insert(walls[0])
        try other.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Wall>()).map(\.paint.name) == ["green"])
    }

    @Test func `A model whose row another container has deleted is read without a trap`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        let context = ModelContext(try open())
        context.insert(Wall(paint: Paint("red"), mail: Mail("a@x.org"), origin: .unknown))
        try context.save()
        let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Wall>()).first)
        let foreign = ModelContext(try open())
        let fault = foreign.model(for: id)
        let held = try #require(try context.fetch(FetchDescriptor<Wall>()).first)
        let third = ModelContext(try open())
        try third.delete(model: Wall.self)
        try third.save()
        #expect(try foreign.fetchCount(FetchDescriptor<Wall>()) == 0 && context.fetchCount(FetchDescriptor<Wall>()) == 0)
        for wall in [fault as? Wall, held].compactMap(\.self) { _ = (wall.paint, wall.mail, wall.origin, wall.count) }
        held.count = 3
        try? context.save()
    }

    @Test func `A value that cannot be decoded, and that nothing stands in for, makes the fetch throw`() throws {
        defer { try? FileManager.default.removeItem(at: url) }
        PaintTransformer.register()
        do {
            let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Fence.self]))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: .recordLog, configuration: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let fence = NSEntityDescription.insertNewObject(forEntityName: "Fence", into: context)
                fence.setValue(Data("{}".utf8), forKey: "mail")
                try context.save()
            }
            try coordinator.remove(store)
        }
        let context = ModelContext(try open([Fence.self]))
        let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.fetch(FetchDescriptor<Fence>()) }
        #expect(error?.explanation?.contains("Fence.mail") == true)
        #expect(throws: SwiftDataError.modelValidationFailure) { try context.enumerate(FetchDescriptor<Fence>()) { _ in } }
        let id = try #require(try context.fetchIdentifiers(FetchDescriptor<Fence>()).first)
        #expect(!(context.model(for: id) is Fence))
        #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<Fence>(sortBy: [SortDescriptor(\.mail.address)])) }
        // Once a value is known, it stands in for what cannot be decoded.
        context.insert(Fence(mail: Mail("b@x.org")))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Fence>()).map(\.mail.address) == ["b@x.org", "b@x.org"])
    }
}

/// A class without a neutral value.
final class Paint: NSObject {
    let name: String
    init(_ name: String) { self.name = name }
}

final class PaintTransformer: ValueTransformer {
    static func register() {
        ValueTransformer.setValueTransformer(PaintTransformer(), forName: NSValueTransformerName(NSStringFromClass(PaintTransformer.self)))
    }

    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? Paint).map { Data($0.name.utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map { Paint(String(decoding: $0, as: UTF8.self)) } }
}

/// A type that decodes no neutral value.
struct Mail: Codable, Equatable {
    let address: String

    init(_ address: String) { self.address = address }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard text.contains("@") else { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "No address.")) }
        address = text
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(address)
    }
}

@Model final class Wall {
    @Attribute(.transformable(by: PaintTransformer.self)) var paint: Paint
    var mail: Mail
    var origin: Origin
    var count: Int = 0

    init(paint: Paint, mail: Mail, origin: Origin) {
        self.paint = paint
        self.mail = mail
        self.origin = origin
    }
}

@Model final class Fence {
    var mail: Mail
    init(mail: Mail) { self.mail = mail }
}
