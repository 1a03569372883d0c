import Testing

@testable import Heartwood

@Suite struct RetainingTests {
    @Test func aContextHoldsItsObjectsWhereItIsTold() throws {
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
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count <= 1)
    }

    @Test("A context that is reset lets go of an object that had changed in two of its events") func aResetLetsGoOfWhatHadChangedAgain() throws {
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

    @Test("An object that a save has deleted keeps a copy of its row, and reads as it did once its context and its store are gone")
    func aDeletedObjectKeepsItsRow() throws {
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
