import Foundation
import HeartwoodTestSupport
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Contexts that move between commits, beside one that saves and a store that compacts.
@Suite struct RandomGenerationTests {
    /// A context's whole state, by fetches, faults, relationships and dictionaries.
    private func dump(_ stack: TestStack, _ context: NSManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        for person in try stack.fetch("Person", in: context) {
            lines.append("\(person.text("name") ?? "-") \(person.value(forKey: "age") ?? "-") \(person.one("group")?.text("title") ?? "-") \(person.moreValues.sorted { $0.key < $1.key })")
        }
        for group in try stack.fetch("Group", in: context) {
            let count = group.countOfManagedObjects(at: group.propertyIndex("people"))
            lines.append("\(group.text("title") ?? "-"): \(count) \(group.many("people").compactMap { $0.text("name") }.sorted())")
        }
        let ages = NSFetchRequest<NSDictionary>(entityName: "Person")
        ages.resultType = .dictionaryResultType
        ages.propertiesToFetch = ["age"]
        lines.append("\(try context.fetch(ages).compactMap { $0["age"] as? Int }.sorted())")
        return lines.sorted()
    }

    @Test(arguments: StoreKind.keepingStates.filter { StoreKind.keepingEveryValue.contains($0) })
    func `Every token gives its commit at any later time`(kind: StoreKind) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("random generations of \(kind): seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let stack = try TestStack(kind, model: TestStack.model().widened()), writer = stack.context
        let groups = (0..<3).map { stack.insert("Group", ["title": "g\($0)"]) }
        try writer.save()
        var known: [(token: NSQueryGenerationToken, dump: [String])] = []
        let readers = (0..<3).map { _ in stack.newContext() }
        for round in 0..<40 {
            let people = try stack.fetch("Person")
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                if let person = people.randomElement(using: &random), !person.isDeleted, Bool.random(using: &random) {
                    if Int.random(in: 0..<4, using: &random) == 0 { writer.delete(person) } else {
                        person.setValue(round % 5 == 0 ? nil : round, forKey: "age")
                        person.setValue(ValueDomain.isNothing(&random) ? nil : groups.randomElement(using: &random), forKey: "group")
                        person.drawMoreValues(&random)
                    }
                } else {
                    stack.insert("Person", ["name": "p\(round)", "group": groups[Int.random(in: 0..<3, using: &random)]]).drawMoreValues(&random)
                }
            }
            try writer.save()
            let pinned = stack.newContext()
            try pinned.setQueryGenerationFrom(.current)
            known.append((try #require(pinned.queryGenerationToken), try dump(stack, stack.anew())))
            if known.count > 8 { known.remove(at: Int.random(in: 0..<known.count, using: &random)) }
            if StoreKind.recordLogs.contains(kind), round % 9 == 4 { try stack.store.compactRecordLog() }
            let (token, expected) = known[Int.random(in: 0..<known.count, using: &random)]
            let reader = readers[round % readers.count]
            try reader.setQueryGenerationFrom(token)
            // Objects that were read at another commit keep their values, unless they are deleted.
            for object in reader.registeredObjects { reader.refresh(object, mergeChanges: false) }
            #expect(try dump(stack, reader) == expected, "round \(round), seed \(seed)")
        }
    }
}
