import Foundation
import Heartwood
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Synchronization
import Testing

/// A server that crashes may give the number of a transaction that it has lost to another one.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to crash."))
struct ReusedNumberTests {
    private let server: PostgreSQLTestServer
    private let proxy: PostgreSQLProxy
    private let stack: ServerStack
    /// The same store without the proxy.
    private let other: ServerStack

    init() throws {
        server = try PostgreSQLTestServer()
        proxy = try PostgreSQLProxy(to: try #require(server.socketFolder))
        stack = try ServerStack(ServerModel.make(), at: ServerStack.newURL(socketFolder: proxy.folder))
        other = try ServerStack(ServerModel.make(), at: ServerStack.newURL(socketFolder: server.socketFolder, schema: stack.schema))
        try stack.context.performAndWait {
            for number in 0..<2 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context)
                book.setValuesForKeys(["id": number, "pages": 0])
            }
            try stack.context.save()
        }
        // The server writes what it has to write at commits alone, so that the crash loses the rest.
        try other.sql("ALTER SYSTEM SET wal_writer_delay = '10s'")
        try other.sql("SELECT pg_reload_conf()")
    }

    private static func change(_ book: Int64, to pages: Int, in context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: "id == %lld", book)
        try context.fetch(request).first?.setValue(pages, forKey: "pages")
        try context.save()
    }

    private func pages(_ book: Int64) throws -> Int64 {
        try other.sql("SELECT pages::bigint FROM \"\(stack.schema)\".\"Book\" WHERE id = \(book)").int64(0, 0)
    }

    /// Saves a change, and crashes the server between the two round trips of the save. Meanwhile others save, until one has the number of the save.
    private func saveOverCrash(_ change: @escaping @Sendable (NSManagedObjectContext) -> Void) throws -> (any Error)? {
        let isHeld = DispatchSemaphore(value: 0), isSaved = DispatchSemaphore(value: 0), outcome = Outcome(), context = stack.context
        try context.performAndWait {
            try Self.change(0, to: 3, in: context)
            change(context)
        }
        proxy.setFault(.holdingTransaction) { isHeld.signal() }
        context.perform {
            do { try context.save() } catch { outcome.error.withLock { $0 = error } }
            isSaved.signal()
        }
        isHeld.wait()
        let number = try other.sql("SELECT max(transactionid::text::bigint) FROM pg_locks WHERE locktype = 'transactionid'").int64(0, 0)
        try server.crash()
        try server.start()
        for pages in 10..<20 { try other.context.performAndWait { try Self.change(1, to: pages, in: other.context) } }
        #expect(try other.sql("SELECT pg_xact_status('\(number)'::xid8)").text(0, 0) == "committed", "another transaction has the number")
        proxy.setFault(nil)
        proxy.cutAll()
        isSaved.wait()
        return outcome.error.withLock { $0 }
    }

    /// What another thread's save threw.
    private final class Outcome: Sendable { let error = Mutex<(any Error)?>(nil) }

    private static func change(in context: NSManagedObjectContext) {
        let books = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))) ?? []
        books.first { $0.value(forKey: "id") as? Int == 0 }?.setValue(7, forKey: "pages")
    }

    @Test
    func `A change that a crash has lost is not taken for another transaction with its number`() throws {
        let error = try saveOverCrash(Self.change)
        #expect(error?.localizedDescription.contains("cannot be asked") == true)
        #expect(try pages(0) == 3)
    }

    @Test
    func `A new row tells what became of a save whose number another transaction has`() throws {
        let error = try saveOverCrash { context in
            Self.change(in: context)
            NSEntityDescription.insertNewObject(forEntityName: "Author", into: context).setValue("New", forKey: "name")
        }
        #expect(error == nil)
        #expect(try pages(0) == 7)
        #expect(try other.sql("SELECT count(*) FROM \"\(stack.schema)\".\"Author\"").int64(0, 0) == 1)
    }

    @Test
    func `The first save behind a crash makes a new mark`() throws {
        func marks() throws -> Int64 { try other.sql("SELECT count(*) FROM \"\(stack.schema)\".heartwood_crash_mark").int64(0, 0) }
        #expect(try marks() == 1)
        try server.crash()
        try server.start()
        #expect(try marks() == 0)
        for pages in 1...2 { try other.context.performAndWait { try Self.change(0, to: pages, in: other.context) } }
        #expect(try marks() == 1)
    }
}
