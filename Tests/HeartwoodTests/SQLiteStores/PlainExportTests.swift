import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Tables for people who want SQL.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct PlainExportTests {
    private static let statements = """
        CREATE TABLE "Everything" (id INTEGER PRIMARY KEY, "bool" INTEGER, "data" BLOB, "date" TEXT, "decimal" TEXT, "double" REAL, "float" REAL, \
        "int16" INTEGER, "int32" INTEGER, "int64" INTEGER, "string" TEXT, "transformable" BLOB, "uri" TEXT, "uuid" TEXT)
        CREATE TABLE "Group" (id INTEGER PRIMARY KEY, "title" TEXT NOT NULL)
        CREATE TABLE "Person" (id INTEGER PRIMARY KEY, entity TEXT NOT NULL, "age" INTEGER, "birthday" TEXT, "email" TEXT, \
        "group" INTEGER REFERENCES "Group" (id), "name" TEXT, "partner" INTEGER REFERENCES "Person" (id), "salary" TEXT)
        CREATE TABLE "Tag" (id INTEGER PRIMARY KEY, "label" TEXT)
        CREATE TABLE "Task" (id INTEGER PRIMARY KEY, "owner" INTEGER REFERENCES "Person" (id), "owner_position" INTEGER, "title" TEXT)
        CREATE TABLE "Person_tags" (owner INTEGER NOT NULL REFERENCES "Person" (id), member INTEGER NOT NULL REFERENCES "Tag" (id), \
        PRIMARY KEY (owner, member))
        CREATE INDEX "Person_group" ON "Person" ("group")
        CREATE INDEX "Person_partner" ON "Person" ("partner")
        CREATE UNIQUE INDEX "Person_unique_email" ON "Person" ("email")
        CREATE INDEX "Person_byAge" ON "Person" ("age")
        CREATE INDEX "Person_byName" ON "Person" ("name", "age")
        CREATE INDEX "Task_owner" ON "Task" ("owner")
        CREATE INDEX "Person_tags_member" ON "Person_tags" (member, owner)
        """

    @Test
    func `Tables have readable names, foreign keys and the values as SQL has them`() throws {
        let stack = try TestStack(.inMemory)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "l"])
        let first = stack.insert("Person", ["name": "Ann", "email": "a@b", "group": group, "tags": NSSet(object: tag)])
        stack.insert("Employee", ["name": "Bob", "salary": NSDecimalNumber(string: "12345678901234567890.12"), "partner": first])
        let tasks = (0..<2).map { stack.insert("Task", ["title": "t\($0)"]) }
        first.setValue(NSOrderedSet(array: [tasks[1], tasks[0]]), forKey: "tasks")
        stack.insert("Everything", [
            "bool": true, "date": Date(timeIntervalSinceReferenceDate: 0.5), "data": Data([1]), "int64": Int64.max,
            "uri": URL(string: "x:y") as Any,
            "uuid": UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), "double": 2.5,
        ])
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore, .plain) { exported in
            try exported.check()
            let found = try exported.rows("select sql from sqlite_master where sql is not null order by type desc, rowid") ?? ""
            for line in Self.statements.split(separator: "\n") { #expect(found.contains(line), "\(line)\n\(found)") }
            #expect(found.split(separator: "\n").count == Self.statements.split(separator: "\n").count)
            #expect(try exported.rows("select id, entity, name, email, \"group\", salary, partner from Person") == """
                [1, 'Person', 'Ann', 'a@b', 1, None, 2]
                [2, 'Employee', 'Bob', None, None, '12345678901234567890.12', 1]

                """)
            #expect(
                try exported.rows("select title, owner, owner_position from Task order by owner_position")
                    == "['t1', 1, 1024]\n['t0', 1, 2048]\n")
            #expect(try exported.rows("select * from Person_tags") == "[1, 1]\n")
            #expect(
                try exported.rows("select bool, data, date, datetime(date), double, int64, uri, uuid from Everything")
                    == "[1, b'\\x01', '2001-01-01T00:00:00.500000Z', '2001-01-01 00:00:00', 2.5, 9223372036854775807, 'x:y', "
                    + "'00010203-0405-0607-0809-0A0B0C0D0E0F']\n")
        }
    }

    @Test
    func `Names that differ only in case, or that SQL has itself, get their own columns and tables`() throws {
        let model = NSManagedObjectModel(), entities = ["Select", "select", "sqlite_Order", "A_b", "A"].map { name in
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = ["id", "ID", "where", "Where", "entity"].map { TestStack.attribute($0, .stringAttributeType) }
            return entity
        }
        let many = TestStack.relationship("b", to: entities[0], toMany: true)
        entities[4].properties.append(many)
        model.entities = entities
        let stack = try TestStack(.inMemory, model: model)
        for entity in entities { stack.insert(entity.name ?? "", ["id": "1", "ID": "2", "where": "3", "Where": "4", "entity": "5"]) }
        try stack.context.save()
        try ExportedStore.with(stack.persistentStore, .plain) { exported in
            try exported.check()
            let tables = try exported.rows("select name from sqlite_master where type = 'table'") ?? ""
            #expect(tables.split(separator: "\n").count == 6, "\(tables)")
        }
    }
}
