import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// A history has each object that a batch request changes.
@Suite struct HistoryBatchTests {
    private func changes(_ stack: TestStack, after token: NSPersistentHistoryToken?) throws -> [NSPersistentHistoryChange] {
        try #require(try stack.ask(.fetchHistory(after: token), .changesOnly) as? [NSPersistentHistoryChange])
    }

    @Test(arguments: StoreKind.recording)
    func `The history has each object of a batch`(_ kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        stack.context.transactionAuthor = "batch"
        stack.context.name = "worker"
        let inserted = try stack.insertBatch((0..<50).map { ["name": "p\($0)", "age": $0, "email": "\($0)@x"] }, in: stack.context)
        var token = stack.token
        var found = try changes(stack, after: nil)
        #expect(found.map(\.changedObjectID) == inserted && found.allSatisfy { $0.changeType == .insert })
        #expect(found[0].transaction?.author == "batch" && found[0].transaction?.contextName == "worker")
        // The properties of propertiesToUpdate, whether or not they had a value; unchanged objects are left out.
        let updated = try stack.updateBatch("Person", "age >= 40", ["age": 45, "name": "old"])
        found = try changes(stack, after: token)
        #expect(found.map(\.changedObjectID) == updated && updated.count == 10)
        #expect(found.allSatisfy { Set($0.updatedProperties?.map(\.name) ?? []) == ["age", "name"] })
        token = stack.token
        #expect(try stack.updateBatch("Person", "age == 45", ["age": 45]).count == 10)
        #expect(stack.token == token)
        // Upserts.
        _ = try stack.insertBatch([["name": "new", "email": "3@x"], ["name": "other", "email": "90@x"]], policy: .mergeByPropertyObjectTrump)
        #expect(try stack.changes(after: token) == ["update Person 4: name", "insert Person 51"])
        token = stack.token
        let deleted = try stack.deleteBatch("Person", "age >= 45")
        #expect(try changes(stack, after: token).map(\.changedObjectID) == deleted && deleted.count == 10)
    }

