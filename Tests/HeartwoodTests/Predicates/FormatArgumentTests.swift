import Foundation
import Testing

@testable import Heartwood

/// Swift's own collections and values in the places of formats, as code for Apple's platforms gives them.
@Suite struct FormatArgumentTests {
    @Test func arraysAndSetsAreArguments() throws {
        let stack = try TestStack(.inMemory)
        let people = ["ann", "bob", "cy"].map { stack.insert("Person", ["name": $0]) }
        try stack.context.save()
        let names = ["ann", "cy", "zoe"], ids = Set(people.prefix(2).map(\.objectID))
        for (predicate, wanted) in [
            (NSPredicate(format: "name IN %@", names), 2), (NSPredicate(format: "%K IN %@", "name", Set(names)), 2), (NSPredicate(format: "name IN %@", names as CVarArg), 2),
            (NSPredicate(format: "SELF IN %@", ids), 2), (NSPredicate(format: "SELF IN %@", people), 3), (NSPredicate(format: "NOT name IN %@ AND name != %@", [String](), "bob"), 2),
            (NSPredicate(format: "name BETWEEN %@", ["b", "d"]), 2),
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = predicate
            #expect(try stack.context.fetch(request).count == wanted, "\(predicate)")
        }
    }

    @Test func aTextsFormatTakesThemToo() {
        let id = UUID(), date = Date(timeIntervalSinceReferenceDate: 0)
        #expect(String(format: "%@ %@ %@ %@", [1, 2], Set([3]), id, date) == "[1, 2] [3] \(id) \(date)")
    }

    @Test func aBatchDeletionTakesARequestForAClass() throws {
        let stack = try TestStack(.inMemory)
        for name in ["ann", "bob"] { stack.insert("Person", ["name": name]) }
        try stack.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'ann'")
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeCount
        #expect((try stack.context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
        #expect(try stack.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String } == ["bob"])
    }

    @Test func aPropertysVersionHashTellsWhatChanged() {
        let name = TestStack.attribute("name", .stringAttributeType), same = TestStack.attribute("name", .stringAttributeType)
        #expect(name.versionHash == same.versionHash && name.versionHash.count == 32)
        same.versionHashModifier = "2"
        #expect(name.versionHash != same.versionHash && name.versionHash != TestStack.attribute("name", .integer16AttributeType).versionHash)
    }
}
