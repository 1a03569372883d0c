import Foundation
import Testing

@testable import Heartwood

@Suite struct RetainingTests {
    @Test
    func `A context retains its objects if it is set to`() throws {
        let stack = try TestStack(.inMemory)
        for index in 0..<1500 { stack.insert("Tag", ["label": "\(index)"]) }
        try stack.context.save()
        let context = stack.newContext()
        #expect(!context.retainsRegisteredObjects)
        context.retainsRegisteredObjects = true
        _ = try stack.fetch("Tag", in: context)
        context.refreshAllObjects()
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count == 1500)
        weak let tag = context.registeredObjects.first
        context.reset()
        #expect(tag == nil && context.retainsRegisteredObjects && context.registeredObjects.isEmpty)
        _ = try stack.fetch("Tag", in: context)
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count == 1500)
        context.retainsRegisteredObjects = false
        #expect(context.identities.count == 0, "they go at once")
    }

    @Test(arguments: StoreKind.allCases)
    func `A context has no unreferenced object when asked`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ids = try (0..<4).map { stack.insert("Tag", ["label": "\($0)"]) }.map { tag in
            try stack.context.save()
            return tag.objectID
        }
        let context = stack.newContext()
        for tag in try stack.fetch("Tag", in: context) { #expect(tag.text("label") != nil) }
        let held = context.object(with: ids[1]), changed = context.object(with: ids[2])
        changed.setValue("changed", forKey: "label")
        #expect(context.identities.count == 4)
        #expect(ids.map { context.registeredObject(for: $0) } == [nil, held, changed, nil])
        #expect(context.identities.count == 2 && context.identities.checkInvariants())
        for tag in try stack.fetch("Tag", in: context) { #expect(tag.text("label") != nil) }
        #expect(context.registeredObjects == [held, changed] && context.identities.count == 2)
        context.retainsRegisteredObjects = true
        _ = try stack.fetch("Tag", in: context)
        #expect(ids.allSatisfy { context.registeredObject(for: $0) != nil } && context.registeredObjects.count == 4)
    }

    /// A merge refreshes referenced objects; the others' rows are not kept, and their changes not reported.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `A merge forgets unreferenced objects`(kind: StoreKind, isRemote: Bool) throws {
        let stack = try TestStack(kind)
        let tags = (0..<4).map { stack.insert("Tag", ["label": "\($0)"]) }
        try stack.context.save()
        let context = stack.newContext()
        for tag in try stack.fetch("Tag", in: context) { #expect(tag.text("label") != nil) }
        let held = context.own(tags[1])
        let heard = Heard([.NSManagedObjectContextDidSaveObjectIDs], of: stack.context)
        let told = Heard([.NSManagedObjectContextObjectsDidChange], of: context)
        for tag in tags { tag.setValue("new", forKey: "label") }
        try stack.context.save()
        let notification = try #require(heard.take())
        if isRemote {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: notification.userInfo ?? [:], into: [context])
        } else {
            context.mergeChanges(fromContextDidSave: notification)
        }
        #expect(told.take()?.objects(NSRefreshedObjectsKey) == [held])
        #expect(context.identities.count == 1 && held.text("label") == "new")
        #expect(try stack.fetch("Tag", in: context).allSatisfy { $0.text("label") == "new" })
    }

    @Test
    func `A context that is reset lets go of an object that had changed in two of its events`() throws {
        let stack = try TestStack(.inMemory)
        weak var tag: NSManagedObject?
        do {
            let made = stack.insert("Tag", ["label": "a"])
            stack.context.processPendingChanges()
            made.setValue("b", forKey: "label")
            tag = made
        }
        #expect(tag != nil)
        stack.context.reset()
        #expect(tag == nil)
    }

    @Test
    func `An object that a save has deleted keeps a copy of its row, and reads as it did once its context and its store are gone`() throws {
        func deleted() throws -> NSManagedObject {
            let stack = try TestStack(.recordLog)
            stack.insert("Person", ["name": "ann", "age": 30])
            try stack.context.save()
            let context = stack.newContext(), ann = try stack.fetch("Person", in: context)[0]
            #expect(ann.value(forKey: "age") as? Int == 30)
            context.delete(ann)
            try context.save()
            return ann
        }
        let ann = try deleted()
        try #require(ann.managedObjectContext == nil && ann.storage?.rowCopies != nil)
        #expect(ann.value(forKey: "name") as? String == "ann")
    }
}
