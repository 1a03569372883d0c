import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// The encoding of changes. Failing? docs/format/stack.md, "History", defines the allowed content.
@Suite struct HistoryFormatTests {
    private func stored(_ stack: TestStack, _ number: UInt64) throws -> [UInt8] {
        let snapshot = try #require(stack.store.log).snapshot()
        let table = try #require(try HistoryTable(snapshot.catalog))
        let row = try #require(try snapshot.unsafeRow(RowReference(table: table.id, row: number)))
        return Array(try Data(try #require(try snapshot.value(table.access(.changes, of: row), of: row))))
    }

    @Test
    func `The bytes of the format are pinned`() throws {
        let model = TestStack.model()
        (model.entitiesByName["Tag"]?.propertiesByName["label"] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion = true
        let stack = try TestStack.tracking(model: model)
        let people = (0..<3).map { stack.insert("Person", ["name": "\($0)"]) }
        let tag = stack.insert("Tag", ["label": "ab"])
        try stack.context.save()
        let tables = try #require(stack.store.log).snapshot().catalog
        let person = UInt8(tables.table(named: "Person")!.id.rawValue), tags = UInt8(tables.table(named: "Tag")!.id.rawValue)
        // Tables with their insertions: three starting with the first row, and one.
        #expect(try stored(stack, 1) == [person << 3 | 1, 2 << 3 | 2, 0, tags << 3 | 1, 0 << 3 | 2, 0])
        people[0].setValue(5, forKey: "age")
        people[2].setValue(5, forKey: "age")
        tag.mutableSetValue(forKey: "people").add(people[2])
        try stack.context.save()
        let age = UInt8(tables.table(named: "Person")!.currentLayout.columns.first { $0.name == "age" }!.id.rawValue)
        #expect(try stored(stack, 2) == [
            person << 3 | 1, 1 << 3 | 5, age << 1, 0 << 3 | 3, 0,
            2 << 3 | 5, age << 1, 4 << 1 | 1] + Array("tags".utf8) + [0 << 3 | 3, 1,
            tags << 3 | 1, 1 << 3 | 5, 6 << 1 | 1] + Array("people".utf8) + [0 << 3 | 3, 0])
        stack.context.delete(tag)
        stack.context.delete(people[1])
        try stack.context.save()
        let label = UInt8(tables.table(named: "Tag")!.currentLayout.columns.first { $0.name == "label" }!.id.rawValue)
        let body: [UInt8] = [0, 0, 0xFE] + Array("ab".utf8)
        #expect(try stored(stack, 3) == [
            person << 3 | 1, 0 << 3 | 4, 1, 1 << 3 | 5, 4 << 1 | 1] + Array("tags".utf8) + [0 << 3 | 3, 0,
            tags << 3 | 1, 1 << 3 | 6, label, 16, UInt8(body.count) << 3 | 7, 0] + body)
    }

    /// Replaces a transaction's changes, and fetches them in every way.
    private func exercise(_ stack: TestStack, _ bytes: [UInt8]) throws -> Bool {
        let log = try #require(stack.store.log), table = try #require(try HistoryTable(log.snapshot().catalog))
        try log.write { transaction in
            let builder = RowBuilder()
            builder.begin(table.layout)
            builder.set(HistoryTable.Field.timestamp.rawValue, double: 1)
            builder.set(HistoryTable.Field.changes.rawValue, value: try bytes.withUnsafeBytes { try transaction.writeValue($0) })
            try transaction.put(RowReference(table: table.id, row: 1), body: builder.unsafeBody())
        }
        var isWhole = true
        for type in [NSPersistentHistoryResultType.count, .transactionsAndChanges, .changesOnly, .objectIDs] {
            do {
                let found = try stack.ask(.fetchHistory(after: Date.distantPast), type)
                for change in (found as? [NSPersistentHistoryTransaction])?.first?.changes ?? [] { _ = (change.words, change.tombstone) }
            } catch {
                #expect((error as NSError).code == NSPersistentStoreOperationError)
                isWhole = false
            }
        }
        return isWhole
    }

    @Test
    func `Malformed changes are an error and not a trap`() throws {
        let model = TestStack.model()
        for case let attribute as NSAttributeDescription in model.entitiesByName["Everything"]!.properties {
            attribute.preservesValueInHistoryOnDeletion = true
        }
        let stack = try TestStack.tracking(model: model)
        let objects = (0..<4).map { number in
            stack.insert("Everything", ["string": "s\(number)", "int32": number, "uuid": UUID(), "decimal": NSDecimalNumber(value: number)])
        }
        stack.insert("Person", ["name": "a"])
        try stack.context.save()
        stack.context.delete(objects[0])
        stack.context.delete(objects[2])
        objects[1].setValue(7, forKey: "int64")
        try stack.context.save()
        let whole = try stored(stack, 2)
        #expect(try exercise(stack, whole))
        var refused = 0
        for count in 0..<whole.count where try !exercise(stack, Array(whole[..<count])) { refused += 1 }
        #expect(refused > whole.count / 2)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<400 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try exercise(stack, bytes)
        }
        // Unassigned numbers, tables out of order, no table, an invalid item, and more items than there are.
        for bytes: [UInt8] in [
            [2 << 3 | 1, 0xFA, 0xFF, 0xFF, 0x7F, 0], [4 << 3 | 1, 2, 0, 2 << 3 | 1, 2, 0], [2, 0], [0], [2 << 3 | 1, 0xFD, 0xFF, 0xFF, 0xFF, 0x7F],
            [UInt8](repeating: 0xFF, count: 30), [2 << 3 | 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0],
        ] { #expect(try !exercise(stack, bytes), "\(bytes)") }
        // A table without an entity: its objects are left out.
        #expect(try exercise(stack, [200 << 3 | 1 & 0x7F | 0x80, 0x0C, 2, 0]))
    }

    @Test
    func `Changes of an older layout are read`() throws {
        let stack = try TestStack.tracking(.recordLog)
        let person = stack.insert("Person", ["name": "a"])
        try stack.context.save()
        person.setValue(5, forKey: "age")
        person.setValue("b", forKey: "name")
        try stack.context.save()
        // The state after a migration: a column is renamed, one is removed, and the table has one more layout.
        let log = try #require(stack.store.log)
        try log.write { transaction in
            let table = try #require(transaction.catalog.table(named: "Person"))
            let columns = table.currentLayout.columns.compactMap { column -> Column? in
                if column.name == "age" { return nil }
                return column.name == "name" ? Column(id: column.id, name: "birthday", type: column.type) : column
            }
            _ = try transaction.addLayout(to: table.id, columns: columns)
        }
        #expect(try stack.changes() == ["insert Person 1", "update Person 1: birthday"])
    }
}
