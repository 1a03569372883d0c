import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Accessors in the form of Apple's guide and Xcode's older templates.
private extension Person {
    var primitiveTags: NSMutableSet { primitiveValue(forKey: "tags") as! NSMutableSet }

    func addTag(_ tag: NSManagedObject) {
        let changed: Set<AnyHashable> = [tag]
        willChangeValue(forKey: "tags", withSetMutation: .union, using: changed)
        primitiveTags.add(tag)
        didChangeValue(forKey: "tags", withSetMutation: .union, using: changed)
    }

    func mutateTags(_ kind: NSKeyValueSetMutationKind, _ tags: Set<NSManagedObject>) {
        willChangeValue(forKey: "tags", withSetMutation: kind, using: tags)
        didChangeValue(forKey: "tags", withSetMutation: kind, using: tags)
    }

    func replaceTags(_ body: (NSMutableSet) -> Void) {
        willChangeValue(forKey: "tags")
        body(primitiveTags)
        didChangeValue(forKey: "tags")
    }

    func insertTask(_ task: NSManagedObject, at index: Int) {
        let indexes = IndexSet(integer: index)
        willChange(.insertion, valuesAt: indexes, forKey: "tasks")
        (primitiveValue(forKey: "tasks") as! NSMutableOrderedSet).insert(task, at: index)
        didChange(.insertion, valuesAt: indexes, forKey: "tasks")
    }

    var tags: Set<NSManagedObject> { value(forKey: "tags") as? Set<NSManagedObject> ?? [] }
}

@Suite struct HandWrittenAccessorTests {
    private func people(_ tag: NSManagedObject) -> Set<NSManagedObject> { tag.value(forKey: "people") as? Set<NSManagedObject> ?? [] }

