import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Batches with more index entries than a transaction keeps in memory: unique values are then checked at the end.
@Suite struct LargeBatchTests {
    private func stack() throws -> TestStack { try TestStack(.recordLog, options: [NSRecordLogIndexMemoryOption: 200]) }

    private func rows(_ count: Int) -> [[String: Any]] {
        // Every third has no address: nulls do not equal each other.
        (0..<count).map { $0 % 3 == 0 ? ["name": "p\($0)"] : ["name": "p\($0)", "email": "\($0 &* 7919 % 1009)@x", "age": $0 % 7] }
    }

    private func check(_ stack: TestStack, _ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let context = stack.anew()
        #expect(try stack.fetch("Person", in: context).count == count, sourceLocation: sourceLocation)
        for number in stride(from: 1, to: count, by: 37) where number % 3 != 0 {
            let found = try stack.fetch("Person", "email == %@", ["\(number &* 7919 % 1009)@x"], in: context)
            #expect(found.map { $0.value(forKey: "name") as? String } == ["p\(number)"], sourceLocation: sourceLocation)
        }
    }

    @Test
    func `A batch that is spilled is complete`() throws {
        let stack = try stack()
        #expect(try stack.insertBatch(rows(800)).count == 800)
        try check(stack, 800)
        #expect(try stack.updateBatch("Person", nil, ["age": 40]).count == 800)
        #expect(try stack.fetch("Person", "age == 40", in: stack.anew()).count == 800)
        #expect(try stack.deleteBatch("Person", "email != nil").count == 533)
        #expect(try stack.fetch("Person", in: stack.anew()).count == 267)
        // Addresses of deleted rows may be used again.
        #expect(try stack.insertBatch([["name": "q", "email": "\(7919 % 1009)@x"]]).count == 1)
    }

    /// One pair of each kind: near each other at the beginning, far from each other, and near each other at the end.
    @Test(arguments: [(1, 2), (4, 790), (796, 797), (400, 401)])
    func `Two rows with one email address are refused`(pair: (Int, Int)) throws {
        let stack = try stack()
        var rows = rows(800)
        rows[pair.0]["email"] = "same@x"
        rows[pair.1]["email"] = "same@x"
        let error = #expect(throws: NSError.self) { try stack.insertBatch(rows) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(try stack.fetch("Person", in: stack.anew()).isEmpty)
        rows[pair.1]["email"] = "other@x"
        #expect(try stack.insertBatch(rows).count == 800)
    }

    @Test(arguments: ["Person", "Employee"])
    func `An email address that the store already has is refused`(entity: String) throws {
        let stack = try stack()
        stack.insert(entity, ["name": "old", "email": "700@y"])
        try stack.context.save()
        var rows = rows(800)
        rows[700]["email"] = "700@y"
        let error = #expect(throws: NSError.self) { try stack.insertBatch(rows) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        rows[700]["email"] = nil
        #expect(try stack.insertBatch(rows).count == 800)
    }

    @Test
    func `Other merge policies answer at once`() throws {
        let stack = try stack()
        var rows = rows(400)
        rows.append(["name": "last", "email": "\(7919 % 1009)@x"])
        #expect(try stack.insertBatch(rows, policy: .mergeByPropertyObjectTrump).count == 400)
        #expect(try stack.stored("Person", "age")["last"] == "1")
    }

    @Test
    func `A save of many objects is spilled too`() throws {
        let stack = try stack()
        for row in rows(400) { stack.insert("Person", row) }
        try stack.context.save()
        try check(stack, 400)
    }
}
