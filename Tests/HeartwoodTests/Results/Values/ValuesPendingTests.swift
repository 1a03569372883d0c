import Foundation
import Testing

@testable import Heartwood

/// Values where the context has changes that no save has written.
@Suite struct ValuesPendingTests {
    private func request(_ format: String? = nil, limit: Int = 0, offset: Int = 0) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "email", ascending: true)]
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return request
    }

    private func check(_ context: NSManagedObjectContext, _ place: String) throws {
        for format in [nil, "age > 3", "name CONTAINS 'new'", "group.title == 'green'"] {
            for (offset, limit) in [(0, 0), (2, 5)] {
                let request = request(format, limit: limit, offset: offset)
                let rows = try context.values(
                    request, AttributePath<String?>("email"), AttributePath<Int>("age"), AttributePath<String?>("group.title"),
                    AttributePath<Int>("tags.@count"))
                let objects = try context.fetch(request)
                let keys = ["email", "group.title"].map { key in objects.map { $0.value(forKeyPath: key) as? String } }
                #expect(rows.map(\.0) == keys[0] && rows.map(\.2) == keys[1], "\(place), \(format ?? "all")")
                #expect(rows.map(\.1) == objects.map(\.age), "\(place)")
                #expect(rows.map(\.3) == objects.map { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.count }, "\(place)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Changed objects have their values, inserted ones appear, deleted ones do not, in the right order`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.context
        let people = try context.fetch(request())
        (people[3].age, people[3].name) = (100, "new")
        (people[20].age, people[21].name) = (-1, "new")
        try check(context, "changed")
        stack.insert("Person", ["name": "new", "age": 4, "email": "x"])
        try check(context, "inserted")
        context.delete(people[5])
        try check(context, "deleted")
        people[7].group?.setValue("green", forKey: "title")
        try check(context, "changed along a path")
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        try check(child, "child")
        let own = try child.fetch(request())
        own[2].age = 50
        child.delete(own[9])
        try check(child, "changed child")
        try context.save()
        try check(context, "saved")
    }

    @Test(arguments: StoreKind.planning)
    func `Objects that are not changed have the values of their rows, whatever the context has read before`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.context, other = stack.newContext()
        let people = try context.fetch(request())
        _ = people.map(\.name)
        let changed = try other.fetch(request())
        changed[8].name = "elsewhere"
        try other.save()
        people[3].name = "here"
        let names = try context.values(request(), \.name)
        #expect(names[8] == "elsewhere" && names[3] == "here")
    }
}
