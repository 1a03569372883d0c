import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// Only SQLite stores have persistent history on Apple's platforms, so only the default store is asked.
@MainActor struct HistoryQuestions {
    private func stack(_ model: NSManagedObjectModel = Sketch.library(), _ options: [String: Any] = [:]) throws -> Stack {
        try Stack(.database, model, options: options.merging([NSPersistentHistoryTrackingKey: true as NSNumber]) { first, _ in first })
    }

    private func ask(
        _ stack: Stack, _ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType? = nil
    ) throws -> Any? {
        if let type { request.resultType = type }
        return try (stack.context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    private func transactions(_ stack: Stack, after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        try #require(try ask(stack, .fetchHistory(after: token)) as? [NSPersistentHistoryTransaction])
    }

    private func changes(_ stack: Stack) throws -> [NSPersistentHistoryChange] { try transactions(stack).flatMap { $0.changes ?? [] } }

    @Test(.wwdc(2017, 210, "Persistent history tracking"))
    func `Each save is a transaction, in order`() throws {
        let stack = try stack()
        for _ in 1...3 { try stack.saved("Book") }
        let numbers = try transactions(stack).map(\.transactionNumber)
        #expect(numbers.count == 3 && numbers == numbers.sorted() && Set(numbers).count == 3)
    }

    @Test(.reference("nspersistenthistorychange"))
    func `A change has its type and its object's ID`() throws {
        let stack = try stack(), book = try stack.saved("Book"), id = book.objectID
        book.setValue("x", forKey: "title")
        try stack.context.save()
        stack.context.delete(book)
        try stack.context.save()
        let changes = try changes(stack)
        #expect(changes.map(\.changeType) == [.insert, .update, .delete] && changes.allSatisfy { $0.changedObjectID == id })
    }

    @Test(.reference("nspersistenthistorychange/updatedproperties"))
    func `An update names the properties that it changed`() throws {
        let stack = try stack(), book = try stack.saved("Book")
        book.setValue("x", forKey: "title")
        book.setValue(5, forKey: "pages")
        try stack.context.save()
        #expect(Set(try #require(try changes(stack).last?.updatedProperties).map(\.name)) == ["title", "pages"])
    }

    @Test(.reference("nspersistenthistorychange/tombstone"))
    func `A deletion keeps what the model says in a tombstone`() throws {
        let key = Sketch.attribute("key")
        key.preservesValueInHistoryOnDeletion = true
        let stack = try stack(Sketch.items([key])), item = try stack.saved("Item", ["key": "k", "name": "n"])
        stack.context.delete(item)
        try stack.context.save()
        let change = try #require(try changes(stack).last)
        #expect(change.tombstone?["key"] as? String == "k" && change.tombstone?["name"] == nil)
    }

    @Test(.reference("nspersistenthistorytransaction/author"))
    func `A transaction has the author and the name of its context`() throws {
        let stack = try stack()
        (stack.context.transactionAuthor, stack.context.name) = ("app", "main")
        try stack.saved("Book")
        let one = try #require(try transactions(stack).first)
        #expect(one.author == "app" && one.contextName == "main" && one.storeID == stack.store.identifier)
    }

    @Test(.reference("nspersistenthistorytransaction"))
    func `A transaction has a time, a process and a program`() throws {
        let stack = try stack(), before = Date()
        try stack.saved("Book")
        let one = try #require(try transactions(stack).first)
        #expect(abs(one.timestamp.timeIntervalSince(before)) < 60 && !one.processID.isEmpty && !one.bundleID.isEmpty)
    }

    @Test(.reference("nspersistenthistorychange/transaction"))
    func `A change leads to its transaction`() throws {
        let stack = try stack()
        try stack.saved("Book")
        let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let changes = try #require(try ask(stack, all, .changesOnly) as? [NSPersistentHistoryChange])
        #expect(try changes.first?.transaction?.transactionNumber == transactions(stack).first?.transactionNumber)
    }

    @Test(.header("NSPersistentHistoryChangeRequest", "fetchHistoryAfterToken:"))
    func `Only later transactions follow a token`() throws {
        let stack = try stack()
        try stack.saved("Book")
        let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        #expect(try transactions(stack, after: token).isEmpty)
        try stack.saved("Author")
        #expect(try transactions(stack, after: token).flatMap { $0.changes ?? [] }.map(\.changedObjectID.entity.name) == ["Author"])
    }

    @Test(.header("NSPersistentHistoryChangeRequest", "fetchHistoryAfterTransaction:"))
    func `After a transaction come later ones`() throws {
        let stack = try stack()
        for _ in 1...3 { try stack.saved("Book") }
        let first = try #require(try transactions(stack).first)
        #expect((try ask(stack, .fetchHistory(after: first)) as? [NSPersistentHistoryTransaction])?.count == 2)
        #expect(try transactions(stack, after: first.token).count == 2)
    }

    @Test(.header("NSPersistentHistoryChangeRequest", "fetchHistoryAfterDate:"))
    func `After a date come later transactions`() throws {
        let stack = try stack()
        try stack.saved("Book")
        #expect((try ask(stack, .fetchHistory(after: Date.distantPast)) as? [Any])?.count == 1)
        #expect((try ask(stack, .fetchHistory(after: Date(timeIntervalSinceNow: 60))) as? [Any])?.count == 0)
    }

    @Test(.header("NSPersistentHistoryChangeRequest", "resultType"))
    func `By default a request's results are transactions with changes`() {
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast).resultType == .transactionsAndChanges)
    }

