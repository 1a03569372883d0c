import Foundation
import HeartwoodTestSupport
import Testing

@_spi(GeneratedCode) @testable import Heartwood

@Suite struct OrderedRelationshipTests {
    private func stack(_ kind: StoreKind) throws -> TestStack { try TestStack(kind, model: GraphModel.make()) }

    /// Once only one of the two sides kept its order.
    @Test(arguments: StoreKind.allCases)
    func `Both sides keep their order`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let nodes = ["a", "b", "c"].map(stack.node), items = stack.make("Item", ["x", "y", "z"])
        nodes[0].setValue([items[2], items[0], items[1]], forKey: "items")
        nodes[1].setValue([items[1], items[2]], forKey: "items")
        items[2].setValue([nodes[2], nodes[1], nodes[0]], forKey: "nodes")
        func check(_ context: NSManagedObjectContext) throws {
            #expect(try stack.named("a", in: context).names("items") == ["z", "x", "y"])
            #expect(try stack.named("b", in: context).names("items") == ["y", "z"])
            #expect(try stack.named("c", in: context).names("items") == ["z"])
            #expect(try stack.named("x", "Item", in: context).names("nodes") == ["a"])
            #expect(try stack.named("y", "Item", in: context).names("nodes") == ["a", "b"])
            #expect(try stack.named("z", "Item", in: context).names("nodes") == ["c", "b", "a"])
        }
        try check(stack.context)
        try stack.context.save()
        try check(stack.context)
        try check(stack.anew())
        // Only one side of existing pairs.
        let context = stack.anew()
        try stack.named("z", "Item", in: context).setValue(["a", "c", "b"].map { try stack.named($0, in: context) }, forKey: "nodes")
        try context.save()
        #expect(try stack.named("z", "Item", in: stack.anew()).names("nodes") == ["a", "c", "b"])
        #expect(try stack.named("a", in: stack.anew()).names("items") == ["z", "x", "y"])
        context.delete(try stack.named("a", in: context))
        try context.save()
        #expect(try stack.named("z", "Item", in: stack.anew()).names("nodes") == ["c", "b"])
        #expect(try stack.named("x", "Item", in: stack.anew()).names("nodes") == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `The proxy behaves like an ordered set`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let hub = stack.node("hub"), steps = stack.make("Step", (0..<6).map { "s\($0)" })
        let plain = NSMutableOrderedSet(), set = hub.mutableOrderedSetValue(forKey: "steps")
        func both(_ name: String, _ body: (NSMutableOrderedSet) -> Void) throws {
            body(plain)
            body(set)
            let expected = plain.array as! [NSManagedObject]
            #expect(set.array as? [NSManagedObject] == expected, "\(name): enumerated")
            #expect((0..<set.count).map { set[$0] as? NSManagedObject } == expected, "\(name): by position")
            #expect(set.firstObject as? NSManagedObject === expected.first && set.lastObject as? NSManagedObject === expected.last)
            #expect(set.reversed.array as? [NSManagedObject] == expected.reversed(), "\(name)")
            #expect(set.isEqual(plain) && plain.isEqual(set))
            for step in steps {
                #expect(set.contains(step) == plain.contains(step) && set.index(of: step) == plain.index(of: step), "\(name)")
                #expect((step.value(forKey: "owner") as? NSManagedObject === hub) == plain.contains(step), "\(name): the other side")
            }
            // By index in the context, and in the store.
            #expect(hub.managedObjects(at: hub.index("steps")) == expected, "\(name)")
            try stack.context.save()
            #expect(try stack.named("hub", in: stack.anew()).names("steps") == hub.names("steps"), "\(name): saved")
            #expect(hub.managedObjects(at: hub.index("steps")) == expected, "\(name): after the save")
        }
        try both("add") { $0.add(steps[0]) }
        try both("add again") { $0.add(steps[0]) }
        try both("add several") { $0.addObjects(from: [steps[1], steps[2], steps[0]]) }
        try both("insert") { $0.insert(steps[3], at: 1) }
        try both("insert a member") { $0.insert(steps[3], at: 0) }
        try both("insert several") { $0.insert([steps[4], steps[5]], at: IndexSet([0, 3])) }
        try both("move") { $0.moveObjects(at: IndexSet([0, 2]), to: 3) }
        try both("exchange") { $0.exchangeObject(at: 0, withObjectAt: 4) }
        try both("remove at") { $0.removeObject(at: 2) }
        try both("remove several") { $0.removeObjects(at: IndexSet([0, 3])) }
        try both("replace") { set in
            let outside = steps.first { !set.contains($0) }!
            set.replaceObject(at: 1, with: outside)
        }
        try both("remove") { $0.remove(steps[4]) }
        try both("union") { $0.union(NSOrderedSet(array: steps)) }
        try both("sort") { $0.sort { a, b in
            (a as! NSManagedObject).names < (b as! NSManagedObject).names ? .orderedAscending : .orderedDescending
        } }
        try both("minus") { $0.minus(NSOrderedSet(array: [steps[0], steps[3]])) }
        try both("unionSet") { $0.unionSet([steps[0]]) }
        try both("intersectSet") { $0.intersectSet([steps[0], steps[5], steps[1]]) }
        try both("subscript") { $0[1] = steps[2] }
        try both("remove range") { $0.removeObjects(in: NSRange(location: 0, length: 2)) }
        try both("remove all") { $0.removeAllObjects() }
        set.addObjects(from: steps)
        set.sort(using: [NSSortDescriptor(key: "name", ascending: false)])
        #expect(hub.names("steps") == ["s5", "s4", "s3", "s2", "s1", "s0"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Members are changed by index`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let hub = stack.node("hub"), index = hub.index("items"), items = stack.make("Item", (0..<6).map { "\($0)" })
        func names() -> String { hub.names("items").joined() }
        hub.addManagedObjects(Array(items[0..<4]), at: index)
        hub.insertManagedObject(items[4], atPosition: 0, at: index)
        #expect(names() == "40123")
        hub.insertManagedObjects([items[5], items[1]], atPositions: [1, 2], at: index)
        #expect(names() == "450123", "a member stays where it is")
        hub.replaceManagedObject(atPosition: 0, with: items[3], at: index)
        #expect(names() == "35012")
        hub.replaceManagedObject(atPosition: 3, with: items[3], at: index)
        #expect(names() == "5032")
        hub.replaceManagedObjects(atPositions: [0, 3], with: [items[4], items[1]], at: index)
        #expect(names() == "4031")
        hub.moveManagedObjects(atPositions: [0, 1], toPosition: 2, at: index)
        #expect(names() == "3140")
        hub.removeManagedObjects(atPositions: [1, 3], at: index)
        hub.removeManagedObjects([items[4], items[5]], at: index)
        #expect(names() == "3" && hub.managedObject(atPosition: 0, at: index) === items[3])
        #expect(items[0].names("nodes") == [] && items[3].names("nodes") == ["hub"])
    }

    /// A member that was removed and added again before the save came back to its old position, and only in the store.
    @Test(arguments: StoreKind.allCases)
    func `A member that is removed and added again comes last`(kind: StoreKind) throws {
        for isRead in [false, true] {
            let stack = try stack(kind)
            let hub = stack.node("hub"), other = stack.node("other")
            hub.setValue(stack.make("Step", ["a", "b", "c"]), forKey: "steps")
            try stack.context.save()
            let context = stack.anew()
            let far = context.object(with: hub.objectID), step = try stack.named("a", "Step", in: context)
            if isRead { #expect(far.names("steps") == ["a", "b", "c"]) }
            step.setValue(context.object(with: other.objectID), forKey: "owner")
            step.setValue(far, forKey: "owner")
            #expect(far.names("steps") == ["b", "c", "a"])
            try context.save()
            #expect(far.names("steps") == ["b", "c", "a"])
            #expect(try stack.named("hub", in: stack.anew()).names("steps") == ["b", "c", "a"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `An order survives additions by others`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let hub = stack.node("hub"), item = stack.make("Item", ["i"])[0]
        hub.setValue(stack.make("Step", ["a", "b", "c"]), forKey: "steps")
        item.setValue([hub], forKey: "nodes")
        try stack.context.save()
        let contexts = (0..<3).map { _ in stack.anew() }
        let hubs = contexts.map { $0.object(with: hub.objectID) }, index = hub.index("steps")
        for hub in hubs { #expect(hub.names("steps") == ["a", "b", "c"]) }
        // One appends, one reorders, one removes.
        hubs[0].addManagedObject(stack.insert("Step", ["name": "d"], into: contexts[0]), at: index)
        hubs[0].addManagedObject(stack.insert("Item", ["name": "j"], into: contexts[0]), at: hub.index("items"))
        hubs[1].moveManagedObjects(atPositions: [2], toPosition: 0, at: index)
        hubs[1].insertManagedObject(stack.insert("Step", ["name": "e"], into: contexts[1]), atPosition: 1, at: index)
        hubs[1].addManagedObject(stack.insert("Item", ["name": "k"], into: contexts[1]), at: hub.index("items"))
        hubs[2].removeManagedObject(try stack.named("b", "Step", in: contexts[2]), at: index)
        hubs[2].addManagedObject(stack.insert("Step", ["name": "f"], into: contexts[2]), at: index)
        for context in contexts { try context.save() }
        let last = try stack.named("hub", in: stack.anew())
        #expect(last.names("steps") == ["c", "e", "a", "d", "f"])
        #expect(last.names("items") == ["i", "j", "k"])
    }

    /// Every link row of the owner was once written again.
    @Test(arguments: StoreKind.recordLogs, ["steps", "items"])
    func `A change of a long order writes only the members that moved`(kind: StoreKind, key: String) throws {
        let stack = try stack(kind)
        let hub = stack.node("hub"), index = hub.index(key), entity = key == "steps" ? "Step" : "Item"
        hub.setValue(stack.make(entity, (0..<800).map { "\($0)" }), forKey: key)
        try stack.context.save()
        var expected = hub.names(key)
        func cost(_ what: String, atMost limit: UInt64, _ body: (NSManagedObjectContext, NSManagedObject) -> Void) throws {
            let context = stack.anew()
            let before = stack.bytesAppended
            body(context, context.object(with: hub.objectID))
            try context.save()
            let bytes = stack.bytesAppended - before
            #expect(bytes <= limit, "\(what) wrote \(bytes) bytes")
            #expect(try stack.named("hub", in: stack.anew()).names(key) == expected, "\(what)")
        }
        expected.append("last")
        try cost("appending", atMost: 1024) { $1.addManagedObject(stack.insert(entity, ["name": "last"], into: $0), at: index) }
        expected.insert("first", at: 0)
        try cost("inserting first", atMost: 1024) {
            $1.insertManagedObject(stack.insert(entity, ["name": "first"], into: $0), atPosition: 0, at: index)
        }
        expected.insert("middle", at: 400)
        try cost("inserting", atMost: 1024) {
            $1.insertManagedObject(stack.insert(entity, ["name": "middle"], into: $0), atPosition: 400, at: index)
        }
        expected.insert(expected.remove(at: 5), at: 600)
        try cost("moving", atMost: 1024) { $1.moveManagedObjects(atPositions: [5], toPosition: 600, at: index) }
        expected.remove(at: 300)
        try cost("removing", atMost: 1024) { $1.removeManagedObjects(atPositions: [300], at: index) }
        expected.reverse()
        try cost("reversing", atMost: 160_000) { $1.setManagedObjects($1.managedObjects(at: index).reversed(), at: index) }
    }

    @Test
    func `A member that was added unread, and that the store has, leaves the order when another context removes it`() {
        let a = ObjectKey(slot: 1, row: 1), b = ObjectKey(slot: 1, row: 2)
        let members = ToManyState(base: nil, isOrdered: true)
        members.add(a)
        members.fire([a, b])
        members.setOrder([b, a])
        members.rebase([b])
        #expect(members.members == [b] && members.contains(a) == false && members.count == 1)
    }

    @Test
    func `Positions keep their order, and as few as possible change`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var positions = LinkOrder.changes([Int64?](repeating: nil, count: 20)).map(\.position)
        #expect(positions == positions.sorted() && Set(positions).count == 20)
        for round in 0..<400 {
            var wanted: [Int64?] = positions
            var moved = 0
            for _ in 0...Int(random.next() % 3) {
                moved += 1
                if random.next() % 2 == 0 {
                    wanted.insert(nil, at: Int(random.next() % UInt64(wanted.count + 1)))
                } else {
                    let one = wanted.remove(at: Int(random.next() % UInt64(wanted.count)))
                    wanted.insert(one, at: Int(random.next() % UInt64(wanted.count)))
                }
            }
            let changes = LinkOrder.changes(wanted)
            for change in changes { wanted[change.index] = change.position }
            positions = wanted.compactMap { $0 }
            #expect(positions.count == wanted.count && zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed), round \(round)")
            #expect(changes.count <= moved || changes.count > positions.count / 2, "seed \(seed), round \(round)")
            if positions.count > 60 { positions.removeSubrange(10..<40) }
        }
        // No room between, none before the first, none after the last.
        for crowded: [Int64?] in [[1, nil, 2], [nil, .min], [.max, nil], [.min, nil, .max]] {
            var result = crowded
            for change in LinkOrder.changes(crowded) { result[change.index] = change.position }
            let positions = result.compactMap { $0 }
            #expect(positions.count == crowded.count && zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    /// Foundation iterated over members that were no longer current, and ended the process when it made another ordered set from it.
    @Test
    func `An ordered set that is kept shows other changes`() throws {
        let stack = try TestStack(.inMemory)
        let person = stack.insert("Person", ["name": "a"]), kept = person.mutableOrderedSetValue(forKey: "tasks")
        let tasks = (0..<4).map { stack.insert("Task", ["title": "t\($0)"]) }, all = NSOrderedSet(array: tasks)
        func titles(_ members: [Any]) -> String { members.map { ($0 as? NSManagedObject)?.text("title") ?? "?" }.joined() }
        person.setValue(all, forKey: "tasks")
        #expect(kept.isEqual(to: all) && all.isEqual(kept) && kept.isSubset(of: all) && kept.intersects(NSOrderedSet(object: tasks[1])))
        #expect((kept.copy() as? NSOrderedSet)?.count == 4 && (kept.mutableCopy() as? NSMutableOrderedSet)?.count == 4)
        #expect(kept.indexes { object, _, _ in object as? NSManagedObject === tasks[2] } == [2])
        var seen: [Any] = []
        kept.enumerateObjects { object, _, _ in seen.append(object) }
        #expect(titles(seen) == "t0t1t2t3" && titles(kept.objects(at: [1, 2])) == "t1t2")
        person.removeManagedObject(tasks[0], at: person.propertyIndex("tasks"))
        #expect(NSOrderedSet(orderedSet: kept).count == 3 && titles(kept.array) == "t1t2t3")
        stack.context.delete(tasks[1])
        stack.context.processPendingChanges()
        #expect(kept.count == 2 && kept.firstObject as? NSManagedObject === tasks[2] && titles(kept.map { $0 }) == "t2t3")
    }
}

extension NSManagedObject {
    fileprivate var names: String { value(forKey: "name") as? String ?? "" }
}
