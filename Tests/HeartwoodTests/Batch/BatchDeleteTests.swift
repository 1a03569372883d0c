import Foundation
import HeartwoodOutsideStore
import RecordLog
import Testing

@testable import Heartwood

@Suite struct BatchDeleteTests {
    /// The number of rows in all join tables.
    private func links(_ stack: TestStack) throws -> Int {
        if let database = TableServer.database(at: stack.url) { return database.pairCount }
        if stack.kind == .postgreSQL { return try PostgreSQLSchema(of: stack).pairCount() }
        let loaded = try stack.store.loaded()
        return loaded.schema.links.reduce(0) { $0 + loaded.log.snapshot().rowCount($1.id) }
    }

    @Test(arguments: StoreKind.batching)
    func `A batch deletion respects limit, order and subentities`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        try stack.insertBatch((0..<10).map { ["name": "p\($0)", "age": $0] })
        try stack.insertBatch([["name": "e", "age": 20]], into: "Employee")
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        fetch.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        fetch.fetchLimit = 3
        fetch.fetchOffset = 1
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 3)
        #expect(try stack.names() == ["e", "p0", "p1", "p2", "p3", "p4", "p5", "p6"])
        fetch.fetchLimit = 0
        fetch.fetchOffset = 0
        fetch.includesSubentities = false
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 7)
        #expect(try stack.names() == ["e"])
    }

    @Test(arguments: StoreKind.batching)
    func `Objects are deleted by their IDs`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ids = try stack.insertBatch((0..<4).map { ["name": "p\($0)"] })
        let tag = try #require(try stack.insertBatch([["label": "t"]], into: "Tag").first)
        let request = NSBatchDeleteRequest(objectIDs: [ids[1], ids[3], ids[1]])
        request.resultType = .resultTypeCount
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
        #expect((try stack.context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 0, "they are gone")
        #expect(throws: NSError.self) { try stack.context.execute(NSBatchDeleteRequest(objectIDs: [ids[0], tag])) }
        let unsaved = stack.insert("Person", ["name": "u"])
        #expect(throws: NSError.self) { try stack.context.execute(NSBatchDeleteRequest(objectIDs: [unsaved.objectID])) }
        #expect((try stack.context.execute(NSBatchDeleteRequest(objectIDs: [])) as? NSBatchDeleteResult)?.result as? Bool == true)
        #expect(try stack.names() == ["p0", "p2", "u"])
    }

    @Test(arguments: StoreKind.batching)
    func `A nullify rule clears every kind of inverse`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make())
        let hub = stack.node("hub"), others = ["a", "b"].map(stack.node)
        let steps = stack.make("Step", ["s", "t"]) + stack.make("Pause", ["z"]), items = stack.make("Item", ["i", "j"])
        hub.setValue(stack.make("Card", ["c"])[0], forKey: "card")
        hub.setValue(others[0], forKey: "spouse")
        hub.setValue(others[0], forKey: "parent")
        hub.setValue(Set([others[1]]), forKey: "children")
        hub.setValue(Set(others), forKey: "friends")
        hub.setValue(Set(others), forKey: "follows")
        others[1].setValue(Set([hub]), forKey: "follows")
        hub.setValue(NSOrderedSet(array: steps), forKey: "steps")
        hub.setValue(NSOrderedSet(array: items), forKey: "items")
        try stack.context.save()
        let ids = try stack.deleteBatch("Node", "name == 'hub'")
        #expect(ids == [hub.objectID])
        let context = stack.anew()
        #expect(try links(stack) == 0)
        for entity in ["Card", "Node", "Step", "Item"] {
            for object in try stack.fetch(entity, in: context) {
                for (key, _) in object.entity.relationshipsByName { #expect(object.names(key).isEmpty, "\(entity).\(key)") }
            }
        }
        #expect(try stack.fetch("Node", in: context).count == 2 && stack.fetch("Step", in: context).count == 3)
    }

    @Test(arguments: StoreKind.batching)
    func `The other members keep their order when one is deleted`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make())
        let hub = stack.node("hub"), steps = stack.make("Step", ["s", "t", "u"]), items = stack.make("Item", ["i", "j", "k"])
        hub.setValue(NSOrderedSet(array: steps), forKey: "steps")
        hub.setValue(NSOrderedSet(array: items), forKey: "items")
        try stack.context.save()
        _ = try stack.deleteBatch("Step", "name == 't'")
        _ = try stack.deleteBatch("Item", "name == 'i'")
        let context = stack.anew()
        let stored = try stack.named("hub", in: context)
        #expect(stored.names("steps") == ["s", "u"] && stored.names("items") == ["j", "k"])
        #expect(try links(stack) == 4)
    }

    @Test(arguments: StoreKind.batching)
    func `Deletions cascade all the way, and once around a cycle`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(stepRule: .cascadeDeleteRule, childRule: .cascadeDeleteRule))
        let nodes = (0..<6).map { stack.node("n\($0)") }
        for (index, node) in nodes.enumerated() {
            if index > 0 { node.setValue(nodes[index - 1], forKey: "parent") }
            node.setValue(NSOrderedSet(array: stack.make("Step", ["s\(index)"])), forKey: "steps")
        }
        nodes[2].setValue(nodes[4], forKey: "parent")
        try stack.context.save()
        // 0 > 1, and 2 > 3 > 4 > 2; 4 > 5.
        let ids = try stack.deleteBatch("Node", "name == 'n3'")
        #expect(ids.count == 8 && ids.filter { $0.entity.name == "Step" }.count == 4)
        let context = stack.anew()
        #expect(try stack.fetch("Node", in: context).compactMap { $0.value(forKey: "name") as? String }.sorted() == ["n0", "n1"])
        #expect(try stack.fetch("Step", in: context).count == 2 && links(stack) == 2)
        // The count has only the requested objects.
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Node")
        fetch.predicate = NSPredicate(format: "name IN {'n0', 'n1'}")
        let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
        deletion.resultType = .resultTypeCount
        #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 2)
        #expect(try stack.fetch("Step", in: stack.anew()).isEmpty)
    }

    @Test(arguments: StoreKind.batching)
    func `A deny rule holds unless the destinations are deleted too`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(stepRule: .cascadeDeleteRule, childRule: .denyDeleteRule))
        let a = stack.node("a"), b = stack.node("b")
        b.setValue(a, forKey: "parent")
        stack.make("Step", ["s"])[0].setValue(a, forKey: "owner")
        try stack.context.save()
        let error = #expect(throws: NSError.self) { try stack.deleteBatch("Node", "name == 'a'") }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "children")
        #expect(try stack.fetch("Node", in: stack.anew()).count == 2 && stack.fetch("Step", in: stack.anew()).count == 1)
        #expect(try stack.deleteBatch("Node").count == 3)
    }

    @Test(arguments: StoreKind.batching)
    func `A required inverse cannot be nullified`(kind: StoreKind) throws {
        let model = GraphModel.make()
        model.entitiesByName["Step"]?.relationshipsByName["owner"]?.isOptional = false
        let stack = try TestStack(kind, model: model)
        let hub = stack.node("hub")
        hub.setValue(NSOrderedSet(array: stack.make("Step", ["s"])), forKey: "steps")
        try stack.context.save()
        let error = #expect(throws: NSError.self) { try stack.deleteBatch("Node") }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(try stack.fetch("Node", in: stack.anew()).count == 1)
    }

    @Test(arguments: StoreKind.batching)
    func `A no-action rule leaves the inverse as it is`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: GraphModel.make(childRule: .noActionDeleteRule))
        let a = stack.node("a"), b = stack.node("b")
        b.setValue(a, forKey: "parent")
        try stack.context.save()
        _ = try stack.deleteBatch("Node", "name == 'a'")
        let far = try stack.named("b", in: stack.anew())
        let gone = try #require(far.value(forKey: "parent") as? NSManagedObject)
        #expect(gone.objectID == a.objectID && gone.value(forKey: "name") == nil)
    }

    @Test(arguments: StoreKind.batching)
    func `The unique values of a deleted row are free`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        try stack.insertBatch([["name": "a", "email": "a@x"]])
        _ = try stack.deleteBatch("Person")
        try stack.insertBatch([["name": "b", "email": "a@x"]])
        #expect(try stack.names() == ["b"])
    }
}