    @Test(.header("NSPersistentStoreResult", "NSPersistentHistoryResultType"))
    func `Each result type has its result`() throws {
        let stack = try stack()
        for _ in 1...2 { try stack.saved("Book") }
        let all = { NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?) }
        #expect(try ask(stack, all(), .statusOnly) as? Bool == true)
        #expect((try ask(stack, all(), .objectIDs) as? [NSManagedObjectID])?.count == 2)
        #expect(try ask(stack, all(), .count) as? Int == 2)
        #expect((try ask(stack, all(), .transactionsOnly) as? [NSPersistentHistoryTransaction])?.allSatisfy { $0.changes == nil } == true)
        #expect((try ask(stack, all(), .changesOnly) as? [NSPersistentHistoryChange])?.count == 2)
        #expect((try ask(stack, all(), .transactionsAndChanges) as? [NSPersistentHistoryTransaction])?.compactMap(\.changes).count == 2)
    }

    @Test(.header("NSPersistentHistoryChangeRequest", "deleteHistoryBeforeTransaction:"))
    func `History before a transaction can be deleted`() throws {
        let stack = try stack()
        for _ in 1...3 { try stack.saved("Book") }
        let last = try #require(try transactions(stack).last)
        #expect(try ask(stack, .deleteHistory(before: last)) as? Bool ?? true)
        #expect(try transactions(stack).map(\.transactionNumber) == [last.transactionNumber])
    }

    @Test(.wwdc(2017, 210, "Persistent history tracking"))
    func `Deleting history leaves the objects`() throws {
        let stack = try stack()
        try stack.saved("Book")
        _ = try ask(stack, .deleteHistory(before: Date.distantFuture))
        #expect(try stack.count("Book", in: stack.sibling()) == 1 && transactions(stack).isEmpty)
    }

    @Test(.header("CoreDataErrors", "NSPersistentHistoryTokenExpiredError"))
    func `A token whose history is deleted has expired: 134301`() throws {
        let stack = try stack()
        for _ in 1...3 { try stack.saved("Book") }
        let all = try transactions(stack), first = all[0].token
        _ = try ask(stack, .deleteHistory(before: all[2]))
        #expect(failure { _ = try transactions(stack, after: first) }?.code == NSPersistentHistoryTokenExpiredError)
    }

    @Test(.reference("nspersistenthistorytransaction/objectidnotification()"))
    func `A transaction's notification can be merged`() throws {
        let stack = try stack(), book = try stack.saved("Book", ["title": "old"]), other = stack.sibling()
        let mine = try stack.only("Book", in: other)
        #expect(mine.text("title") == "old")
        book.setValue("new", forKey: "title")
        try stack.context.save()
        let last = try #require(try transactions(stack).last)
        other.mergeChanges(fromContextDidSave: last.objectIDNotification())
        #expect(mine.text("title") == "new")
    }

    @Test(.wwdc(2017, 210, "Persistent history tracking"))
    func `Batch requests are in the history`() throws {
        let stack = try stack()
        _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "a"], ["title": "b"]]))
        _ = try stack.context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book")))
        let changes = try changes(stack).map(\.changeType)
        #expect(changes.filter { $0 == .insert }.count == 2 && changes.filter { $0 == .delete }.count == 2)
    }

    @Test(.reference("nspersistenthistorytoken"))
    func `A token can be archived`() throws {
        let stack = try stack()
        try stack.saved("Book")
        let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
        try stack.saved("Author")
        #expect(try transactions(stack, after: again).count == 1)
    }

    @Test(.wwdc(2017, 210, "Persistent history tracking"))
    func `A store remembers its history when it is opened again`() throws {
        let stack = try stack()
        try stack.saved("Book")
        let again = try stack.reopened(options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        #expect(try transactions(again).count == 1)
    }

    @Test(.wwdc(2019, 230, "Filtering history by a fetch request"))
    func `A fetch request filters transactions by author`() throws {
        let stack = try stack()
        for author in ["a", "b"] {
            stack.context.transactionAuthor = author
            try stack.saved("Book")
        }
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.predicate = NSPredicate(format: "author == %@", "b")
        let found = try ask(stack, .fetchHistory(withFetch: request)) as? [NSPersistentHistoryTransaction]
        #expect(found?.map(\.author) == ["b"])
    }

    @Test(
        .source("Measured in public code for Apple's platforms (parity B1)"),
        arguments: [("token <= %@", 2), ("token > %@", 0), ("token >= %@", 1)])
    func `A fetch request filters transactions by token`(format: String, count: Int) throws {
        let stack = try stack()
        for _ in 1...2 { try stack.saved("Book") }
        let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let request = try #require(NSPersistentHistoryTransaction.fetchRequest)
        request.predicate = NSPredicate(format: format, argumentArray: [token])
        let found = (try ask(stack, .fetchHistory(withFetch: request), .transactionsOnly) as? [Any])?.count
        #expect(found == count)
    }

    @Test(.source("Measured in public code for Apple's platforms (parity B1)"))
    func `A fetch request filters changes by entity`() throws {
        let stack = try stack()
        try stack.saved("Book")
        try stack.saved("Author")
        let request = try #require(NSPersistentHistoryChange.fetchRequest)
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: stack.context))
        request.predicate = NSPredicate(format: "changedEntity == %@", argumentArray: [entity])
        let found = try ask(stack, .fetchHistory(withFetch: request), .changesOnly) as? [Any]
        #expect(found?.count == 1)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B15)"))
    func `A remote-change notification comes to the coordinator that has saved too`() async throws {
        let stack = try stack(Sketch.library(), [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber])
        let heard = Heard(.NSPersistentStoreRemoteChange, of: stack.coordinator)
        try stack.saved("Book")
        for _ in 0..<200 where heard.all.isEmpty { await stack.context.perform {} }
        #expect(!heard.all.isEmpty)
    }
}
