import TestSupport
import Testing

@testable import RecordLog

@Suite struct RowBuilderTests {
    /// A value of a column; nil for null.
    private enum Value {
        case flag(Bool), integer(Int64), double(Double), uuid(UInt64, UInt64), text(String)

        static func random(_ type: ColumnType, _ random: inout SeededGenerator) -> Value? {
            guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
            switch type {
            case .bool: return .flag(Bool.random(using: &random))
            case .int16: return .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
            case .int64: return .integer(Int64.random(in: .min ... .max, using: &random))
            case .double: return .double(Double.random(in: -1e9...1e9, using: &random))
            case .uuid: return .uuid(random.next(), random.next())
            default: return .text(String(repeating: "x", count: [0, 1, 5, 300].randomElement(using: &random) ?? 0))
            }
        }

        func set(_ position: Int, in builder: RowBuilder) {
            switch self {
            case .flag(let value): builder.set(position, bool: value)
            case .integer(let value): builder.set(position, int64: value)
            case .double(let value): builder.set(position, double: value)
            case .uuid(let high, let low): builder.set(position, uuid: (high, low))
            case .text(let value): builder.set(position, text: value)
            }
        }
    }

    @Test func aChangedCopyIsWhatARowMadeAnewWouldBe() {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let types: [ColumnType] = [.bool, .int16, .int64, .double, .uuid, .text]
        let copier = RowBuilder(), maker = RowBuilder()
        for _ in 0..<300 {
            let columns = (0..<Int.random(in: 1...12, using: &random)).map {
                Column(id: ColumnID(rawValue: UInt16($0)), name: "\($0)", type: types.randomElement(using: &random) ?? .bool)
            }
            let layout = RowLayout(id: LayoutID(rawValue: 3), columns: columns)
            func made(_ values: [Value?]) -> [UInt8] {
                maker.begin(layout)
                for position in columns.indices.shuffled(using: &random) { values[position]?.set(position, in: maker) }
                return Array(maker.finish())
            }
            var values = columns.map { Value.random($0.type, &random) }
            let old = made(values)
            let copy = old.withUnsafeBytes { bytes in
                let row = RowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 1)
                copier.begin(layout, copying: row, of: layout)
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let position = Int.random(in: columns.indices, using: &random)
                    values[position] = Value.random(columns[position].type, &random)
                    if let value = values[position] { value.set(position, in: copier) } else { copier.setNull(position) }
                }
                return Array(copier.finish())
            }
            #expect(copy == made(values), "seed \(seed)")
        }
    }

    /// Two texts of one row set to null in one save once gave its other texts their bytes: the second null left a gap that `finish` did not know.
    @Test("Any subset of four texts can be set to null in one copy", arguments: 0..<16)
    func anySubsetOfTextsCanBeSetToNull(subset: Int) {
        let columns = (0..<4).map { Column(id: ColumnID(rawValue: UInt16($0)), name: "\($0)", type: .text) }
        let layout = RowLayout(id: LayoutID(rawValue: 1), columns: columns)
        let builder = RowBuilder()
        builder.begin(layout)
        for position in 0..<4 { builder.set(position, text: "text \(position)") }
        let old = Array(builder.finish())
        old.withUnsafeBytes { bytes in
            let row = RowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 1)
            builder.begin(layout, copying: row, of: layout)
        }
        for position in 0..<4 where subset & 1 << position != 0 { builder.setNull(position) }
        let body = Array(builder.finish())
        body.withUnsafeBytes { bytes in
            let row = RowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 1), version: 2)
            for position in 0..<4 {
                let text = row.isNull(layout.access[position]) ? nil : String(decoding: row.bytes(layout.access[position]), as: UTF8.self)
                #expect(text == (subset & 1 << position != 0 ? nil : "text \(position)"))
            }
        }
    }

    /// Indexes of other columns are not looked at, and are right all the same.
    @Test func changesOfCopiesReachTheirIndexes() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore(), builder = RowBuilder(), layout = sample.table.currentLayout
        for number in 0..<50 { try sample.insert(.init(name: number % 7 == 0 ? nil : "n\(number)", age: Int64(number % 5), group: 1)) }
        for step in 0..<200 {
            let number = UInt64.random(in: 1...50, using: &random)
            let entries = try sample.store.write { transaction in
                let row = try #require(try transaction.row(sample.reference(number)))
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
                try transaction.put(sample.reference(number), body: builder.finish(), changing: builder.changed)
                return (0..<8).reduce(0) { $0 + transaction.entries.runs(of: $1).freshEntryCount }
            }
            #expect(entries <= 4, "a key of each of two indexes at most goes and comes: seed \(seed)")
        }
        try sample.check(sample.store.snapshot(), sample.people)
    }
}
