import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// A store tells of the saves of others.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct NoticeTests {
    private static var told: [String: Any] {
        [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSPersistentHistoryTrackingKey: true]
    }

    /// Longer than a look at the history is away.
    private static let patience = DispatchTimeInterval.seconds(20)

    /// Waits for notifications of a coordinator.
    private final class Ear: @unchecked Sendable {
        // Unchecked: the lock guards the list.
        private let lock = NSLock(), signal = DispatchSemaphore(value: 0)
        private var list: [[AnyHashable: Any]] = []
        private var observer: (any NSObjectProtocol)?

        init(_ coordinator: NSPersistentStoreCoordinator) {
            observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) { [self] in
                let info = $0.userInfo ?? [:]
                lock.withLock { list.append(info) }
                signal.signal()
            }
        }

        func next() -> [AnyHashable: Any]? {
            guard signal.wait(timeout: .now() + NoticeTests.patience) == .success else { return nil }
            return lock.withLock { list.removeFirst() }
        }

        func close() { observer.map(NotificationCenter.default.removeObserver) }
    }

    private func save(_ title: String, _ stack: ServerStack) throws {
        let context = stack.newContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(title, forKey: "title")
            try context.save()
        }
    }

    private static func titles(after token: NSPersistentHistoryToken?, _ stack: ServerStack) throws -> Int {
        let context = stack.newContext()
        return try context.performAndWait {
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.count ?? 0
        }
    }

    @Test
    func `A save of another coordinator is told with the store, its URL and a token of the history`() throws {
        let one = try ServerStack(ServerModel.make(), options: Self.told), other = try ServerStack(ServerModel.make(), at: one.url, options: Self.told)
        let ear = Ear(one.coordinator)
        defer { ear.close() }
        try save("Emma", other)
        let heard = try #require(ear.next())
        let store = try #require(one.coordinator.persistentStores.first)
        #expect(heard[NSStoreUUIDKey] as? String == store.identifier && heard[NSPersistentStoreURLKey] as? URL == one.url)
        var token = heard[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        // A transaction that somebody runs elsewhere may hold the history back; then a later notification has it.
        while try Self.titles(after: nil, one) < 1 { token = try #require(ear.next())[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken }
        #expect(token != nil)
        let context = one.newContext()
        #expect(try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) } == 1)
    }

    @Test
    func `A context that merges changes shows what another coordinator has saved`() throws {
        let one = try ServerStack(ServerModel.make(), options: Self.told), other = try ServerStack(ServerModel.make(), at: one.url, options: Self.told)
        try save("Emma", one)
        let context = one.newContext(), ear = Ear(one.coordinator)
        defer { ear.close() }
        let book = try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            let book = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            #expect(book.value(forKey: "title") as? String == "Emma")
            return book.objectID
        }
        let writer = other.newContext()
        try writer.performAndWait {
            try #require(try writer.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first).setValue("Persuasion", forKey: "title")
            try writer.save()
        }
        while context.performAndWait({ context.object(with: book).value(forKey: "title") as? String }) != "Persuasion" { _ = try #require(ear.next()) }
    }

    @Test(.enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stand before."))
    func `A commit whose notice is lost is found in the history`() throws {
        // On a server of its own: a transaction of another test holds the history back for as long as it runs.
        let server = try PostgreSQLTestServer(), proxy = try PostgreSQLProxy(to: try #require(server.socketFolder))
        let one = try ServerStack(ServerModel.make(), at: ServerStack.newURL(socketFolder: server.socketFolder), options: Self.told)
        let silent = try ServerStack(
            ServerModel.make(), at: ServerStack.newURL(socketFolder: proxy.folder, schema: one.schema), options: [NSPersistentHistoryTrackingKey: true])
        // The server knows no such function, as one without NOTIFY.
        proxy.setRewriting { _, message in
            let text = String(decoding: message, as: UTF8.self)
            return text.contains("pg_notify") ? Array(text.replacing("pg_notify", with: "no_notify").utf8) : message
        }
        let ear = Ear(one.coordinator)
        defer { ear.close() }
        try save("Emma", silent)
        #expect(ear.next() != nil)
        withExtendedLifetime((server, proxy)) {}
    }
}