    @Test(arguments: StoreKind.allCases)
    func `A primitive set is changed between willChange and didChange`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context
        let person = try #require(stack.insert("Person", ["name": "a"]) as? Person)
        let tags = (0..<3).map { stack.insert("Tag", ["label": "\($0)"]) }
        try context.save()
        person.addTag(tags[0])
        #expect(person.tags == [tags[0]] && people(tags[0]) == [person] && person.isUpdated)
        person.replaceTags { $0.union([tags[1], tags[2]]) }
        #expect(person.tags == Set(tags) && people(tags[2]) == [person])
        person.replaceTags {
            $0.remove(tags[0])
            #expect($0 === person.primitiveTags)
        }
        #expect(person.tags == [tags[1], tags[2]] && people(tags[0]).isEmpty)
        try context.save()
        #expect(try stack.newContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
        #expect(try stack.fetch("Tag", "people.@count == 1", in: stack.anew()).count == 2)
        // No change is open: a change of a handed-out set outside of an accessor has no effect.
        person.primitiveTags.removeAllObjects()
        person.willChangeValue(forKey: "name")
        person.didChangeValue(forKey: "name")
        #expect(person.tags.count == 2 && (person.primitiveValue(forKey: "tags") as? Set<NSManagedObject>)?.count == 2)
    }

    @Test
    func `The arguments of a set mutation make the change`() throws {
        let stack = try TestStack(.inMemory)
        let person = try #require(stack.insert("Person", [:]) as? Person), tags = (0..<3).map { _ in stack.insert("Tag", [:]) }
        person.mutateTags(.union, [tags[0], tags[1]])
        #expect(person.tags == [tags[0], tags[1]] && people(tags[1]) == [person])
        person.mutateTags(.minus, [tags[0], tags[2]])
        #expect(person.tags == [tags[1]] && people(tags[0]).isEmpty)
        person.mutateTags(.set, [tags[0], tags[2]])
        #expect(person.tags == [tags[0], tags[2]])
        person.mutateTags(.intersect, [tags[1], tags[2]])
        #expect(person.tags == [tags[2]] && people(tags[0]).isEmpty && people(tags[2]) == [person])
    }

    @Test
    func `An ordered set is changed in the same way`() throws {
        let stack = try TestStack(.inMemory)
        let person = try #require(stack.insert("Person", [:]) as? Person), tasks = (0..<3).map { stack.insert("Task", ["title": "\($0)"]) }
        for task in tasks { person.insertTask(task, at: 0) }
        #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == tasks.reversed())
        #expect(tasks.allSatisfy { $0.value(forKey: "owner") as? Person === person })
        try stack.context.save()
        person.willChangeValue(forKey: "tasks")
        let set = person.primitiveValue(forKey: "tasks") as? NSMutableOrderedSet
        set?.moveObjects(at: [2], to: 0)
        person.setPrimitiveValue(NSOrderedSet(array: [tasks[1]]), forKey: "tasks")
        person.didChangeValue(forKey: "tasks")
        // The later value counts.
        #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == [tasks[1]])
    }

    @Test
    func `A path leads to the set of the object at its end`() throws {
        let stack = try TestStack(.inMemory)
        let group = stack.insert("Group", ["title": "g"]), person = stack.insert("Person", ["group": group]), other = stack.insert("Person", [:])
        let task = stack.insert("Task", ["owner": person]), late = stack.insert("Task", [:])
        task.mutableSetValue(forKeyPath: "owner.group.people").add(other)
        #expect(other.value(forKey: "group") as? NSManagedObject === group)
        task.mutableOrderedSetValue(forKeyPath: "owner.tasks").insert(late, at: 0)
        #expect((person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == [late, task])
        #expect(group.mutableSetValue(forKeyPath: "people").count == 2)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `The sets of relationships behave like plain sets`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stack = try TestStack(.inMemory)
        let person = stack.insert("Person", [:]), tags = (0..<8).map { stack.insert("Tag", ["label": "\($0)"]) }
        let tasks = (0..<8).map { stack.insert("Task", ["title": "\($0)"]) }
        let plain = NSMutableSet()
        // Foundation's own ordered sets never finish an intersection.
        var ordered: [NSManagedObject] = []
        for step in 0..<200 {
            if step % 50 == 49 { try stack.context.save() }
            let set = person.mutableSetValue(forKey: "tags"), order = person.mutableOrderedSetValue(forKey: "tasks")
            let some = Set(tags.shuffled(using: &generator).prefix(Int.random(in: 0..<5, using: &generator))),
                list = Array(tasks.shuffled(using: &generator).prefix(Int.random(in: 0..<4, using: &generator)))
            let action = Int.random(in: 0..<9, using: &generator),
                position = ordered.isEmpty ? 0 : Int.random(in: 0..<ordered.count, using: &generator)
            for set in [set, plain] {
                switch action {
                case 0: set.union(some)
                case 1: set.minus(some)
                case 2: set.intersect(some)
                case 3: set.setSet(some)
                case 4: set.addObjects(from: Array(some))
                case 5: set.filter(using: NSPredicate(format: "label < '5'"))
                case 6: set.removeAllObjects()
                case 7: some.first.map(set.add)
                default: some.first.map(set.remove)
                }
            }
            switch action {
            case 0:
                order.union(NSOrderedSet(array: list))
                ordered += list.filter { !ordered.contains($0) }
            case 1:
                order.minus(NSOrderedSet(array: list))
                ordered.removeAll(where: list.contains)
            case 2:
                order.intersect(NSOrderedSet(array: list))
                ordered.removeAll { !list.contains($0) }
            case 3:
                order.addObjects(from: list)
                ordered += list.filter { !ordered.contains($0) }
            case 4 where !ordered.isEmpty:
                order.removeObject(at: position)
                ordered.remove(at: position)
            case 5:
                order.filter(using: NSPredicate(format: "title < '6'"))
                ordered.removeAll { $0.value(forKey: "title") as? String ?? "" >= "6" }
            case 6 where !ordered.isEmpty:
                order.exchangeObject(at: position, withObjectAt: 0)
                ordered.swapAt(position, 0)
            case 7 where list.first.map { !ordered.contains($0) } ?? false:
                order.insert(list[0], at: position)
                ordered.insert(list[0], at: position)
            case 8:
                order.sort(using: [NSSortDescriptor(key: "title", ascending: false)])
                ordered.sort { ($0.value(forKey: "title") as? String ?? "") > ($1.value(forKey: "title") as? String ?? "") }
            default: break
            }
            let expected = plain.allObjects as? [NSManagedObject] ?? []
            #expect(Set(expected) == person.value(forKey: "tags") as? Set<NSManagedObject> ?? [], "seed \(seed), step \(step), action \(action)")
            #expect(set.count == plain.count && expected.allSatisfy(set.contains), "seed \(seed), step \(step), action \(action)")
            #expect(
                (person.value(forKey: "tasks") as? NSOrderedSet)?.array as? [NSManagedObject] == ordered,
                "seed \(seed), step \(step), action \(action)")
        }
    }

    @Test
    func `An accessor may call another one of its relationship`() throws {
        let stack = try TestStack(.inMemory)
        let person = try #require(stack.insert("Person", [:]) as? Person), tags = (0..<5).map { _ in stack.insert("Tag", [:]) }
        person.addTag(tags[4])
        person.replaceTags { set in
            set.add(tags[0])
            person.addTag(tags[1])
            #expect(set === person.primitiveTags && set.count == 3)
            person.mutateTags(.minus, [tags[4]])
            person.mutableSetValue(forKey: "tags").add(tags[2])
            set.add(tags[3])
        }
        #expect(person.tags == Set(tags.prefix(4)) && people(tags[4]).isEmpty && tags.prefix(4).allSatisfy { people($0) == [person] })
        let tasks = (0..<3).map { stack.insert("Task", ["title": "\($0)"]) }
        person.willChangeValue(forKey: "tasks")
        (person.primitiveValue(forKey: "tasks") as? NSMutableOrderedSet)?.add(tasks[0])
        person.insertTask(tasks[1], at: 0)
        (person.primitiveValue(forKey: "tasks") as? NSMutableOrderedSet)?.insert(tasks[2], at: 1)
        person.didChangeValue(forKey: "tasks")
        #expect(person.list("tasks") == ["1", "2", "0"])
    }

    @Test
    func `A change without its didChange loses nothing`() throws {
        let stack = try TestStack(.inMemory)
        let person = try #require(stack.insert("Person", [:]) as? Person), tags = (0..<3).map { _ in stack.insert("Tag", [:]) }
        person.willChangeValue(forKey: "tags")
        person.primitiveTags.add(tags[0])
        person.mutableSetValue(forKey: "tags").add(tags[1])
        person.addTag(tags[2])
        #expect(person.tags == Set(tags) && person.primitiveTags.count == 3)
    }
}
