import Foundation
import Heartwood
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct TableTests {
    @Test
    func `Other programs read the rows with plain SQL`() throws {
        let stack = try ServerStack(ServerModel.make())
        try stack.context.performAndWait {
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
            author.setValue("Jane Austen", forKey: "name")
            for (entity, title, pages) in [("Book", "Letters", 300), ("Novel", "Emma", 474)] {
                let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: stack.context)
                book.setValuesForKeys(["title": title, "pages": pages, "author": author])
            }
            try stack.context.save()
        }
        let schema = "\"\(stack.schema)\""
        let found = try stack.sql(
            "SELECT b.title, n.name, b.pages FROM \(schema).\"Book\" b JOIN \(schema).\"Author\" a ON a._id = b.author"
                + " JOIN \(schema).heartwood_entities n ON n.number = b._e WHERE a.name = 'Jane Austen' ORDER BY 1")
        #expect(found.count == 2)
        #expect(try found.text(0, 0) == "Emma" && found.text(0, 1) == "Novel" && found.int32(0, 2) == 474)
        #expect(try found.text(1, 1) == "Book")
    }

    @Test
    func `Several stores lie in one database, each in a schema of its own`() throws {
        let one = try ServerStack(ServerModel.make()), other = try ServerStack(ServerModel.make())
        for (stack, title) in [(one, "One"), (other, "Other")] {
            try stack.context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context).setValue(title, forKey: "title")
                try stack.context.save()
            }
        }
        for (stack, title) in [(one, "One"), (other, "Other")] {
            let context = stack.newContext()
            let titles = try context.performAndWait {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map { $0.value(forKey: "title") as? String }
            }
            #expect(titles == [title])
        }
    }

    @Test
    func `A schema with tables of others is refused, and they are named`() throws {
        let url = try ServerStack.newURL(), address = StoreAddress(url)
        let keeper = try ServerStack(ServerModel.make())
        try keeper.sql("CREATE SCHEMA \"\(address.schema)\"")
        try keeper.sql("CREATE TABLE \"\(address.schema)\".guests (name text)")
        let error = #expect(throws: NSError.self) { _ = try ServerStack(ServerModel.make(), at: url) }
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
        #expect(error?.localizedDescription.contains("guests") == true)
        #expect(try keeper.sql("SELECT name FROM \"\(address.schema)\".guests").count == 0, "the table stays as it was")
        try keeper.sql("DROP SCHEMA \"\(address.schema)\" CASCADE")
    }

    @Test
    func `A store whose table lost a column is refused with the column's name`() throws {
        let model = ServerModel.make(), stack = try ServerStack(model)
        try stack.sql("ALTER TABLE \"\(stack.schema)\".\"Book\" DROP COLUMN pages")
        let error = #expect(throws: NSError.self) { _ = try ServerStack(model, at: stack.url) }
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
        #expect(error?.localizedDescription.contains("Book.pages is missing in place of integer") == true)
    }

    @Test
    func `A context saves a change of an object that it has not read`() throws {
        let stack = try ServerStack(ServerModel.make())
        let id = try stack.context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context)
            book.setValuesForKeys(["title": "Emma", "pages": 1, "id": 7])
            try stack.context.save()
            return book.objectID
        }
        let other = stack.newContext(), third = stack.newContext()
        try other.performAndWait {
            other.object(with: id).setValue(474, forKey: "pages")
            try other.save()
        }
        third.performAndWait {
            let book = third.object(with: id)
            #expect(book.value(forKey: "title") as? String == "Emma" && book.value(forKey: "id") as? Int == 7)
            #expect(book.value(forKey: "pages") as? Int == 474)
        }
    }

    @Test
    func `A password of the connection string is in no error`() throws {
        let url = URL(string: "postgresql://someone:very-secret@localhost:1/nothing?schema=library")
        let error = #expect(throws: NSError.self) { _ = try ServerStack(ServerModel.make(), at: url) }
        #expect(error?.code == NSPersistentStoreOpenError)
        #expect(error.map { "\($0)\($0.userInfo)".contains("very-secret") } == false)
    }
}
