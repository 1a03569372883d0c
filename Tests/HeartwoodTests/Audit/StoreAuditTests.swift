import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Well-formed rows that contradict the model: verify reports them by entity, object and property.
@Suite struct StoreAuditTests {
    private func findings(_ stack: TestStack) throws -> [String] {
        try StoreAudit.findings(in: try #require(try stack.store.newestView() as? RecordLogView))
    }

    private func reference(_ object: NSManagedObject, _ stack: TestStack) throws -> RowReference {
        try #require(try stack.store.newestView() as? RecordLogView).reference(object.key)
    }

    /// Changes one column of an object's row without the stack.
    private func change(_ object: NSManagedObject, _ column: String, _ stack: TestStack, _ set: (RowBuilder, Int) -> Void) throws {
        let reference = try reference(object, stack)
        try stack.store.log!.write { transaction in
            let table = try #require(transaction.catalog.table(reference.table)), row = try #require(try transaction.unsafeRow(reference))
            let layout = try #require(table.layout(row.layoutID))
            let builder = RowBuilder()
            builder.begin(table.currentLayout, copying: row, of: layout)
            set(builder, try #require(table.currentLayout.columns.firstIndex { $0.name == column }))
            try transaction.put(reference, body: builder.unsafeBody())
        }
    }

    private func people() throws -> (stack: TestStack, people: [NSManagedObject], group: NSManagedObject, tag: NSManagedObject) {
        let stack = try TestStack(.recordLog)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let people = (0..<4).map { number in
            stack.insert(number == 3 ? "Employee" : "Person", ["name": "\(number)", "email": "\(number)@x", "group": group, "tags": Set([tag])])
        }
        people[0].setValue(people[1], forKey: "partner")
        people[2].setValue(NSOrderedSet(array: [stack.insert("Task", ["title": "a"]), stack.insert("Task", ["title": "b"])]), forKey: "tasks")
        // Null equals nothing.
        for _ in 0..<3 { stack.insert("Person", ["name": "nobody"]) }
        stack.insert("Everything", ["uri": URL(string: "https://example.org")!, "decimal": NSDecimalNumber(string: "1.5")])
        try stack.context.save()
        #expect(try findings(stack).isEmpty)
        return (stack, people, group, tag)
    }

    @Test
    func `References to objects that do not exist, of other entities, or that do not refer back are found`() throws {
        do {
            let (stack, people, _, _) = try people()
            try change(people[1], "group", stack) { $0.set($1, reference: RowReference(table: try! reference(people[0], stack).table, row: 1)) }
            #expect(try findings(stack) == [
                "entity Person, object p2, property group: it refers to Person p1, which the relationship does not lead to"])
        }
        do {
            let (stack, people, group, _) = try people(), table = try reference(group, stack).table
            try change(people[1], "group", stack) { $0.set($1, reference: RowReference(table: table, row: 99)) }
            #expect(try findings(stack) == ["entity Person, object p2, property group: it refers to Group p99, which does not exist"])
        }
        do {
            let (stack, people, _, _) = try people()
            try change(people[0], "partner", stack) { builder, position in builder.setNull(position) }
            #expect(
                try findings(stack) == ["entity Person, object p2, property partner: it refers to Person p1, whose partner does not refer back"])
        }
    }

    @Test
    func `Two objects with the same unique value are found, of a parent and a child entity too`() throws {
        for other in [1, 3] {
            let (stack, people, _, _) = try people()
            try change(people[other], "email", stack) { $0.set($1, text: "0@x") }
            let found = try findings(stack)
            #expect(
                found.count == 1 && found[0].contains("it has the same email, which is to be unique, as") && found[0].contains("p1"), "\(found)")
        }
    }

    @Test
    func `Link rows without their ends, twice there, or at odds with the inverse are found`() throws {
        do {
            let (stack, _, _, tag) = try people(), row = try reference(tag, stack)
            try stack.store.log!.write { _ = try $0.delete(row) }
            let found = try findings(stack)
            #expect(found.count == 4 && found.allSatisfy { $0.contains("it names Tag p1, which does not exist") }, "\(found)")
        }
        do {
            let (stack, people, _, tag) = try people(), ends = (try reference(people[0], stack), try reference(tag, stack))
            let link = try #require(stack.store.log!.snapshot().catalog.tables.first { $0.name.hasPrefix("link:") && $0.name.hasSuffix(".people") || $0.name.hasSuffix(".tags") })
            try stack.store.log!.write { transaction in
                let builder = RowBuilder()
                builder.begin(link.currentLayout)
                builder.set(0, reference: link.name.hasSuffix(".people") ? ends.1 : ends.0)
                builder.set(1, reference: link.name.hasSuffix(".people") ? ends.0 : ends.1)
                try transaction.put(RowReference(table: link.id, row: try transaction.newRow(in: link.id)), body: builder.unsafeBody())
            }
            let found = try findings(stack)
            #expect(found.count == 1 && found[0].hasSuffix("the same pair has another row"), "\(found)")
        }
        do {
            let (stack, people, _, _) = try people()
            let task = try #require((people[2].value(forKey: "tasks") as? NSOrderedSet)?.firstObject as? NSManagedObject)
            try change(task, "owner", stack) { builder, position in builder.setNull(position) }
            let found = try findings(stack)
            #expect(found.count == 1 && found[0].contains("is a member of Person p3, and its inverse does not say so"), "\(found)")
        }
    }

    @Test
    func `Values beyond an attribute's type are found`() throws {
        let (stack, _, _, _) = try people()
        let object = try #require(try stack.fetch("Everything").first)
        try change(object, "uri", stack) { $0.set($1, text: "") }
        try change(object, "decimal", stack) { $0.set($1, decimal: StoredDecimal(mantissa: 1, exponent: 300, isNegative: false, isNaN: false)) }
        #expect(try findings(stack) == [
            "entity Everything, object p1, property uri: it is no URI",
            "entity Everything, object p1, property decimal: it is beyond the range of a decimal number",
        ])
    }

    @Test(arguments: ["upper", "clubName", "regionName", "memberCount", "dues", "height"])
    func `Each kind of derived attribute that is not what its derivation gives is found`(attribute: String) throws {
        let stack = try TestStack(.recordLog, model: ClubModel.make())
        let region = stack.insert("Region", ["name": "North"]), club = stack.insert("Club", ["name": "Ü", "region": region])
        let member = stack.insert("Member", ["name": "m", "dues": 4, "height": 1.1, "club": club])
        stack.insert("Captain", ["name": "c", "dues": 3, "height": 0.2, "club": club])
        club.setValue(NSOrderedSet(array: [member]), forKey: "queue")
        try stack.context.save()
        #expect(try findings(stack).isEmpty)
        let isOfMember = ["upper", "clubName", "regionName"].contains(attribute)
        try change(isOfMember ? member : club, attribute, stack) { builder, position in
            switch attribute {
            case "height": builder.set(position, double: 1.2)
            case "memberCount", "dues": builder.set(position, int64: 9)
            default: builder.set(position, text: "other")
            }
        }
        let found = try findings(stack)
        #expect(found.contains(
            "entity \(isOfMember ? "Member" : "Club"), object p1, property \(attribute): it is derived, and differs from its derivation's result"))
        // Attributes derived from it are wrong as well.
        #expect(found.count == (attribute == "dues" ? 2 : 1), "\(found)")
    }
}
