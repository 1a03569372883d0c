import Foundation
import Heartwood
import Testing

/// A class without stored properties, and a subclass, each of an entity.
class Shrub: NSManagedObject {
    var name: String? { value(forKey: "name") as? String }
    override func awakeFromInsert() { setPrimitiveValue("\(Self.self)", forKey: "name") }
}

final class Hazel: Shrub {}

final class Annotated: NSManagedObject {
    var note = ""
}

/// Code for Core Data makes objects with `NSManagedObject(entity:insertInto:)` and casts them to the entity's class.
@Suite struct EntityClassTests {
    private static func stack(_ kind: StoreKind) throws -> TestStack {
        let shrub = NSEntityDescription(), hazel = NSEntityDescription(), stone = NSEntityDescription()
        for (entity, name, type) in [(shrub, "Shrub", Shrub.self), (hazel, "Hazel", Hazel.self), (stone, "Stone", NSManagedObject.self)]
            as [(NSEntityDescription, String, NSManagedObject.Type)] {
            entity.name = name
            entity.managedObjectClassName = NSStringFromClass(type)
        }
        shrub.properties = [TestStack.attribute("name", .stringAttributeType)]
        shrub.subentities = [hazel]
        let model = NSManagedObjectModel()
        model.entities = [shrub, hazel, stone]
        return try TestStack(kind, model: model)
    }

    private func entity(_ name: String, _ stack: TestStack) throws -> NSEntityDescription {
        try #require(NSEntityDescription.entity(forEntityName: name, in: stack.context))
    }

    @Test
    func `A message about an entity or a sort key that the model lacks lists the names that it has`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = try TestStack(.inMemory)
            _ = NSEntityDescription.insertNewObject(forEntityName: "Persn", into: stack.context)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("no entity named \"Persn\"; it has ") && text.contains("Person"), "\(text)")
        let stack = try TestStack(.inMemory), request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "nam", ascending: true)]
        let error = #expect(throws: NSError.self) { try stack.context.fetch(request) }
        #expect(error?.localizedDescription.contains("nam is no property of Person (did you mean name?); it has ") == true, "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("name") == true)
    }

    @Test(arguments: StoreKind.allCases)
    func `NSManagedObject(entity:insertInto:) makes an object of the entity's class, which is saved and fetched as one`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let shrub = try #require(NSManagedObject(entity: entity("Shrub", stack), insertInto: stack.context) as? Shrub)
        let hazel = try #require(NSManagedObject(entity: entity("Hazel", stack), insertInto: stack.context) as? Hazel)
        let stone = NSManagedObject(entity: try entity("Stone", stack), insertInto: stack.context)
        #expect(type(of: shrub) == Shrub.self && type(of: hazel) == Hazel.self && type(of: stone) == NSManagedObject.self)
        #expect(shrub.name == "Shrub" && hazel.name == "Hazel", "awakeFromInsert is the class's own")
        try stack.context.save()
        let request = NSFetchRequest<Shrub>(entityName: "Shrub")
        #expect(try Set(stack.context.fetch(request)) == [shrub, hazel])
        #expect(try stack.anew().fetch(request).compactMap(\.name).sorted() == ["Hazel", "Shrub"])
    }

    @Test
    func `An object of no context is of its entity's class, and is inserted later`() throws {
        let stack = try Self.stack(.inMemory)
        let hazel = try #require(NSManagedObject(entity: entity("Hazel", stack), insertInto: nil) as? Hazel)
        #expect(hazel.name == nil)
        stack.context.insert(hazel)
        try stack.context.save()
        #expect(try stack.context.fetch(NSFetchRequest<Hazel>(entityName: "Hazel")) == [hazel])
    }

    @Test
    func `Many objects that were made so are destroyed as what they are`() throws {
        let stack = try Self.stack(.inMemory), entity = try entity("Shrub", stack)
        for _ in 0..<3 {
            for _ in 0..<500 { _ = NSManagedObject(entity: entity, insertInto: stack.context) }
            try stack.context.save()
            stack.context.reset()
        }
        #expect(try stack.context.count(for: NSFetchRequest<Shrub>(entityName: "Shrub")) == 1500)
    }

    #if os(Linux) || os(macOS)
        @Test
        func `A class with stored properties ends the program; the message says what to write`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let entity = NSEntityDescription()
                entity.name = "Annotated"
                entity.managedObjectClassName = NSStringFromClass(Annotated.self)
                _ = NSManagedObject(entity: entity, insertInto: nil)
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("has stored properties of its own") && text.contains("insertNewObject"))
        }
    #endif
}
