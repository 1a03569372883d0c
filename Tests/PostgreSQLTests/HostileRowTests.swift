import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// Rows, tables and roles as others left them: every use of the store gives an answer or a typed error, and the rows that are sound stay usable.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct HostileRowTests {
    /// A statement of others. `SCHEMA` stands for the store's schema.
    struct Deed: CustomTestStringConvertible, Sendable {
        let sql: String
        /// Whether rows can still be read and written afterwards.
        let isMendable: Bool
        var testDescription: String { sql }

        init(_ sql: String, isMendable: Bool = true) { (self.sql, self.isMendable) = (sql, isMendable) }
    }

    /// Changes of the rows 1 and 2; row 3 stays sound.
    static let deedsOnRows: [Deed] = [
        "UPDATE SCHEMA.\"Book\" SET title = NULL, id = NULL WHERE _id = 1",
        "ALTER TABLE SCHEMA.\"Book\" DROP CONSTRAINT \"Book_author_fkey\"; UPDATE SCHEMA.\"Book\" SET author = 9999 WHERE _id = 1",
        "ALTER TABLE SCHEMA.\"Book\" DROP CONSTRAINT \"Book_author_fkey\"; UPDATE SCHEMA.\"Book\" SET author = -5 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET _e = 77 WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET _e = -1 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET _e = 3 WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET _v = -1 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET _v = 0 WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET _v = 2147483647 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET _v = -2147483648 WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET _id = -7 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET _id = 9223372036854775807 WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET _id = 0 WHERE _id = 1",
        "UPDATE SCHEMA.\"Author\" SET name = repeat('ü', 3000000)", "UPDATE SCHEMA.\"Book\" SET rating = 'NaN' WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET rating = '-Infinity', published = 'Infinity' WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET published = 'NaN' WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET published = 1e300 WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET price = 'NaN' WHERE _id = 1", "UPDATE SCHEMA.\"Book\" SET price = 1e200::numeric WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET price = '-1e-300'::numeric WHERE _id = 1",
        "UPDATE SCHEMA.\"Book\" SET price = 123456789012345678901234567890123456789012345678901234567890 WHERE _id = 1",
        "INSERT INTO SCHEMA.\"Book\" (_id, _e, _v) VALUES (50, 1, 1)", "DELETE FROM SCHEMA.\"Book\" WHERE _id = 1",
        "DELETE FROM SCHEMA.heartwood_entities WHERE name = 'Novel'",
    ].map { Deed($0) } + [
        Deed("UPDATE SCHEMA.\"Book\" SET price = 'Infinity' WHERE _id = 1"),
    ]

    /// Changes of the tables.
    static let deedsOnTables: [Deed] = [
        Deed("ALTER TABLE SCHEMA.\"Book\" DROP COLUMN title", isMendable: false), Deed("DROP TABLE SCHEMA.\"Book\" CASCADE", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER title TYPE bytea USING title::bytea", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER title TYPE varchar(50)"), Deed("ALTER TABLE SCHEMA.\"Book\" ALTER pages TYPE bigint"),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER pages TYPE text", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER rating TYPE numeric", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER _v TYPE bigint", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER _e TYPE text", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" DROP CONSTRAINT \"Book_pkey\" CASCADE; UPDATE SCHEMA.\"Book\" SET _id = 3 WHERE _id = 1"),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER _v DROP NOT NULL; UPDATE SCHEMA.\"Book\" SET _v = NULL WHERE _id = 1", isMendable: false),
        Deed("ALTER TABLE SCHEMA.\"Book\" ALTER _e DROP NOT NULL; UPDATE SCHEMA.\"Book\" SET _e = NULL WHERE _id = 1"),
        Deed("DROP SEQUENCE SCHEMA.\"Book_numbers\""), Deed("SELECT setval('SCHEMA.\"Book_numbers\"', 1, false)"),
        Deed("DROP INDEX SCHEMA.\"Book_id\""), Deed("DROP INDEX SCHEMA.\"Book_title\""), Deed("DROP TABLE SCHEMA.\"Shelf_content\""),
        Deed("ALTER TABLE SCHEMA.\"Book\" ADD COLUMN extra int"), Deed("ALTER TABLE SCHEMA.\"Book\" ADD COLUMN extra int NOT NULL DEFAULT 4"),
        Deed("ALTER TABLE SCHEMA.\"Book\" ADD CHECK (pages < 10)"), Deed("DROP TABLE SCHEMA.heartwood_store"),
        Deed("ALTER TABLE SCHEMA.\"Book\" RENAME TO \"Books\"", isMendable: false),
    ]

    /// A store with three books, and a context that has read the third.
    private func filled() throws -> ServerStack {
        let stack = try ServerStack(ServerModel.make())
        try stack.context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
            author.setValue("Jane", forKey: "name")
            for number in 1...3 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context)
                book.setValuesForKeys([
                    "title": "Book \(number)", "id": number, "pages": number, "price": NSDecimalNumber(value: number), "rating": 0.5,
                    "published": Date(timeIntervalSinceReferenceDate: 0), "author": author,
                ])
                // One at a time, so that the numbers of the rows are those of the books.
                try stack.context.save()
            }
        }
        return stack
    }

    private func deed(_ deed: Deed, _ stack: ServerStack) throws {
        for statement in deed.sql.components(separatedBy: "; ") { try stack.sql(statement.replacing("SCHEMA", with: "\"\(stack.schema)\"")) }
    }

    /// All uses of a store. Each gives an answer, or an error of Cocoa's domain.
    private func useAll(_ stack: ServerStack, _ what: String) {
        func attempt(_ use: String, _ body: (NSManagedObjectContext) throws -> Void) {
            let context = stack.newContext()
            do {
                try context.performAndWait { try body(context) }
            } catch {
                let error = error as NSError
                #expect(error.domain == NSCocoaErrorDomain, "\(what), \(use): \(error)")
                #expect(!error.localizedDescription.isEmpty)
            }
        }
        func books(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = format.map { NSPredicate(format: $0) }
            return request
        }
        attempt("read") { context in
            for book in try context.fetch(books()) {
                for name in book.entity.attributesByName.keys { _ = book.value(forKey: name) }
                _ = (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name")
                _ = (book.value(forKey: "shelves") as? Set<NSManagedObject>)?.count
            }
        }
        for format in ["price > 0", "rating > 0", "published > %@".replacing("%@", with: "CAST(0, 'NSDate')"), "author.name == 'Jane'", "title CONTAINS[c] 'b'"] {
            attempt(format) { context in _ = try context.fetch(books(format)).map { $0.value(forKey: "title") } }
        }
        attempt("count") { context in _ = try context.count(for: books()) }
        attempt("sort") { context in
            let request = books()
            request.sortDescriptors = [NSSortDescriptor(key: "published", ascending: true), NSSortDescriptor(key: "price", ascending: false)]
            _ = try context.fetch(request)
        }
        attempt("dictionaries") { context in
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["title", "price", "published"])
            _ = try context.fetch(request)
        }
        attempt("change") { context in
            for book in try context.fetch(books()) { book.setValue("changed", forKey: "title") }
            try context.save()
        }
        attempt("batch update") { context in
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["pages": 5]
            try context.execute(request)
        }
        attempt("insert") { context in
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("new", forKey: "title")
            try context.save()
        }
        attempt("examine") { _ in _ = try StoreTransfer(stack.url).examine() }
        attempt("add") { _ in
            let other = NSPersistentStoreCoordinator(managedObjectModel: ServerModel.make())
            try other.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: stack.url)
            for store in other.persistentStores { try other.remove(store) }
        }
        attempt("delete") { context in
            for book in try context.fetch(books("title == 'new'")) { context.delete(book) }
            try context.save()
        }
    }

    @Test(arguments: deedsOnRows + deedsOnTables)
    func `Every use of rows and tables that others changed gives an answer or a typed error`(_ deed: Deed) throws {
        let stack = try filled()
        try self.deed(deed, stack)
        useAll(stack, deed.sql)
    }

    @Test(arguments: deedsOnRows)
    func `A sound row beside one that others wrote is read and changed`(_ deed: Deed) throws {
        let stack = try filled()
        try self.deed(deed, stack)
        let context = stack.newContext()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "id == 3")
            let book = try #require(try context.fetch(request).first)
            #expect(book.value(forKey: "title") as? String == "Book 3")
            book.setValue("Mansfield Park", forKey: "title")
            try context.save()
        }
        #expect(try stack.sql("SELECT title FROM \"\(stack.schema)\".\"Book\" WHERE _id = 3").text(0, 0) == "Mansfield Park")
    }

    @Test
    func `A change over a version that others wrote is saved once, and the next one that does not know it is a conflict`() throws {
        for version in ["0", "-1", "2147483647", "-2147483648"] {
            let stack = try filled(), other = stack.newContext()
            try stack.sql("UPDATE \"\(stack.schema)\".\"Book\" SET _v = \(version) WHERE _id = 1")
            let context = stack.newContext()
            func book(_ context: NSManagedObjectContext) throws -> NSManagedObject {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.predicate = NSPredicate(format: "id == 1")
                let found = try #require(try context.fetch(request).first)
                _ = found.value(forKey: "title")
                return found
            }
            try context.performAndWait {
                let mine = try book(context)
                try other.performAndWait {
                    try book(other).setValue("theirs", forKey: "title")
                    try other.save()
                }
                mine.setValue("mine", forKey: "title")
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == NSManagedObjectMergeError, "version \(version)")
            }
            #expect(try stack.sql("SELECT title FROM \"\(stack.schema)\".\"Book\" WHERE _id = 1").text(0, 0) == "theirs", "version \(version)")
        }
    }

    @Test
    func `verify finds each thing that others did to rows, and nothing in a sound store`() throws {
        let sound = try filled()
        #expect(try StoreTransfer(sound.url).examine().isSound)
        let found: [(sql: String, text: String)] = [
            ("UPDATE SCHEMA.\"Book\" SET _e = 77 WHERE _id = 1", "row 1 of Book: no entity"),
            ("UPDATE SCHEMA.\"Book\" SET _id = -7 WHERE _id = 1", "row -7 of Book: no entity"),
            ("UPDATE SCHEMA.\"Book\" SET rating = 'NaN' WHERE _id = 1", "object p1, property rating: it is no number"),
            ("UPDATE SCHEMA.\"Book\" SET price = 'NaN' WHERE _id = 1", "object p1, property price: it is no number"),
            ("UPDATE SCHEMA.\"Book\" SET price = 1e200::numeric WHERE _id = 1", "row 1 of Book: "),
            ("DROP INDEX SCHEMA.\"Book_id\"", "the table Book lacks the unique index over id"),
            ("DROP INDEX SCHEMA.\"Book_id\"; UPDATE SCHEMA.\"Book\" SET id = 2 WHERE _id = 1", "it has the same id, which is to be unique"),
            ("DROP INDEX SCHEMA.\"Book_title\"", "the table Book lacks the index over title, _id"),
            ("ALTER TABLE SCHEMA.\"Book\" DROP CONSTRAINT \"Book_author_fkey\"", "the table Book lacks the check of the reference author"),
            (
                "ALTER TABLE SCHEMA.\"Book\" DROP CONSTRAINT \"Book_author_fkey\"; UPDATE SCHEMA.\"Book\" SET author = 9999 WHERE _id = 1",
                "object p1, property author: it refers to Author p9999, which does not exist"
            ),
            ("SELECT setval('SCHEMA.\"Book_numbers\"', 1, false)", "the sequence of Book would give numbers again, up to 3"),
            ("DROP SEQUENCE SCHEMA.\"Book_numbers\"", "the sequence of Book is missing"),
        ]
        for (sql, text) in found {
            let stack = try filled()
            try deed(Deed(sql), stack)
            let report = try StoreTransfer(stack.url).examine()
            let lines = [report.schema, report.unreadable, report.unnamed, report.unfit, report.doubts].flatMap(\.lines)
            #expect(!report.isSound && lines.contains { $0.contains(text) }, "\(sql): \(lines)")
        }
    }
}
