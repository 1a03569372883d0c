import Foundation
import Testing

@testable import Heartwood

/// Relationships with one name that siblings have to different entities.
@Suite struct SiblingRelationshipTests {
    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel(), base = NSEntityDescription(), first = NSEntityDescription(), second = NSEntityDescription()
        let x = NSEntityDescription(), y = NSEntityDescription()
        (base.name, first.name, second.name, x.name, y.name) = ("Base", "First", "Second", "X", "Y")
        base.properties = [TestStack.attribute("name", .stringAttributeType)]
        for (entity, destination) in [(first, x), (second, y)] {
            let one = TestStack.relationship("rel", to: destination, toMany: false),
                many = TestStack.relationship("list", to: destination, toMany: true)
            entity.properties = [one, many]
            let back = TestStack.relationship("bases", to: entity, toMany: true), owner = TestStack.relationship("owner", to: entity, toMany: false)
            TestStack.connect(one, back)
            TestStack.connect(many, owner)
            destination.properties = [TestStack.attribute("title", .stringAttributeType), back, owner]
        }
        x.properties += [TestStack.attribute("onlyX", .stringAttributeType)]
        y.properties += [TestStack.attribute("onlyY", .stringAttributeType)]
        base.subentities = [first, second]
        model.entities = [base, first, second, x, y]
        return model
    }

    private func stack(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind, model: Self.model())
        for (entity, destination) in [("First", "X"), ("Second", "Y")] {
            let other = stack.insert(destination, ["title": "old", "only\(destination)": "own"])
            stack.insert(entity, ["name": entity, "rel": other, "list": Set([other])])
        }
        stack.insert("Base", ["name": "Base"])
        try stack.context.save()
        return stack
    }

    private func names(_ stack: TestStack, _ format: String, in context: NSManagedObjectContext? = nil) throws -> [String] {
        let sort = [NSSortDescriptor(key: "name", ascending: true)]
        return try withExtendedLifetime(context) {
            try stack.fetch("Base", format, sort: sort, in: context).map { $0.value(forKey: "name") as? String ?? "-" }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A pending change behind any destination is seen`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for (entity, owner) in [("X", "First"), ("Y", "Second")] {
            try stack.fetch(entity)[0].setValue("new", forKey: "title")
            for format in [
                "rel.title == 'new'", "ANY list.title == 'new'", "SUBQUERY(list, $x, $x.title == 'new').@count == 1",
                "SUBQUERY(list, $x, $x.owner.rel.title == 'new').@count == 1"]
            {
                #expect(try names(stack, format) == [owner], "\(format)")
                #expect(try names(stack, format, in: stack.context.child()) == [owner], "\(format)")
            }
            stack.context.rollback()
        }
    }

    /// It acts as a key that only a subentity has: null for the others.
    @Test(arguments: StoreKind.allCases)
    func `A key of one destination is null for the other`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for isPending in [false, true] {
            if isPending { stack.insert("X", ["title": "pending"]) }
            for (key, owner) in [("onlyX", "First"), ("onlyY", "Second")] {
                let other = owner == "First" ? "Second" : "First"
                for path in ["rel.\(key)", "rel.\(key).length + 0"] { #expect(try names(stack, "\(path) != nil") == [owner], "\(path)") }
                #expect(try names(stack, "rel.\(key) == 'own'") == [owner])
                #expect(try names(stack, "rel.\(key) == nil") == ["Base", other])
                #expect(try names(stack, "ANY list.\(key) == 'own'") == [owner])
                #expect(try names(stack, "ANY list.\(key) == nil") == [other])
                #expect(try names(stack, "SUBQUERY(list, $x, $x.\(key) == 'own').@count == 1") == [owner])
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A key that no destination has is refused`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for format in ["rel.shoe == 1", "ANY list.shoe == 1", "SUBQUERY(list, $x, $x.shoe == 1).@count == 1"] {
            let error = try #require(#expect(throws: NSError.self) { try names(stack, format) })
            #expect(
                error.code == NSPersistentStoreUnsupportedRequestTypeError && error.localizedDescription.contains("has no property \"shoe\""),
                "\(error)")
        }
    }
}
