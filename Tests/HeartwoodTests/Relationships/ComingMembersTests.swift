import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A member of a many-to-many relationship that comes and goes, a save each. Each save once left an entry in the relationship's indexes that every later
/// read passed.
@Suite struct ComingMembersTests {
    /// The entries of all indexes, dead ones included, that reads of everything meet.
    private func entries(_ stack: TestStack) throws -> Int {
        let snapshot = try #require(stack.store.log).snapshot()
        return try snapshot.catalog.indexes.reduce(0) { try $0 + snapshot.estimate($1.id, .all) }
    }

    @Test
    func `A member that comes and goes hundreds of times leaves a few entries`() throws {
        let stack = try TestStack(.recordLog)
        let person = stack.insert("Person", ["name": "Ada"]), tag = stack.insert("Tag", ["label": "new"])
        person.setValue(Set([stack.insert("Tag", ["label": "old"])]), forKey: "tags")
        try stack.context.save()
        let before = try entries(stack)
        for time in 1...300 {
            person.mutableSetValue(forKey: "tags").add(tag)
            try stack.context.save()
            person.mutableSetValue(forKey: "tags").remove(tag)
            try stack.context.save()
            guard time % 100 == 0 else { continue }
            #expect(try stack.fetch("Tag", "ANY people.name == 'Ada'", in: stack.newContext()).count == 1)
            // Two entries a time in two indexes, and eight runs.
            #expect(try entries(stack) <= before + 64, "after \(time) times")
        }
    }
}