    @Test(arguments: StoreKind.recording)
    func `A child's batch has its own author and name, or else its nearest ancestor's`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind), child = stack.context.child(), grandchild = child.child()
        func origin(_ context: NSManagedObjectContext) throws -> [String?] {
            let token = stack.token
            _ = try stack.insertBatch([["name": "a"]], in: context)
            let transaction = try changes(stack, after: token)[0].transaction
            return [transaction?.author, transaction?.contextName]
        }
        #expect(try origin(grandchild) == [nil, nil])
        stack.context.transactionAuthor = "root"
        stack.context.name = "main"
        #expect(try origin(grandchild) == ["root", "main"] && origin(child) == ["root", "main"])
        child.transactionAuthor = "child"
        #expect(try origin(grandchild) == ["child", "main"] && origin(stack.context) == ["root", "main"])
        grandchild.transactionAuthor = "own"
        #expect(try origin(grandchild) == ["own", "main"])
    }

    @Test(arguments: StoreKind.recording)
    func `The history of a batch deletion has cascades and inverses`(kind: StoreKind) throws {
        let model = TestStack.model()
        (model.entitiesByName["Task"]?.propertiesByName["title"] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion = true
        let stack = try TestStack.tracking(kind, model: model)
        let ada = stack.insert("Person", ["name": "Ada"]), bob = stack.insert("Person", ["name": "Bob"])
        let tag = stack.insert("Tag", ["label": "t"]), group = stack.insert("Group", ["title": "g"])
        for person in [ada, bob] { person.mutableSetValue(forKey: "tags").add(tag) }
        ada.setValue(bob, forKey: "partner")
        for person in [ada, bob] { person.setValue(group, forKey: "group") }
        ada.setValue(NSOrderedSet(array: [stack.insert("Task", ["title": "1"])]), forKey: "tasks")
        try stack.context.save()
        let token = stack.token
        _ = try stack.deleteBatch("Person", "name == 'Ada'")
        #expect(try stack.changes(after: token) 
            == ["update Group 1: people", "delete Person 1", "update Person 2: partner", "update Tag 1: people", "delete Task 1"])
        #expect(try changes(stack, after: token).last?.tombstone as? [String: String] == ["title": "1"])
    }

    @Test
    func `The history of a batch has derived attributes`() throws {
        let stack = try TestStack.tracking(model: ClubModel.make())
        let club = stack.insert("Club", ["name": "chess"])
        let member = stack.insert("Member", ["name": "A", "dues": 1])
        member.setValue(club, forKey: "club")
        try stack.context.save()
        let token = stack.token
        _ = try stack.updateBatch("Member", nil, ["dues": 5])
        let words = try stack.changes(after: token)
        #expect(words.contains { $0.hasPrefix("update Club 1: ") && $0.contains("dues") })
        #expect(words.contains { $0.hasPrefix("update Member 1: ") && $0.contains("dues") && $0.contains("touched") })
    }

    @Test(arguments: StoreKind.recording)
    func `An insertion in several commits leaves as many transactions`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let request = NSBatchInsertRequest(entityName: "Person", objects: (0..<25).map { ["name": "p\($0)"] })
        request.rowsPerCommit = 10
        try stack.context.execute(request)
        #expect(try stack.transactions().map { $0.changes?.count } == [10, 10, 5])
    }

    @Test(arguments: StoreKind.recording)
    func `A batch that is rolled back leaves nothing`(kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        try stack.insertBatch([["name": "a", "email": "a@x"]])
        let token = stack.token
        #expect(throws: NSError.self) { try stack.insertBatch([["name": "b", "email": "b@x"], ["name": "c", "email": "a@x"]]) }
        #expect(stack.token == token)
    }

    /// Rows with the same change are one entry, so that a history's size does not depend on the batch's.
    @Test
    func `The history of a batch of many rows takes a few bytes each`() throws {
        let stack = try TestStack.tracking(.recordLog), plain = try TestStack(.recordLog)
        let rows = 20_000
        func run(_ request: (TestStack) throws -> Void) throws -> Int64 {
            let before = (stack.bytesAppended, plain.bytesAppended)
            try request(stack)
            try request(plain)
            return Int64(stack.bytesAppended - before.0) - Int64(plain.bytesAppended - before.1)
        }
        let insertion = try run { stack in
            var next = 0
            let request = NSBatchInsertRequest(entityName: "Group", dictionaryHandler: { row in
                row["title"] = "g\(next)"
                next += 1
                return next > rows
            })
            try stack.context.execute(request)
        }
        let update = try run { _ = try $0.updateBatch("Group", nil, ["title": "same"]) }
        let deletion = try run { _ = try $0.deleteBatch("Group") }
        #expect(insertion <= 256 && update <= 256 && deletion <= 256, "\(insertion) \(update) \(deletion)")
        #expect(try stack.ask(.fetchHistory(after: Date.distantPast), .count) as? Int == 3 * rows)
        // Counting makes no change objects, and reads three rows.
        let reads = stack.rowReads
        _ = try stack.ask(.fetchHistory(after: Date.distantPast), .count)
        #expect(stack.rowReads - reads < 10)
    }

    /// Rows that are already in the file when their transaction's history needs them.
    @Test(arguments: StoreKind.recording)
    func `The history has rows that were written ahead`(_ kind: StoreKind) throws {
        let stack = try TestStack.tracking(kind)
        let first = stack.insert("Group", ["title": "1"]), second = stack.insert("Group", ["title": "2"])
        try stack.context.save()
        var token = stack.token
        let text = String(repeating: "long ", count: 800), count = 2500
        try stack.insertBatch((0..<count).map { ["name": "\($0) \(text)", "group": first.objectID] })
        var found = try changes(stack, after: token)
        #expect(found.count == count + 1 && found[0].words == "update Group 1: people" && found[count].words == "insert Person \(count)")
        token = stack.token
        _ = try stack.updateBatch("Person", nil, ["group": second.objectID])
        found = try changes(stack, after: token)
        #expect(found.prefix(3).map(\.words) == ["update Group 1: people", "update Group 2: people", "update Person 1: group"])
        #expect(found.count == count + 2)
        token = stack.token
        for (number, person) in try stack.fetch("Person").enumerated() { person.setValue("\(text) \(number)", forKey: "name") }
        try stack.context.save()
        found = try changes(stack, after: token)
        #expect(found.count == count && found.allSatisfy { $0.updatedProperties?.map(\.name) == ["name"] })
    }

    /// More than fits in a row: the changes are stored in frames of their own, and read in pieces.
    @Test
    func `Any number of changes is one transaction`() throws {
        let model = TestStack.model()
        (model.entitiesByName["Tag"]?.propertiesByName["label"] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion = true
        let stack = try TestStack.tracking(.recordLog, model: model)
        let count = 12_000
        try stack.insertBatch((0..<count).map { ["label": "tag number \($0)"] }, into: "Tag")
        let token = stack.token
        _ = try stack.deleteBatch("Tag")
        let found = try changes(stack, after: token)
        #expect(found.count == count)
        #expect(found.enumerated().allSatisfy { $1.tombstone?["label"] as? String == "tag number \($0)" })
        let table = try #require(try stack.store.history.table(in: stack.store.log!.snapshot().catalog))
        let row = try #require(try stack.store.log!.snapshot().unsafeRow(RowReference(table: table.id, row: 2)))
        let value = try #require(try stack.store.log!.snapshot().value(table.access(.changes, of: row), of: row))
        #expect(!value.isInline && value.count > 200_000)
    }
}
