import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// The memory of batch requests: the long form with ten million rows. See docs/testing.md.
@Suite struct BatchMemoryTests {
    private static let long = ProcessInfo.processInfo.environment["HEARTWOOD_BATCH_ROWS"].flatMap(Int.init)

    private static let tracksHistory = ProcessInfo.processInfo.environment["HEARTWOOD_BATCH_HISTORY"] != nil

    private static func model() -> NSManagedObjectModel {
        let person = NSEntityDescription()
        person.name = "Person"
        let birthday = TestStack.attribute("birthday", .dateAttributeType), email = TestStack.attribute("email", .stringAttributeType)
        person.properties = [
            TestStack.attribute("name", .stringAttributeType), email, birthday, TestStack.attribute("score", .doubleAttributeType),
        ]
        person.uniquenessConstraints = [["email"]]
        person.indexes = [TestStack.index("byBirthday", [birthday])]
        let model = NSManagedObjectModel()
        model.entities = [person]
        return model
    }

    @Test(.enabled(if: long != nil))
    func `Batches of many millions take a few bytes a row`() throws {
        let count = try #require(Self.long)
        let stack = try TestStack(.recordLog, model: Self.model(), options: [NSPersistentHistoryTrackingKey: Self.tracksHistory])
        // 8 bytes a row for its address, entries of two indexes within the limit, a table of a million unique values.
        let most = 224 * 1024 + count / 100
        func measure(_ name: String, _ request: NSPersistentStoreRequest) throws {
            let start = ContinuousClock.now
            let peak = try ProcessMemory.most { _ = try stack.context.execute(request) }
            print("\(name): \(count) rows, \(ContinuousClock.now - start), \(peak) KiB private at most")
            #expect(peak < most, "\(name)")
        }
        var next = 0
        let insertion = NSBatchInsertRequest(entityName: "Person", managedObjectHandler: { object in
            guard next < count else { return true }
            object.setValue("Name \(next % 1000)", forKey: "name")
            object.setValue("person\(next &* 2_654_435_761 % 1_000_000_007)@example.org", forKey: "email")
            object.setValue(Date(timeIntervalSinceReferenceDate: Double(next % 100_000) * 1000), forKey: "birthday")
            object.setValue(Double(next), forKey: "score")
            next += 1
            return false
        })
        insertion.resultType = .count
        try measure("insertion", insertion)
        let scores = NSBatchUpdateRequest(entityName: "Person")
        scores.propertiesToUpdate = ["score": NSExpression(format: "score + 1")]
        try measure("update", scores)
        let birthdays = NSBatchUpdateRequest(entityName: "Person")
        birthdays.propertiesToUpdate = ["birthday": Date(timeIntervalSinceReferenceDate: 5)]
        try measure("update of an indexed attribute", birthdays)
        let deletion = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person"))
        try measure("deletion", deletion)
        #expect(try stack.context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")) == 0)
    }
}
