import Foundation
import Testing

@testable import Heartwood

/// Values that primitive setters set without notice: they are saved, and not reported as changes.
@Suite struct SilentValueTests {
    private func saved(_ kind: StoreKind) throws -> (TestStack, NSManagedObject) {
        let stack = try TestStack(kind), ann = stack.insert("Person", ["name": "ann", "email": "a@b"])
        try stack.context.save()
        return (stack, ann)
    }

    @Test(arguments: StoreKind.allCases)
    func `Silent values are not among the changed values of an update`(kind: StoreKind) throws {
        let (stack, ann) = try saved(kind), group = stack.insert("Group", ["title": "g"])
        ann.setValue(3, forKey: "age")
        ann.setPrimitiveValue("silent", forKey: "name")
        ann.setPrimitiveValue(nil, forKey: "email")
        ann.setPrimitiveValue(group, forKey: "group")
        #expect(ann.changedValues().keys.sorted() == ["age"] && ann.hasPersistentChangedValues)
        #expect(ann.text("name") == "silent" && ann.text("email") == nil && ann.one("group") === group)
        try stack.context.save()
        let stored = try #require(try stack.fetch("Person", in: stack.anew()).first)
        #expect(stored.text("name") == "silent" && stored.text("email") == nil && stored.one("group")?.text("title") == "g")
        #expect(ann.changedValues().isEmpty && !ann.hasChanges)
    }

    @Test
    func `A value set later with notice is among the changed values`() throws {
        let (stack, ann) = try saved(.inMemory)
        ann.setPrimitiveValue("silent", forKey: "name")
        ann.setValue("loud", forKey: "name")
        #expect(ann.changedValues() as? [String: String] == ["name": "loud"])
        ann.setPrimitiveValue("silent", forKey: "name")
        #expect(ann.changedValues().isEmpty)
        ann.willChangeValue(forKey: "name")
        ann.setPrimitiveValue("noticed", forKey: "name")
        ann.didChangeValue(forKey: "name")
        #expect(ann.changedValues() as? [String: String] == ["name": "noticed"])
        stack.context.refresh(ann, mergeChanges: false)
        ann.setValue("silent", forKey: "name")
        #expect(ann.changedValues() as? [String: String] == ["name": "silent"], "what was silent before is forgotten")
        stack.context.rollback()
        ann.setPrimitiveValue("silent", forKey: "name")
        try stack.context.save()
        ann.setValue("silent", forKey: "name")
        #expect(ann.changedValues() as? [String: String] == ["name": "silent"], "an equal value that is set with notice is told of")
    }

    @Test
    func `The changed values of an insertion include silent values`() throws {
        let stack = try TestStack(.inMemory), ann = stack.insert("Person", ["email": "a@b"])
        ann.setPrimitiveValue("silent", forKey: "name")
        #expect(ann.changedValues()["name"] as? String == "silent" && ann.changedValues()["email"] as? String == "a@b")
        try stack.context.save()
        #expect(try stack.storedNames() == ["silent"])
    }
}
