import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Requests for a history, and its deletion.
@Suite struct HistoryRequestTests {
    /// Ten saves of one person each, alternately by "a" and "b".
    private static func filled(_ kind: StoreKind = .inMemory, at url: URL? = nil, count: Int = 10) throws -> TestStack {
        let stack = try TestStack.tracking(kind, at: url)
        for number in 0..<count {
            stack.context.transactionAuthor = number % 2 == 0 ? "a" : "b"
            stack.insert("Person", ["name": "\(number)"])
            try stack.context.save()
        }
        return stack
    }

    private func numbers(_ stack: TestStack, _ request: NSPersistentHistoryChangeRequest) throws -> [Int64] {
        try #require(try stack.ask(request, .transactionsOnly) as? [NSPersistentHistoryTransaction]).map(\.transactionNumber)
    }

    /// Kinds that number their transactions from 1. A store of PostgreSQL has the server's numbers, which other stores' transactions share.
    private static let counting = StoreKind.recording.filter { $0 != .postgreSQL }

    @Test(arguments: counting)
    func `History can be fetched from a given point`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        let all = try stack.transactions()
        #expect(all.map(\.transactionNumber) == Array(1...10))
        #expect(try numbers(stack, .fetchHistory(after: all[6].token)) == [8, 9, 10])
        #expect(try numbers(stack, .fetchHistory(after: all[6])) == [8, 9, 10])
        for number in 0..<10 {
            #expect(try numbers(stack, .fetchHistory(after: all[number].timestamp)) == Array(Int64(number + 2)..<11))
        }
        #expect(try numbers(stack, .fetchHistory(after: Date.distantPast)) == Array(1...10))
        #expect(try numbers(stack, .fetchHistory(after: Date.distantFuture)) == [])
        #expect(try numbers(stack, .fetchHistory(after: stack.token)) == [])
        #expect(stack.token == all[9].token)
    }

    @Test
    func `A fetch after a token reads nothing before it`() throws {
        let stack = try Self.filled(count: 300)
        let token = try stack.transactions()[297].token
        let before = stack.rowReads
        #expect(try numbers(stack, .fetchHistory(after: token)) == [299, 300])
        #expect(stack.rowReads - before < 10)
        let date = try stack.transactions()[298].timestamp, start = stack.rowReads
        #expect(try numbers(stack, .fetchHistory(after: date)) == [300])
        // A binary search.
        #expect(stack.rowReads - start < 30)
    }

    @Test(arguments: counting)
    func `The result has the requested type`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)])
        people[0].setValue(5, forKey: "age")
        stack.context.delete(people[1])
        try stack.context.save()
        func ask(_ type: NSPersistentHistoryResultType) throws -> Any? { try stack.ask(.fetchHistory(after: Date.distantPast), type) }
        #expect(try ask(.statusOnly) as? Bool == true)
        #expect(try ask(.count) as? Int == 12)
        let ids = try #require(try ask(.objectIDs) as? [NSManagedObjectID])
        #expect(ids.count == 10 && Set(ids) == Set(people.map(\.objectID)) && ids[0] == people[0].objectID)
        let bare = try #require(try ask(.transactionsOnly) as? [NSPersistentHistoryTransaction])
        #expect(bare.count == 11 && bare.allSatisfy { $0.changes == nil })
        let changes = try #require(try ask(.changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.count == 12 && changes.last?.words == "delete Person 2" && changes.last?.transaction?.transactionNumber == 11)
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: Date()).resultType == .transactionsAndChanges)
        #expect(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()).resultType == .statusOnly)
    }

    @Test(arguments: counting)
    func `Transactions are fetched by their properties`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        func find(_ format: String, _ arguments: Any..., behind token: NSPersistentHistoryToken? = nil) throws -> [Int64] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.fetchRequest = fetch
            return try numbers(stack, request)
        }
        #expect(try find("author == %@", "a") == [1, 3, 5, 7, 9])
        #expect(try find("author != %@", "a", behind: stack.transactions()[5].token) == [8, 10])
        #expect(try find("transactionNumber BETWEEN {3, 4} AND processID == %@", ProcessInfo.processInfo.processName) == [3, 4])
        let fourth = try stack.transactions()[3].token
        for (sign, wanted) in [("<=", [1, 2, 3, 4]), ("<", [1, 2, 3]), ("==", [4]), (">=", [4, 5, 6, 7, 8, 9, 10]), (">", [5, 6, 7, 8, 9, 10])] {
            #expect(try find("token \(sign) %@", fourth) == wanted.map(Int64.init), "\(sign)")
        }
        #expect(try find("timestamp > %@", stack.transactions()[7].timestamp) == [9, 10])
        #expect(try find("contextName == nil AND bundleID != 'other' AND storeID == %@", stack.persistentStore.identifier!).count == 10)
        #expect(try find("ANY changes.changeType == %@", NSPersistentHistoryChangeType.update.rawValue) == [])
        let fetch = NSFetchRequest<any NSFetchRequestResult>()
        fetch.entity = NSPersistentHistoryTransaction.entityDescription(with: stack.context)
        fetch.sortDescriptors = [NSSortDescriptor(key: "author", ascending: false), NSSortDescriptor(key: "transactionNumber", ascending: false)]
        fetch.fetchOffset = 3
        fetch.fetchLimit = 4
        #expect(try numbers(stack, .fetchHistory(withFetch: fetch)) == [4, 2, 9, 7])
        fetch.sortDescriptors = nil
        let reads = stack.rowReads
        #expect(try numbers(stack, .fetchHistory(withFetch: fetch)) == [4, 5, 6, 7])
        // The scan ends with the last requested transaction.
        #expect(stack.rowReads - reads <= 8)
    }

    @Test(arguments: counting)
    func `Changes are fetched by their properties`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)])
        people[3].setValue(9, forKey: "age")
        people[4].setValue(9, forKey: "age")
        stack.insert("Group", ["title": "g"])
        stack.context.transactionAuthor = "c"
        try stack.context.save()
        func find(_ format: String, _ arguments: Any..., type: NSPersistentHistoryResultType = .changesOnly) throws -> Any? {
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Change")
            fetch.entity = NSPersistentHistoryChange.entityDescription(with: stack.context)
            fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try stack.ask(.fetchHistory(withFetch: fetch), type)
        }
        func words(_ found: Any?) -> [String] { (found as? [NSPersistentHistoryChange])?.map(\.words) ?? [] }
        #expect(words(try find("changedObjectID == %@", people[3].objectID)) == ["insert Person 4", "update Person 4: age"])
        #expect(words(try find("changedEntity == 'Group'")) == ["insert Group 1"])
        let group = try #require(stack.coordinator.managedObjectModel.entitiesByName["Group"])
        #expect(words(try find("changedEntity == %@", group)) == ["insert Group 1"])
        #expect(words(try find("changedEntity IN %@", [group])) == ["insert Group 1"])
        #expect(words(try find("changedEntity.name == 'Group'")) == ["insert Group 1"])
        #expect(words(try find("transaction.author == 'c' AND changeType == 1")) == ["update Person 4: age", "update Person 5: age"])
        #expect(try find("changeType == 1", type: .count) as? Int == 2)
        let transactions = try #require(try find("changeType == 1", type: .transactionsAndChanges) as? [NSPersistentHistoryTransaction])
        #expect(transactions.map(\.transactionNumber) == [11] && words(transactions[0].changes) == ["update Person 4: age", "update Person 5: age"])
        #expect(try find("changedEntity == 'Group'", type: .objectIDs) as? [NSManagedObjectID] == [try stack.fetch("Group")[0].objectID])
    }

    @Test(arguments: StoreKind.recording)
    func `A request that cannot be answered is an error`(kind: StoreKind) throws {
        let stack = try Self.filled(kind, count: 1)
        func refuse(_ change: (NSFetchRequest<any NSFetchRequestResult>) -> Void) throws {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            change(fetch)
            let error = #expect(throws: NSError.self) { try numbers(stack, .fetchHistory(withFetch: fetch)) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        }
        try refuse { $0.predicate = NSPredicate(format: "writer == 'a'") }
        try refuse { $0.predicate = NSPredicate { _, _ in true } }
        try refuse { $0.sortDescriptors = [NSSortDescriptor(key: "writer", ascending: true)] }
        try refuse { $0.entity = stack.coordinator.managedObjectModel.entitiesByName["Person"] }
    }

    // MARK: Deleting

    @Test(arguments: counting)
    func `Deleted history is gone and its tokens have expired`(_ kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        let all = try stack.transactions()
        #expect(try stack.ask(.deleteHistory(before: all[4])) as? Bool == true)
        #expect(try stack.transactions().map(\.transactionNumber) == Array(5...10))
        // Nothing is missing after the newest deleted one.
        #expect(try numbers(stack, .fetchHistory(after: all[3].token)) == Array(5...10))
        let error = #expect(throws: NSError.self) { try stack.transactions(after: all[2].token) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentHistoryTokenExpiredError)
        _ = try stack.ask(.deleteHistory(before: all[6].timestamp))
        #expect(try stack.transactions().map(\.transactionNumber) == Array(7...10))
        _ = try stack.ask(.deleteHistory(before: all[2].token))
        _ = try stack.ask(.deleteHistory(before: nil as NSPersistentHistoryToken?))
        #expect(try stack.transactions().count == 4)
        let token = stack.token
        _ = try stack.ask(.deleteHistory(before: Date.distantFuture))
        #expect(try stack.transactions().isEmpty && stack.token?.positions.values.first?.number == 10)
        #expect(try stack.transactions(after: token).isEmpty)
        // No transaction remains that could show what is missing.
        let emptied = #expect(throws: NSError.self) { try stack.transactions(after: all[8].token) }
        #expect(emptied?.code == NSPersistentHistoryTokenExpiredError)
        // Numbers are never used again.
        stack.insert("Person", ["name": "later"])
        try stack.context.save()
        #expect(try stack.transactions(after: token).map(\.transactionNumber) == [11])
        #expect(throws: NSError.self) { try stack.transactions(after: all[8].token) }
    }

    @Test
    func `A long history is deleted in several commits`() throws {
        let stack = try TestStack.tracking()
        let log = try #require(stack.store.log)
        for _ in 0..<4500 {
            stack.insert("Group", ["title": "g"])
            try stack.context.save()
        }
        let commits = log.snapshot().sequence, bytes = stack.bytesAppended
        _ = try stack.ask(.deleteHistory(before: Date.distantFuture))
        #expect(log.snapshot().sequence - commits == 2)
        #expect(stack.bytesAppended - bytes < 4500 * 40)
        #expect(try stack.transactions().isEmpty && stack.fetch("Group").count == 4500)
    }

    // MARK: Tokens

    @Test(arguments: counting)
    func `A token outlives its process`(kind: StoreKind) throws {
        let stack = try Self.filled(kind)
        let token = try stack.transactions()[4].token
        let archive = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archive))
        let decoded = try JSONDecoder().decode(NSPersistentHistoryToken.self, from: JSONEncoder().encode(token))
        for copy in [read, decoded] {
            #expect(copy == token && copy.hash == token.hash && copy !== token)
            #expect(try numbers(stack, .fetchHistory(after: copy)) == Array(6...10))
        }
        #expect(token != stack.token && Set([token, read, decoded]).count == 1)
    }

    @Test(arguments: StoreKind.recording)
    func `A token of another history has expired`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), other = try Self.filled(kind, count: 20)
        let foreign = #expect(throws: NSError.self) { try stack.transactions(after: other.token) }
        #expect(foreign?.code == NSPersistentHistoryTokenExpiredError)
        // The store is restored to an older state, and gets other commits from there.
        let position = try #require(stack.token?.positions.values.first)
        for changed in [
            NSPersistentHistoryToken.Position(table: position.table, number: position.number + 1, time: position.time),
            .init(table: position.table, number: position.number, time: position.time + 1),
            .init(table: position.table + 1, number: position.number, time: position.time),
            .init(table: position.table, number: -1, time: 0),
        ] {
            let error = #expect(throws: NSError.self) {
                try stack.transactions(after: NSPersistentHistoryToken([stack.persistentStore.identifier: changed]))
            }
            #expect(error?.code == NSPersistentHistoryTokenExpiredError)
        }
    }
}
