import Foundation
import Testing

@testable import Heartwood

/// Swift's own collections and values as format arguments, as in code for Apple's platforms.
@Suite struct FormatArgumentTests {
    @Test
    func `Arrays and sets are arguments`() throws {
        let stack = try TestStack(.inMemory)
        let people = ["ann", "bob", "cy"].map { stack.insert("Person", ["name": $0]) }
        try stack.context.save()
        let names = ["ann", "cy", "zoe"], ids = Set(people.prefix(2).map(\.objectID))
        for (predicate, wanted) in [
            (NSPredicate(format: "name IN %@", names), 2), (NSPredicate(format: "%K IN %@", "name", Set(names)), 2),
            (NSPredicate(format: "name IN %@", names as CVarArg), 2),
            (NSPredicate(format: "SELF IN %@", ids), 2), (NSPredicate(format: "SELF IN %@", people), 3),
            (NSPredicate(format: "NOT name IN %@ AND name != %@", [String](), "bob"), 2),
            (NSPredicate(format: "name BETWEEN %@", ["b", "d"]), 2),
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate
            #expect(try stack.context.fetch(request).count == wanted, "\(predicate)")
        }
    }

    @Test
    func `A text's format takes arrays and sets too`() {
        let id = UUID(), date = Date(timeIntervalSinceReferenceDate: 0)
        #expect(String(format: "%@ %@ %@ %@", [1, 2], Set([3]), id, date) == "[1, 2] [3] \(id) \(date)")
    }

    @Test
    func `A function of the program may pass on arguments`() throws {
        func made(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
            withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
        }
        let id = UUID(), date = Date(timeIntervalSinceReferenceDate: 5)
        for (predicate, text) in [
            (made("a == %@ AND b < %d", "x", 3), "a == \"x\" AND b < 3"),
            (made("%K == %@ OR %K == %f", "k", NSNumber(value: 2), "m", 2.5), "k == 2 OR m == 2.5"),
            (made("a IN %@ AND b IN %@", [1, 2], Set(["q"])), NSPredicate(format: "a IN %@ AND b IN %@", [1, 2], Set(["q"])).predicateFormat),
            (made("d > %@ AND u == %@", date, id), NSPredicate(format: "d > %@ AND u == %@", date, id).predicateFormat),
            (
                made("a == %d AND b == %ld AND c == %lld AND d == %hd", Int32(-1), -2, Int64.min, Int16(-3)),
                "a == -1 AND b == -2 AND c == \(Int64.min) AND d == -3"),
            (made("a == %u AND b == %lu AND c == %x", UInt32.max, UInt(7), 15), "a == \(UInt32.max) AND b == 7 AND c == 15"),
            (made("t == '%@'"), "t == \"%@\""), (made("a == nil"), "a == nil"),
            (made("f == %f AND g == %lf", Float(0.5), -1.25), "f == 0.5 AND g == -1.25"),
        ] {
            #expect(predicate.predicateFormat == NSPredicate(format: text).predicateFormat)
        }
        // More than registers hold, words and doubles alternately.
        let many: [any CVarArg] = (0..<24).map { $0 % 2 == 0 ? $0 as any CVarArg : Double($0) + 0.5 }
        let format = (0..<24).map { $0 % 2 == 0 ? "a == %ld" : "a == %f" }.joined(separator: " OR ")
        let expected = (0..<24).map { $0 % 2 == 0 ? "a == \($0)" : "a == \($0).5" }.joined(separator: " OR ")
        let predicate = withVaList(many) { NSPredicate(format: format, arguments: $0) }
        #expect(predicate.predicateFormat == NSPredicate(format: expected).predicateFormat)
        let stack = try TestStack(.inMemory)
        for (name, seconds) in [("ann", 1.0), ("bob", 9.0)] {
            stack.insert("Person", ["name": name, "birthday": Date(timeIntervalSinceReferenceDate: seconds)])
        }
        try stack.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = made("birthday > %@ AND %K != %@", date, "name", "ann")
        #expect(try stack.context.fetch(request).map(\.name) == ["bob"])
    }

    @Test
    func `A batch deletion takes a request for a class`() throws {
        let stack = try TestStack(.inMemory)
        for name in ["ann", "bob"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'ann'")
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeCount
        #expect((try stack.context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try stack.newContext().fetch(
            NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String } == ["bob"])
    }

    @Test
    func `A property's version hash shows a change`() {
        let name = TestStack.attribute("name", .stringAttributeType), same = TestStack.attribute("name", .stringAttributeType)
        #expect(name.versionHash == same.versionHash && name.versionHash.count == 32)
        same.versionHashModifier = "2"
        #expect(name.versionHash != same.versionHash && name.versionHash != TestStack.attribute("name", .integer16AttributeType).versionHash)
    }
}
