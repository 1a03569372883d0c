import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// An unread to-many relationship answers questions at the cost of the question.
@Suite struct UnreadRelationshipTests {
    private static let many = 300
    /// One to many, many to many from both sides' tables, ordered, and without an inverse.
    private static let keys = ["children", "friends", "steps", "items", "follows"]

    private struct Far {
        let stack: TestStack
        let context: NSManagedObjectContext
        let hub: NSManagedObject
        let members: [String: [NSManagedObjectID]]

        init(_ kind: StoreKind) throws {
            stack = try TestStack(kind, model: GraphModel.make())
            let hub = stack.node("hub")
            var members: [String: [NSManagedObject]] = [:]
            for key in UnreadRelationshipTests.keys {
                let entity = key == "steps" ? "Step" : key == "items" ? "Item" : "Node"
                members[key] = stack.make(entity, (0...UnreadRelationshipTests.many).map { "\(key)\($0)" })
                // The last one is not a member.
                hub.setValue(Array(members[key]!.dropLast()), forKey: key)
            }
            try stack.context.save()
            self.members = members.mapValues { $0.map(\.objectID) }
            context = stack.anew()
            self.hub = context.object(with: hub.objectID)
            _ = self.hub.value(forKey: "name")
        }

        /// Rows and entries read by `body`; checks that the relationship is still unread.
        func cost(_ key: String, _ body: () throws -> Void) rethrows -> (rows: UInt64, entries: Int) {
            let rows = stack.rowReads, entries = MembersRead(by: context)
            try body()
            #expect(hub.hasFault(forRelationshipNamed: key), "\(key) was read")
            return (stack.rowReads - rows, entries.read)
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Count, contains and first read no members`(kind: StoreKind) throws {
        let far = try Far(kind)
        for key in Self.keys {
            let index = far.hub.index(key), ids = far.members[key]!
            let inside = far.context.object(with: ids[40]), outside = far.context.object(with: ids.last!)
            let counting = far.cost(key) { #expect(far.hub.countOfManagedObjects(at: index) == Self.many) }
            #expect(counting.rows == 0 && counting.entries == 0)
            let asking = far.cost(key) {
                #expect(far.hub.containsManagedObject(inside, at: index))
                #expect(!far.hub.containsManagedObject(outside, at: index))
            }
            #expect(asking.rows <= 2 && asking.entries <= 2, "\(key)")
            let first = far.cost(key) {
                let first = far.hub.firstManagedObject(at: index)
                #expect(first.map { ids.dropLast().contains($0.objectID) } == true)
                if ["steps", "items"].contains(key) { #expect(first?.objectID == ids[0]) }
            }
            #expect(first.rows == 0 && first.entries == 1, "\(key)")
            let proxy = far.hub.mutableSetValue(forKey: key)
            let set = far.cost(key) {
                #expect(proxy.count == Self.many && proxy.contains(inside) && !proxy.contains(outside) && !proxy.contains("text"))
                #expect(proxy.anyObject() != nil)
            }
            #expect(set.rows <= 2 && set.entries <= 3)
        }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Adding and removing read no other member`(kind: StoreKind) throws {
        let far = try Far(kind)
        for key in Self.keys {
            let index = far.hub.index(key), ids = far.members[key]!
            let cost = far.cost(key) {
                far.hub.addManagedObject(far.context.object(with: ids.last!), at: index)
                far.hub.removeManagedObject(far.context.object(with: ids[7]), at: index)
                far.hub.removeManagedObject(far.context.object(with: ids[7]), at: index)
                far.hub.addManagedObject(far.context.object(with: ids[3]), at: index)
                #expect(far.hub.countOfManagedObjects(at: index) == Self.many)
                #expect(!far.hub.containsManagedObject(far.context.object(with: ids[7]), at: index))
                #expect(far.hub.firstManagedObject(at: index) != nil)
            }
            #expect(cost.rows <= 8 && cost.entries <= 12, "\(key): \(cost)")
        }
        let rows = far.stack.rowReads, bytes = far.stack.bytesAppended
        try far.context.save()
        #expect(far.stack.rowReads - rows < 60)
        #expect(far.stack.bytesAppended - bytes < 4096)
        for key in Self.keys {
            let hub = try far.stack.named("hub", in: far.stack.anew())
            var expected = far.members[key]!
            expected.remove(at: 7)
            #expect(Set(hub.objectIDs(forRelationshipNamed: key)) == Set(expected), "\(key)")
            if ["steps", "items"].contains(key) { #expect(hub.objectIDs(forRelationshipNamed: key) == expected, "\(key)") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `The other side of an ordered relationship answers too`(kind: StoreKind) throws {
        let far = try Far(kind)
        let item = far.context.object(with: far.members["items"]![5]), index = item.index("nodes")
        #expect(item.containsManagedObject(far.hub, at: index) && item.countOfManagedObjects(at: index) == 1)
        #expect(item.firstManagedObject(at: index) === far.hub && item.hasFault(forRelationshipNamed: "nodes"))
    }
}
