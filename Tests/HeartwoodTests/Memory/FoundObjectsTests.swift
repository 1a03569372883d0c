import Testing

@testable import Heartwood

/// The objects of a fetch before they are in its array, and the context's table of them.
struct FoundObjectsTests {
    @Test(arguments: [0, 1, 119, 120, 121, 1000])
    func `Found objects come out in order and are released`(count: Int) throws {
        let tag = try #require(TestStack.model().entitiesByName["Tag"])
        weak var last: NSManagedObject?
        var objects: [NSManagedObject] = []
        do {
            let found = FoundObjects(expected: count == 119 ? 119 : nil)
            for _ in 0..<count {
                let made = NSManagedObject(entity: tag, insertInto: nil)
                objects.append(made)
                found.append(made)
            }
            last = objects.last
            #expect(found.take() == objects && found.take().isEmpty)
            for object in objects { found.append(object) }
        }
        objects = []
        #expect(last == nil)
    }

    @Test
    func `A table that is swept keeps held objects and stays consistent`() throws {
        let stack = try TestStack(.inMemory)
        for number in 0..<6000 { stack.insert("Tag", ["label": "t\(number)"]) }
        try stack.context.save()
        let context = stack.context
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        var held: [NSManagedObject] = []
        for round in 0..<12 {
            request.fetchOffset = round * 500
            request.fetchLimit = 500
            let found = try context.fetch(request)
            held += found.indices.filter { $0 % 7 == round % 7 }.map { found[$0] }
            _ = consume found
            context.identities.sweep()
            #expect(context.identities.checkInvariants() && context.identities.count == held.count, "round \(round)")
            #expect(held.allSatisfy { context.identities[$0.key] === $0 })
        }
        held = []
        context.identities.sweep()
        #expect(context.identities.count == 0 && context.identities.checkInvariants() && context.identities.byteCount <= 4096 * 12)
    }
}
