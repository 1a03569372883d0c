import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// `explain` says what the server does and what it does not.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct ServerPlanTests {
    private func plan(_ format: String?, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }) throws -> FetchPlan {
        let stack = try ServerStack(ServerModel.make()), request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        change(request)
        return try stack.context.performAndWait {
            for (title, pages) in [("Emma", 474), ("Persuasion", 249)] {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context).setValuesForKeys(["title": title, "pages": pages])
            }
            try stack.context.save()
            return try stack.context.explain(request)
        }
    }

    @Test
    func `A predicate that SQL says whole is the server's, with limit and order`() throws {
        let plan = try plan("title == 'Emma' AND pages > 3") {
            $0.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            $0.fetchLimit = 5
        }
        let statement = try #require(plan.server.first)
        #expect(statement.hasPrefix("asked: SELECT") && statement.contains("ORDER BY") && statement.contains("LIMIT"))
        #expect(!plan.server.contains { $0.hasPrefix("judged") } && !plan.server.contains("sorted here") && plan.rowsMatched == 1)
        #expect(plan.server.contains { $0.hasPrefix("plan: ") && $0.contains("Book") }, "the server's own plan")
    }

    @Test
    func `A part that is judged on rows is named, and so are an order and a limit that the server does not know`() throws {
        let plan = try plan("title LIKE[c] 'e*' AND pages > 3") {
            $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true, textOrder: .localized)]
            $0.fetchLimit = 5
        }
        #expect(plan.server.contains("judged on the rows that come back: Book, title"), "\(plan)")
        #expect(plan.server.contains("sorted here") && plan.server.contains("cut here"), "\(plan)")
        #expect(plan.description.contains("2 rows visited, 1 matched"), "\(plan)")
    }

    @Test
    func `A count is counted by the server`() throws {
        let plan = try plan("pages > 3") { $0.resultType = .countResultType }
        #expect(plan.server.first?.hasPrefix("asked: SELECT count(*)") == true && plan.rowsMatched == 2, "\(plan)")
    }
}
