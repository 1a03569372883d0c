import Foundation
import Testing

@testable import Heartwood

/// Values that are set to their old value: a form writes all of its fields.
@Suite struct EqualValueTests {
    private static let ways = ["refresh", "merge", "automatic merge", "refresh of all"]

    @Test(arguments: StoreKind.allCases, ways)
    func `A value that is set to what it was takes back nothing that another context has changed`(kind: StoreKind, way: String) throws {
        let stack = try TestStack(kind), context = stack.context, other = stack.newContext()
        context.automaticallyMergesChangesFromParent = way == "automatic merge"
        let group = stack.insert("Group", ["title": "g"])
        let person = stack.insert("Person", ["name": "a", "age": 1, "group": group])
        try context.save()
        let theirs = try #require(try stack.fetch("Person", in: other).first)
        // A form that changed only the age writes this too.
        person.setValue("a", forKey: "name")
        person.setValue(nil, forKey: "birthday")
        person.setValue(group, forKey: "group")
        person.setValue(2, forKey: "age")
        theirs.setValue("b", forKey: "name")
        theirs.setValue(Date(timeIntervalSinceReferenceDate: 5), forKey: "birthday")
        theirs.setValue(nil, forKey: "group")
        nonisolated(unsafe) var saved: Notification?
        let name = NSManagedObjectContext.didSaveObjectsNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: other, queue: nil) { saved = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.save()
        switch way {
        case "refresh": context.refresh(person, mergeChanges: true)
        case "merge": context.mergeChanges(fromContextDidSave: try #require(saved))
        case "refresh of all": context.refreshAllObjects()
        default: break
        }
        context.processPendingChanges()
        #expect(person.text("name") == "b" && person.value(forKey: "birthday") != nil && person.one("group") == nil)
        #expect(person.value(forKey: "age") as? Int == 2)
        try context.save()
        let found = try #require(try stack.fetch("Person", in: stack.anew()).first)
        #expect(found.text("name") == "b" && found.value(forKey: "birthday") != nil && found.one("group") == nil)
        #expect(found.value(forKey: "age") as? Int == 2)
    }

    @Test
    func `A child that sets a value to what it was takes over what its parent has made of it`() throws {
        let stack = try TestStack(.inMemory), child = stack.context.child()
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        let theirs = try #require(try stack.fetch("Person", in: child).first)
        theirs.setValue("a", forKey: "name")
        theirs.setValue(nil, forKey: "birthday")
        person.setValue("b", forKey: "name")
        child.refresh(theirs, mergeChanges: true)
        #expect(theirs.text("name") == "b")
    }

    @Test
    func `The history records the sign of a zero, and NaN over NaN is no change`() throws {
        let stack = try TestStack.tracking()
        let object = stack.insert("Everything", ["double": 0.0, "date": Date(timeIntervalSinceReferenceDate: .nan), "float": Float.nan])
        try stack.context.save()
        let token = stack.token
        object.setValue(-0.0, forKey: "double")
        object.setValue(Float.nan, forKey: "float")
        object.setValue(Date(timeIntervalSinceReferenceDate: .nan), forKey: "date")
        #expect(Set(object.changedValues().keys) == ["double"])
        try stack.context.save()
        #expect(try stack.changes(after: token) == ["update Everything \(object.objectID.key.row): double"])
        let found = try #require(try stack.fetch("Everything", in: stack.anew()).first)
        #expect((found.value(forKey: "double") as? Double)?.sign == .minus)
    }

    /// Several keys, whose order differs between archives.
    private static func map(_ text: String = "a") -> NSDictionary {
        ["k": [7, text, true] as NSArray, "l": 2.5, "m": "m", "n": Set(["s", "t"]) as NSSet, "o": Date(timeIntervalSinceReferenceDate: 5)]
    }

    @Test(arguments: StoreKind.allCases)
    func `A transformable that is set to an equal object is no change`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context, other = stack.newContext()
        let object = stack.insert("Everything", ["transformable": Self.map(), "int16": 1])
        try context.save()
        let theirs = try #require(try stack.fetch("Everything", in: other).first)
        object.setValue(Self.map(), forKey: "transformable")
        #expect(!object.hasPersistentChangedValues && object.changedValuesForCurrentEvent().isEmpty)
        object.setValue(2, forKey: "int16")
        #expect(Set(object.changedValues().keys) == ["int16"])
        // It reverts no change of another context.
        theirs.setValue(Self.map("b"), forKey: "transformable")
        try other.save()
        context.refresh(object, mergeChanges: true)
        #expect((object.value(forKey: "transformable") as? NSDictionary)?.isEqual(Self.map("b")) ?? false)
        try context.save()
        other.refreshAllObjects()
        #expect((theirs.value(forKey: "transformable") as? NSDictionary)?.isEqual(Self.map("b")) ?? false)
        // Nor does another context that sets an equal value override a change.
        _ = object.value(forKey: "transformable")
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        theirs.setValue(Self.map("b"), forKey: "transformable")
        theirs.setValue("text", forKey: "string")
        try other.save()
        object.setValue(Self.map("c"), forKey: "transformable")
        try context.save()
        let found = try #require(try stack.fetch("Everything", in: stack.anew()).first)
        #expect((found.value(forKey: "transformable") as? NSDictionary)?.isEqual(Self.map("c")) ?? false && found.text("string") == "text")
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A transformable that is set to an equal object is not written`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let object = stack.insert("Everything", ["transformable": Self.map()])
        try stack.context.save()
        let before = stack.bytesAppended
        for _ in 0..<20 {
            object.setValue(Self.map(), forKey: "transformable")
            try stack.context.save()
        }
        #expect(stack.bytesAppended == before)
    }

    @Test(arguments: StoreKind.recordLogs)
    func `An object in which a text has other bytes, or a number another sign or type, is another one`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let object = stack.insert("Everything", ["transformable": "a" as NSString])
        try stack.context.save()
        let values: [Any] = [
            "\u{E9}", "e\u{301}", ["\u{E9}"] as NSArray, ["e\u{301}"] as NSArray, ["\u{E9}": 1] as NSDictionary, ["e\u{301}": 1] as NSDictionary,
            Set(["\u{E9}"]) as NSSet, Set(["e\u{301}"]) as NSSet,
            [0.0] as NSArray, [-0.0] as NSArray, [1] as NSArray, [true] as NSArray, [1.0] as NSArray,
            [1, 1] as NSArray, [[1, 1] as NSArray] as NSArray, [Int64.max] as NSArray, [Int64.max - 1] as NSArray,
        ]
        for value in values {
            object.setValue(value, forKey: "transformable")
            #expect(object.hasPersistentChangedValues, "\(value)")
            try stack.context.save()
            object.setValue(value, forKey: "transformable")
            #expect(!object.hasPersistentChangedValues, "\(value)")
            try stack.context.save()
        }
    }
}
