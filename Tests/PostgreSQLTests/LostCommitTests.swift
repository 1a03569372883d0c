import Foundation
import Heartwood
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// A save whose connection breaks happens once or not at all, and the context knows which.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stand before."))
struct LostCommitTests {
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        /// One round trip; the same with a unique value; rows that are sent ahead of the commit; a change of rows that are locked; an order of pairs;
        /// batch requests.
        case newAuthor, newBook, largeAuthors, changedBook, deletedBook, movedBook, batchUpdate, batchInsertion
        var testDescription: String { rawValue }
    }

    private let proxy: PostgreSQLProxy
    private let stack: ServerStack
    /// The same store without the proxy.
    private let witness: ServerStack

    init() throws {
        let options = [NSPersistentHistoryTrackingKey: true]
        proxy = try PostgreSQLProxy(to: try #require(PostgreSQLTestServer.shared.privateSocket))
        stack = try ServerStack(ServerModel.make(), options: options, socketFolder: proxy.folder)
        witness = try ServerStack(ServerModel.make(), at: ServerStack.newURL(schema: stack.schema), options: options)
        try stack.context.performAndWait {
            let shelf = insert("Shelf")
            shelf.setValue(NSOrderedSet(array: (0..<3).map { insert("Book", ["id": $0, "title": "Title \($0)"]) }), forKey: "content")
            try stack.context.save()
        }
    }

    @discardableResult
    private func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context)
        object.setValuesForKeys(values)
        return object
    }

    private static func books(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
        return try context.fetch(request)
    }

    /// Everything that a context shows.
    private static func text(_ context: NSManagedObjectContext) throws -> [String] {
        var lines = try books(context).map { "\($0.value(forKey: "id") ?? "-") \($0.value(forKey: "pages") ?? "-") \($0.value(forKey: "title") ?? "-")" }
        for author in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) { lines.append("\(author.value(forKey: "name") ?? "-")") }
        for shelf in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")) {
            lines.append((shelf.value(forKey: "content") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "id") }.description ?? "")
        }
        return lines.sorted()
    }

    /// Prepares a change without saving it.
    private func prepare(_ change: Change, _ number: Int) throws -> () throws -> Void {
        let context = stack.context, books = try Self.books(context)
        switch change {
        case .newAuthor: insert("Author", ["name": "Author \(number)"])
        case .newBook: insert("Book", ["id": 100 + number])
        case .largeAuthors:
            let large = String(repeating: "a", count: 66_000)
            for part in 0..<3 { insert("Author", ["name": "Author \(number).\(part) \(large)"]) }
        case .changedBook: books[0].setValue(number, forKey: "pages")
        case .deletedBook: context.delete(books[books.count - 1])
        case .movedBook:
            let shelf = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
            shelf.mutableOrderedSetValue(forKey: "content").moveObjects(at: [2], to: 0)
        case .batchUpdate:
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["pages": number]
            return { _ = try context.execute(update) }
        case .batchInsertion:
            let insertion = NSBatchInsertRequest(entityName: "Author", objects: [["name": "Author \(number)"]])
            return { _ = try context.execute(insertion) }
        }
        return { try context.save() }
    }

    private func transactions() throws -> Int64 {
        try witness.sql("SELECT count(*) FROM \"\(stack.schema)\".heartwood_transactions").int64(0, 0)
    }

    /// The messages of a change behind two others of its kind: a connection that has saved before has the statements prepared, so their number is
    /// the same each time.
    private func messages(of change: Change) throws -> PostgreSQLProxy.Count {
        for number in 0..<2 {
            if change == .deletedBook { try restore(number) }
            try prepare(change, number)()
        }
        if change == .deletedBook { try restore(2) }
        let run = try prepare(change, 2)
        return try proxy.count { try run() }
    }

    @Test(arguments: Change.allCases)
    func `A connection that is cut at any message of a save leaves the context and the store of one mind`(change: Change) throws {
        try stack.context.performAndWait {
            let count = try messages(of: change)
            var number = 3
            for (direction, messages) in [(PostgreSQLProxy.Direction.toServer, count.toServer.count), (.toClient, count.toClient.count)] {
                for message in 0...messages {
                    for action in [PostgreSQLProxy.Fault.Action.cutInside, .cut] where action == .cutInside || message > 0 {
                        if change == .deletedBook { try restore(number) }
                        try trial(change, number, PostgreSQLProxy.Fault(action, after: message, direction))
                        number += 1
                    }
                }
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `A request that arrives once its client has asked again happens once`(change: Change) throws {
        try stack.context.performAndWait {
            let count = try messages(of: change)
            var number = 3
            for message in 0..<count.toServer.count {
                if change == .deletedBook { try restore(number) }
                try trial(change, number, PostgreSQLProxy.Fault(.leave(others: message % 2 == 0 ? 1 : 8), after: message, .toServer))
                number += 1
            }
        }
    }

    @Test
    func `Messages in pieces of one byte, each with a delay, are the same messages`() throws {
        proxy.setPiece(1)
        proxy.setDelay(.milliseconds(2))
        try stack.context.performAndWait {
            for (number, change) in Change.allCases.enumerated() {
                if change == .deletedBook { try restore(number) }
                let before = try transactions()
                try prepare(change, number)()
                #expect(try transactions() == before + 1)
            }
            let other = witness.newContext()
            stack.context.reset()
            #expect(try Self.text(stack.context) == other.performAndWait { try Self.text(other) })
        }
    }

    @Test
    func `An answer that comes late is waited for`() throws {
        try stack.context.performAndWait {
            for number in 0..<2 { try prepare(.changedBook, number)() }
            let run = try prepare(.changedBook, 2), count = try proxy.count { try run() }
            // The first answer, and that to the commit. The store looks for the reason once it has waited for two seconds: those messages pass.
            for (number, message) in [1, count.toClient.count - 1].enumerated() {
                try trial(.changedBook, 3 + number, PostgreSQLProxy.Fault(.late(others: 4), after: message, .toClient))
            }
        }
    }

    /// A book to delete.
    private func restore(_ number: Int) throws {
        insert("Book", ["id": 1_000 + number])
        try stack.context.save()
        stack.context.reset()
    }

    /// Has a connection for the next save: the one before may have ended with its fault, and a fault that meets a new connection is another test.
    private func connect(_ number: Int) throws {
        try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first?.setValue("Room \(number)", forKey: "room")
        try stack.context.save()
    }

    private func trial(_ change: Change, _ number: Int, _ fault: PostgreSQLProxy.Fault) throws {
        try connect(number)
        let before = try transactions(), run = try prepare(change, number)
        proxy.setFault(fault)
        let result = Result { try run() }
        proxy.setFault(nil)
        switch result {
        case .success: #expect(try transactions() == before + 1, "\(fault): the save happened once")
        case .failure(let error):
            // The rows of an insertion come once, so it is not repeated.
            #expect(change == .batchInsertion, "\(fault): \(error)")
            #expect(try transactions() == before, "\(fault): nothing happened")
        }
        #expect(!stack.context.hasChanges)
        let shown = try Self.text(stack.context)
        stack.context.reset()
        let stored = try Self.text(stack.context), other = witness.newContext()
        #expect(change == .batchUpdate || shown == stored, "\(fault)")
        #expect(try other.performAndWait { try Self.text(other) } == stored, "\(fault)")
    }

    /// The backends that wait for a lock in this store.
    private func waiting(for table: String) throws -> Int64 {
        try witness.sql(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\"\(stack.schema)\".\"\(table)\"'::regclass").int64(0, 0)
    }

    @Test
    func `A save that the server still runs when its connection is lost happens once`() throws {
        let blocker = try PostgreSQLConnection(PostgreSQLConfiguration(StoreAddress(witness.url).connection))
        let before = try transactions(), context = stack.context
        try blocker.begin()
        try blocker.execute(PostgreSQLStatement("LOCK TABLE \"\(stack.schema)\".\"Author\" IN SHARE MODE"))
        let isSaved = DispatchSemaphore(value: 0), fault = Fault()
        context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Author", into: context).setValue("Once", forKey: "name")
            do { try context.save() } catch { fault.set(error) }
            isSaved.signal()
        }
        while try waiting(for: "Author") < 1 { sched_yield() }
        proxy.cutAll()
        // The save runs again, while its first run still waits on the server.
        while try waiting(for: "Author") < 2 { sched_yield() }
        try blocker.commit()
        isSaved.wait()
        #expect(fault.error == nil)
        #expect(try transactions() == before + 1)
        #expect(try witness.sql("SELECT count(*) FROM \"\(stack.schema)\".\"Author\"").int64(0, 0) == 1)
    }
}

/// The error of another thread.
private final class Fault: @unchecked Sendable {
    // Unchecked: the lock guards it.
    private let lock = NSLock()
    private var stored: (any Error)?

    var error: (any Error)? { lock.withLock { stored } }

    func set(_ error: any Error) { lock.withLock { stored = error } }
}
