import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct RowBuilderTests {
    @Test
    func `A changed copy of a row equals a new row`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let types: [ColumnType] = [.bool, .int16, .int64, .double, .uuid, .text, .text, .bytes]
        let copier = RowBuilder(), maker = RowBuilder()
        for round in 0..<300 {
            // Some rounds have end offsets of four bytes.
            let domain = round % 10 == 0 ? ValueDomain.long : .short
            let columns = (0..<Int.random(in: 1...12, using: &random)).map {
                Column(id: ColumnID(rawValue: UInt16($0)), name: "\($0)", type: types.randomElement(using: &random) ?? .bool)
            }
            let layout = RowLayout(id: LayoutID(rawValue: 3), columns: columns)
            func made(_ values: [SampleValue?]) -> [UInt8] {
                maker.begin(layout)
                for position in columns.indices.shuffled(using: &random) { values[position]?.set(position, in: maker) }
                return Array(maker.unsafeBody())
            }
            var values = columns.map { domain.draw(column: $0.type, &random) }
            let old = made(values)
            let copy = old.withUnsafeBytes { bytes in
                let row = UnsafeRowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 1)
                copier.begin(layout, copying: row, of: layout)
                for _ in 0..<Int.random(in: 0...columns.count, using: &random) {
                    let position = Int.random(in: columns.indices, using: &random)
                    values[position] = domain.draw(column: columns[position].type, from: values[position], &random)
                    if let value = values[position] { value.set(position, in: copier) } else { copier.setNull(position) }
                }
                return Array(copier.unsafeBody())
            }
            #expect(copy == made(values), "seed \(seed)")
        }
    }

    /// Two texts of one row set to null in one save once corrupted its other texts: the second null left a gap that `finish` ignored.
    @Test(arguments: 0..<16)
    func `Any subset of four texts can be set to null in one copy`(subset: Int) {
        let columns = (0..<4).map { Column(id: ColumnID(rawValue: UInt16($0)), name: "\($0)", type: .text) }
        let layout = RowLayout(id: LayoutID(rawValue: 1), columns: columns)
        let builder = RowBuilder()
        builder.begin(layout)
        for position in 0..<4 { builder.set(position, text: "text \(position)") }
        let old = Array(builder.unsafeBody())
        old.withUnsafeBytes { bytes in
            let row = UnsafeRowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 1)
            builder.begin(layout, copying: row, of: layout)
        }
        for position in 0..<4 where subset & 1 << position != 0 { builder.setNull(position) }
        let body = Array(builder.unsafeBody())
        body.withUnsafeBytes { bytes in
            let row = UnsafeRowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 2)
            for position in 0..<4 {
                let text = row.isNull(layout.access[position]) ? nil : String(decoding: row.bytes(layout.access[position]), as: UTF8.self)
                #expect(text == (subset & 1 << position != 0 ? nil : "text \(position)"))
            }
        }
    }

    /// Indexes of other columns are not updated, and stay correct.
    @Test
    func `Changes of copied rows reach their indexes`() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore(), builder = RowBuilder(), layout = sample.table.currentLayout
        for number in 0..<50 { try sample.insert(.init(name: number % 7 == 0 ? nil : "n\(number)", age: Int64(number % 5), group: 1)) }
        for step in 0..<200 {
            let number = UInt64.random(in: 1...50, using: &random)
            let entries = try sample.store.write { transaction in
                let row = try #require(try transaction.unsafeRow(sample.reference(number)))
                builder.begin(layout, copying: row, of: layout)
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    sample.people[number]?.name = step % 3 == 0 ? nil : "changed \(step)"
                    if let name = sample.people[number]?.name { builder.set(0, text: name) } else { builder.setNull(0) }
                case 1:
                    sample.people[number]?.age = Int64(100 + step)
                    builder.set(1, int64: Int64(100 + step))
                case 2:
                    sample.people[number]?.group = UInt64(step)
                    builder.set(2, reference: RowReference(table: TableID(rawValue: 9), row: UInt64(step)))
                default: break
                }
                #expect(builder.changed != .all)
                try transaction.put(sample.reference(number), body: builder.unsafeBody(), changing: builder.changed)
                return (0..<8).reduce(0) { $0 + transaction.entries.runs(of: $1).freshEntryCount }
            }
            #expect(entries <= 4, "a key of each of two indexes at most goes and comes: seed \(seed)")
        }
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
