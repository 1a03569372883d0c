import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// A context that is pinned to a query generation reads one state of the database.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct PinnedStateTests {
    private static func titles(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try context.performAndWait { try context.fetch(request).map { $0.value(forKey: "title") as? String ?? "-" } }
    }

    private func insert(_ title: String, _ stack: ServerStack) throws {
        let context = stack.newContext()
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(title, forKey: "title")
            try context.save()
        }
    }

    @Test
    func `It sees no save of others, not those of other coordinators either, until it moves on`() throws {
        let stack = try ServerStack(ServerModel.make()), other = try ServerStack(ServerModel.make(), at: stack.url)
        try insert("Emma", stack)
        let context = stack.newContext(), second = stack.newContext()
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        let token = context.performAndWait { context.queryGenerationToken }
        try insert("Persuasion", stack)
        try insert("Sanditon", other)
        #expect(try Self.titles(context) == ["Emma"])
        try second.performAndWait { try second.setQueryGenerationFrom(token) }
        #expect(try Self.titles(second) == ["Emma"], "a second context of the same generation")
        try second.performAndWait { try second.setQueryGenerationFrom(nil) }
        #expect(try Self.titles(second) == ["Emma", "Persuasion", "Sanditon"])
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("Lady Susan", forKey: "title")
            try context.save()
        }
        #expect(try Self.titles(context) == ["Emma", "Lady Susan", "Persuasion", "Sanditon"], "its own save moves it on")
    }

    @Test
    func `A pinned state that the server ends is an error, and another generation goes on`() throws {
        let stack = try ServerStack(ServerModel.make())
        try insert("Emma", stack)
        let context = stack.newContext()
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        #expect(try Self.titles(context) == ["Emma"])
        try stack.sql(
            "SELECT pg_terminate_backend(a.pid, 5000) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid"
                + " WHERE a.state = 'idle in transaction' AND l.relation = '\"\(stack.schema)\".\"Book\"'::regclass")
        let error = #expect(throws: NSError.self) { try Self.titles(context) }
        #expect(error?.localizedDescription.contains("query generation") == true)
        try context.performAndWait { try context.setQueryGenerationFrom(.current) }
        #expect(try Self.titles(context) == ["Emma"])
    }
}
