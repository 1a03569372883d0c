import Foundation
import Testing

@testable import Heartwood

@Suite struct RelationshipCountTests {
    private func members(_ count: Int, _ stack: TestStack) -> [NSManagedObject] {
        (0..<count).map { _ in stack.insert("Member", [:]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Counts are enforced`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        let team = stack.insert("Team", [:])
        #expect(stack.failed() == [], "optional ones, and required ones without a least count, may be empty")
        let four = members(4, stack)
        team.setValue(NSSet(array: four), forKey: "some")
        #expect(stack.failed() == [])
        team.setValue(NSSet(array: [four[0]]), forKey: "few")
        let short = try #require(stack.failures().first)
        #expect(short.code == NSValidationRelationshipLacksMinimumCountError)
        #expect(short.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === team)
        #expect(short.userInfo[NSValidationKeyErrorKey] as? String == "few")
        #expect(short.userInfo[NSValidationValueErrorKey] as? NSSet == NSSet(array: [four[0]]))
        // From the other side.
        four[1].setValue(team, forKey: "fewOf")
        #expect(stack.failed() == [])
        team.mutableSetValue(forKey: "few").addObjects(from: [four[2], four[3]])
        team.setValue(NSSet(array: Array(four[0..<3])), forKey: "pair")
        #expect(stack.failed() == ["1590 few", "1590 pair"])
        team.setValue(NSSet(), forKey: "few")
        team.setValue(NSSet(), forKey: "pair")
        #expect(stack.failed() == [])
        for member in four { stack.context.delete(member) }
        #expect(stack.failed() == [])
    }

    @Test(arguments: StoreKind.planning)
    func `Counts read no relationship that was not touched`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        let team = stack.insert("Team", [:])
        team.setValue(NSSet(array: members(50, stack)), forKey: "some")
        try stack.context.save()
        let context = stack.newContext()
        let far = context.object(with: team.objectID)
        far.setValue("B", forKey: "name")
        try context.save()
        #expect(far.hasFault(forRelationshipNamed: "some") && far.hasFault(forRelationshipNamed: "few"))
        let reads = stack.rowReads
        stack.insert("Member", ["someOf": far], into: context)
        try context.save()
        #expect(far.hasFault(forRelationshipNamed: "some"), "one more cannot be too few")
        #expect(stack.rowReads - reads <= 4)
        #expect(context.identities.count == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `A denied deletion is among the errors`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        let two = members(2, stack), team = stack.insert("Team", [:])
        team.setValue(NSSet(array: two), forKey: "some")
        team.setValue(NSSet(array: two), forKey: "few")
        two[0].setValue(two[1], forKey: "leader")
        try stack.context.save()
        stack.context.delete(team)
        stack.context.delete(two[0])
        let bad = stack.insert("Limits", ["small": 0])
        #expect(stack.failed().sorted() == ["1600 few", "1600 leader", "1620 small"])
        stack.context.delete(bad)
        let denied = try #require(stack.failures().first { $0.userInfo[NSValidationKeyErrorKey] as? String == "few" })
        #expect(denied.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === team)
        #expect(denied.userInfo[NSValidationValueErrorKey] as? NSSet == NSSet(array: two))
        stack.context.delete(two[1])
        #expect(stack.failed() == [], "all of them go")
        #expect(try stack.fetch("Team").isEmpty && stack.fetch("Member").isEmpty)
    }
}
