import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

@Suite struct RelationshipTests {
    private func names(_ value: Any?, _ key: String = "name") -> [String] {
        let objects = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? []
        return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: key) as? String }.sorted()
    }

    @Test(arguments: StoreKind.allCases)
    func `Both sides of a one-to-many relationship agree`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let readers = stack.insert("Group", ["title": "Readers"]), writers = stack.insert("Group", ["title": "Writers"])
        let ada = stack.insert("Person", ["name": "Ada", "group": readers])
        let grace = stack.insert("Person", ["name": "Grace"])
        readers.mutableSetValue(forKey: "people").add(grace)
        #expect(grace.value(forKey: "group") as? NSManagedObject === readers)
        #expect(names(readers.value(forKey: "people")) == ["Ada", "Grace"])
        try stack.context.save()
        #expect(names(readers.value(forKey: "people")) == ["Ada", "Grace"])
        ada.setValue(writers, forKey: "group")
        #expect(names(readers.value(forKey: "people")) == ["Grace"])
        #expect(names(writers.value(forKey: "people")) == ["Ada"])
        writers.setValue(NSSet(array: [grace]), forKey: "people")
        #expect(ada.value(forKey: "group") == nil)
        #expect(names(readers.value(forKey: "people")) == [])
        try stack.context.save()
        stack.context.reset()
        let again = try #require(try stack.fetch("Group", "title == 'Writers'").first)
        #expect(names(again.value(forKey: "people")) == ["Grace"])
        #expect(again.countOfManagedObjects(at: again.propertyIndex("people")) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `A many-to-many relationship can be changed from either side`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ada = stack.insert("Person", ["name": "Ada"]), grace = stack.insert("Person", ["name": "Grace"])
        let red = stack.insert("Tag", ["label": "red"]), blue = stack.insert("Tag", ["label": "blue"])
        ada.setValue(Set([red, blue]), forKey: "tags")
        red.mutableSetValue(forKey: "people").add(grace)
        try stack.context.save()
        stack.context.reset()
        func tag(_ label: String) throws -> NSManagedObject { try #require(try stack.fetch("Tag", "label == %@", [label]).first) }
        func person(_ name: String) throws -> NSManagedObject { try #require(try stack.fetch("Person", "name == %@", [name]).first) }
        #expect(names(try tag("red").value(forKey: "people")) == ["Ada", "Grace"])
        #expect(names(try person("Ada").value(forKey: "tags"), "label") == ["blue", "red"])
        try tag("red").mutableSetValue(forKey: "people").remove(try person("Ada"))
        #expect(names(try person("Ada").value(forKey: "tags"), "label") == ["blue"])
        try stack.context.save()
        stack.context.reset()
        #expect(names(try person("Ada").value(forKey: "tags"), "label") == ["blue"])
        stack.context.delete(try person("Ada"))
        try stack.context.save()
        stack.context.reset()
        #expect(names(try tag("blue").value(forKey: "people")) == [])
        #expect(names(try tag("red").value(forKey: "people")) == ["Grace"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A one-to-one relationship moves both partners`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let people = ["a", "b", "c"].map { stack.insert("Person", ["name": $0]) }
        people[0].setValue(people[1], forKey: "partner")
        #expect(people[1].value(forKey: "partner") as? NSManagedObject === people[0])
        people[2].setValue(people[1], forKey: "partner")
        #expect(people[0].value(forKey: "partner") == nil)
        #expect(people[1].value(forKey: "partner") as? NSManagedObject === people[2])
        try stack.context.save()
        stack.context.reset()
        let c = try #require(try stack.fetch("Person", "name == 'c'").first)
        #expect(c.value(forKeyPath: "partner.name") as? String == "b")
    }

    @Test(arguments: StoreKind.allCases)
    func `An ordered relationship keeps its order and cascades`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ada = stack.insert("Person", ["name": "Ada"])
        let tasks = (0..<5).map { stack.insert("Task", ["title": "t\($0)"]) }
        ada.setValue(NSOrderedSet(array: [3, 1, 4, 0, 2].map { tasks[$0] }), forKey: "tasks")
        try stack.context.save()
        stack.context.reset()
        func titles() throws -> [String] {
            let person = try #require(try stack.fetch("Person").first)
            return (person.value(forKey: "tasks") as? NSOrderedSet)?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } ?? []
        }
        #expect(try titles() == ["t3", "t1", "t4", "t0", "t2"])
        let first = try #require(try stack.fetch("Task", "title == 't3'").first)
        stack.context.delete(first)
        #expect(try titles() == ["t1", "t4", "t0", "t2"])
        try stack.context.save()
        stack.context.reset()
        #expect(try titles() == ["t1", "t4", "t0", "t2"])
        stack.context.delete(try #require(try stack.fetch("Person").first))
        try stack.context.save()
        #expect(try stack.fetch("Task").isEmpty)
    }

    @Test(arguments: StoreKind.planning)
    func `Connecting to a group reads no other member`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "Large"])
        for _ in 0..<500 { stack.insert("Person", ["group": group]) }
        try stack.context.save()
        let context = stack.newContext()
        let far = context.object(with: group.objectID)
        let before = stack.rowReads
        stack.insert("Person", ["group": far], into: context)
        try context.save()
        #expect(stack.rowReads - before < 10)
        #expect(far.countOfManagedObjects(at: far.propertyIndex("people")) == 501)
        #expect(stack.rowReads - before < 10)
    }

    @Test(arguments: StoreKind.allCases)
    func `Subentities are found through their parent`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "Staff"])
        stack.insert("Person", ["name": "Ada", "group": group])
        stack.insert("Employee", ["name": "Bob", "salary": NSDecimalNumber(string: "12.50"), "group": group])
        try stack.context.save()
        #expect(try stack.names() == ["Ada", "Bob"])
        #expect(try stack.fetch("Employee").count == 1)
        #expect(names(group.value(forKey: "people")) == ["Ada", "Bob"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.includesSubentities = false
        #expect(try stack.context.count(for: request) == 1)
        #expect(try stack.fetch("Employee", "salary > 12.25").count == 1)
    }

    /// Each side of a many-to-many relationship once compared its own entity with the other's destination. If that was a subentity of the one that
    /// states the inverse, neither side wrote the pairs, and the store lost them.
    @Test(arguments: StoreKind.allCases)
    func `A many-to-many relationship is kept if its inverse is inherited`(kind: StoreKind) throws {
        let parent = NSEntityDescription(), child = NSEntityDescription(), other = NSEntityDescription()
        (parent.name, child.name, other.name) = ("Z", "A", "M")
        parent.subentities = [child]
        let toChildren = TestStack.relationship("children", to: child, toMany: true)
        let toOthers = TestStack.relationship("others", to: other, toMany: true)
        TestStack.connect(toChildren, toOthers)
        parent.properties = [TestStack.attribute("name", .stringAttributeType), toOthers]
        other.properties = [TestStack.attribute("name", .stringAttributeType), toChildren]
        let model = NSManagedObjectModel()
        model.entities = [parent, child, other]
        let stack = try TestStack(kind, model: model)
        let one = stack.insert("M", ["name": "one"])
        one.setValue(Set([stack.insert("A", ["name": "first"]), stack.insert("A", ["name": "second"])]), forKey: "children")
        try stack.context.save()
        stack.context.reset()
        #expect(names(try stack.fetch("M").first?.value(forKey: "children")) == ["first", "second"])
        #expect(names(try stack.fetch("A", "name == 'second'").first?.value(forKey: "others")) == ["one"])
    }

    /// An unread relationship forgot a removal after an addition of a member that the store had, and an addition after a removal of a member that
    /// the store did not have.
    @Test(arguments: StoreKind.allCases)
    func `Members can be added and removed before they are read`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let tag = stack.insert("Tag", ["label": "t"]), new = stack.insert("Person", ["name": "new"])
        let old = stack.insert("Person", ["name": "old", "tags": NSSet(object: tag)])
        try stack.context.save()
        for person in [old, new] {
            for isKept in [true, false] {
                stack.context.refreshAllObjects()
                let tags = person.mutableSetValue(forKey: "tags")
                tags.remove(tag)
                tags.add(tag)
                if !isKept { tags.remove(tag) }
                let expected: [NSManagedObject] = isKept ? [tag] : []
                #expect(person.managedObjects(at: person.propertyIndex("tags")) == expected)
                try stack.context.save()
                stack.context.refreshAllObjects()
                #expect(person.managedObjects(at: person.propertyIndex("tags")) == expected)
                #expect(tag.mutableSetValue(forKey: "people").contains(person) == isKept)
            }
        }
    }
}
