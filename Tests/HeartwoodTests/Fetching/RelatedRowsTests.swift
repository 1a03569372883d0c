import Foundation
import Testing

@testable import Heartwood

/// Conditions and orders that read other rows than those that they are about, over each kind of store whose views keep their rows.
@Suite struct RelatedRowsTests {
    private static let formats = [
        "group.title == 'g1'", "group.title == nil", "group.title != 'g1'", "partner.group.title == 'g0'", "partner.name BEGINSWITH 'p1'",
        "partner.age > age", "ANY tags.label == 't2'", "ALL tags.label != 't2'", "NONE tags.label == 't1'",
        "tags.@count == 2", "tags.@count > 0 AND group != nil",
        "age + tags.@count > 9", "tags.@max.label == 't2'", "ANY tasks.title == 'second 3'", "tasks.@count == 2",
        "SUBQUERY(tags, $t, $t.label == 't1' OR $t.label == 't2').@count == 2", "ANY group.people.age > 10", "group.people.@count > 3",
        "partner.tags.@count == 1", "NOT (group.title IN {'g0', 'g2'}) AND age > 2",
    ]

    private func filled(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        let groups = (0..<3).map { stack.insert("Group", ["title": "g\($0)"]) }, tags = (0..<3).map { stack.insert("Tag", ["label": "t\($0)"]) }
        var people: [NSManagedObject] = []
        for number in 0..<14 {
            let person = stack.insert(number % 4 == 3 ? "Employee" : "Person", ["name": "p\(number)", "age": number])
            if number % 5 != 4 { person.setValue(groups[number % 3], forKey: "group") }
            person.setValue(Set(tags.prefix(number % 4)), forKey: "tags")
            if number % 3 == 0 {
                let titles = ["first \(number)", "second \(number)"]
                person.setValue(NSOrderedSet(array: titles.map { stack.insert("Task", ["title": $0]) }), forKey: "tasks")
            }
            if number % 2 == 1 { person.setValue(people[number - 1], forKey: "partner") }
            people.append(person)
        }
        try stack.context.save()
        // Neither a partner nor a group that is gone is one.
        for gone in [people[0], groups[2]] { stack.context.delete(gone) }
        try stack.context.save()
        return stack
    }

    @Test(arguments: StoreKind.keepingStates)
    func `Rows answer conditions that lead through relationships wherever a record log's do`(kind: StoreKind) throws {
        let log = try filled(.inMemory), stack = try filled(kind)
        let all = try stack.fetch("Person", sort: [NSSortDescriptor(key: "age", ascending: true)])
        var answered = 0
        for format in Self.formats {
            let matched = NSPredicate(format: format).asFetched("Person", in: stack)
            let wanted = all.filter { matched.evaluate(with: $0) }.map { $0.value(forKey: "name") as? String }
            let context = stack.anew()
            let found = try stack.fetch("Person", format, sort: [NSSortDescriptor(key: "age", ascending: true)], in: context)
            #expect(found.map { $0.value(forKey: "name") as? String } == wanted, "\(format)")
            let reader = log.anew()
            _ = try log.fetch("Person", format, in: reader)
            #expect(context.queries.lastQueryWasInMemory == reader.queries.lastQueryWasInMemory, "\(format)")
            if !context.queries.lastQueryWasInMemory { answered += 1 }
        }
        #expect(answered >= 15)
    }

    @Test(arguments: StoreKind.keepingStates)
    func `Rows are in the order of what relationships lead to`(kind: StoreKind) throws {
        let stack = try filled(kind), context = stack.anew()
        let sort = ["group.title", "partner.name", "age"].map { NSSortDescriptor(key: $0, ascending: $0 != "age") }
        let found = try stack.fetch("Person", sort: sort, in: context).map { person in
            ["group.title", "partner.name", "age"].map { person.value(forKeyPath: $0).map { "\($0)" } ?? "-" }.joined(separator: " ")
        }
        #expect(!context.queries.lastQueryWasInMemory)
        #expect(found == [
            "- p10 11", "- p3 2", "- p4 5", "- p5 4", "- p8 9", "- p9 8", "g0 p13 12", "g0 p2 3", "g0 p7 6", "g1 - 1", "g1 p11 10", "g1 p12 13",
            "g1 p6 7",
        ])
    }
}
