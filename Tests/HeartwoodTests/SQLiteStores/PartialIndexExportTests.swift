import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Partial indexes of exported files: their statements, their entries as SQLite checks them, and their use.
@Suite struct PartialIndexExportTests {
    /// Predicates, and the conditions as Core Data writes them.
    private static let written: [(format: String, sql: String)] = [
        ("kind == 1", "ZKIND = 1"),
        ("kind != 0", "ZKIND <> 0"),
        ("title != nil", "ZTITLE IS NOT NULL"),
        ("owner == nil", "ZOWNER IS NULL"),
        ("kind == 1 OR kind == 2 OR kind == -3", "(ZKIND = 1 OR ZKIND = 2 OR ZKIND = -3)"),
        ("(kind == 1 OR title == nil) AND isOpen == YES", "((ZKIND = 1 OR ZTITLE IS NULL) AND ZISOPEN = 1)"),
        ("NOT (kind == 1 AND isOpen == YES)", "NOT ((ZKIND = 1 AND ZISOPEN = 1))"),
        ("price >= 2.5 AND price < 1000", "(ZPRICE >= 2.5 AND ZPRICE < 1000)"),
        ("3 < kind", "ZKIND > 3"),
        ("title == \"it's\"", "ZTITLE = 'it''s'"),
        ("added > CAST(600000000.25, \"NSDate\")", "ZADDED > 600000000.25"),
    ]
    /// Predicates that SQL does not say, or not exactly.
    private static let unwritten = [
        "title ==[c] \"a\"", "title BEGINSWITH \"a\"", "kind IN {1, 2}", "owner.kind == 1", "cost > 3", "price > 1e300", "price > 0.123456789012",
        "kind == price", "length:(title) > 3", "kind == 1 OR title ENDSWITH \"a\"",
    ]

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription(), owner = NSRelationshipDescription()
        entity.name = "Item"
        (owner.name, owner.maxCount, owner.destinationEntity) = ("owner", 1, entity)
        let title = TestStack.attribute("title", .stringAttributeType)
        entity.properties = [
            title, TestStack.attribute("kind", .integer16AttributeType), TestStack.attribute("price", .doubleAttributeType),
            TestStack.attribute("added", .dateAttributeType), TestStack.attribute("isOpen", .booleanAttributeType),
            TestStack.attribute("cost", .decimalAttributeType), owner,
        ]
        entity.indexes = (written.map(\.format) + unwritten).enumerated().map { number, format in
            let index = NSFetchIndexDescription(
                name: "i\(number)", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
            index.partialIndexPredicate = NSPredicate(format: format)
            return index
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private static func stack(_ model: NSManagedObjectModel) throws -> TestStack {
        let stack = try TestStack(.inMemory, model: model)
        var last: NSManagedObject?
        for number in 0..<60 {
            let object = stack.insert("Item", [:])
            if number % 4 != 3 { object.setValue(["a", "it's", "", "é"][number / 4 % 4], forKey: "title") }
            if number % 5 != 4 { object.setValue([1, 0, 2, -3, 7][number / 5 % 5], forKey: "kind") }
            if number % 6 != 5 { object.setValue([2.5, 2.25, 1000.0, 1e300][number % 4], forKey: "price") }
            if number % 7 != 6 { object.setValue(Date(timeIntervalSinceReferenceDate: 600_000_000 + Double(number % 3) / 4), forKey: "added") }
            if number % 3 != 2 { object.setValue(number % 2 == 0, forKey: "isOpen") }
            if number % 8 < 4 { object.setValue(last, forKey: "owner") }
            last = object
        }
        try stack.context.save()
        return stack
    }

    @Test
    func `Partial indexes are exported where SQL says their condition, with the entries and for the fetches that SQLite wants`() throws {
        let model = Self.model(), stack = try Self.stack(model)
        try ExportedStore.with(stack.persistentStore) { exported in
            try exported.check()
            let rest = Self.unwritten.indices.map { "Item.i\(Self.written.count + $0)" }
            #expect(exported.summary.unwrittenIndexes == rest.sorted())
            let context = try exported.context(model)
            for (number, (format, sql)) in Self.written.enumerated() {
                let statement = try exported.rows("SELECT sql FROM sqlite_master WHERE name = 'Z_Item_i\(number)'")
                #expect(statement?.contains("ON ZITEM (ZTITLE COLLATE BINARY ASC) WHERE ") ?? true, "\(statement ?? "")")
                // Each condition holds for some rows, and not for others.
                let count = try exported.rows("SELECT count(*) FROM ZITEM INDEXED BY Z_Item_i\(number) WHERE \(sql)")
                #expect(try count == exported.rows("SELECT count(*) FROM ZITEM NOT INDEXED WHERE \(sql)"), "\(sql)")
                #expect(count != "[0]\n" && count != "[60]\n", "\(sql)")
                let plan = try exported.rows("EXPLAIN QUERY PLAN SELECT Z_PK FROM ZITEM INDEXED BY Z_Item_i\(number) WHERE \(sql) AND ZTITLE = 'a'")
                #expect(plan?.contains(" INDEX Z_Item_i\(number) ") ?? true, "\(sql): \(plan ?? "")")
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: format)
                #expect(try context.fetch(request).count == stack.fetch("Item", format).count, "\(format)")
            }
            let plan = try exported.rows("EXPLAIN QUERY PLAN SELECT Z_PK FROM ZITEM WHERE ZTITLE = 'a' AND ZKIND = 1")
            #expect(plan?.contains("Z_Item_i") ?? true, "\(plan ?? "")")
        }
    }

    @Test
    func `Plain tables have the partial indexes too, but for those over dates, which they have as text`() throws {
        let stack = try Self.stack(Self.model())
        try ExportedStore.with(stack.persistentStore, .plain) { exported in
            try exported.check()
            let count = try exported.rows("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'")
            #expect(count.map { $0 == "[\(Self.written.count - 1)]\n" } ?? true, "\(count ?? "")")
        }
    }
}
