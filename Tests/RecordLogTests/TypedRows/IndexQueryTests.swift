import Testing
@testable import RecordLog
@testable import RecordLogRows

struct IndexQueryTests {
    /// Rows as plain values: a text and a number, each null too.
    private struct Plain: Equatable {
        var text: String?
        var number: Int32?
    }

    private static let texts: [String?] = [nil, "", "a", "ab", "abc", "b", "\u{0}", "\u{1}z", "ä", String(repeating: "ab", count: 200)]
    private static let numbers: [Int32?] = [nil, .min, -1, 0, 1, .max]

    private let typed: TypedStore
    private let text: TypedColumn<String?>
    private let number: TypedColumn<Int32?>
    private let rows: [RowReference: Plain]

    init() throws {
        let typed = try TypedStore()
        self.typed = typed
        let text = try typed.column(.text, as: String?.self), number = try typed.column(.int32, as: Int32?.self)
        (self.text, self.number) = (text, number)
        rows = try typed.store.write { transaction in
            for (name, parts) in [
                ("up up", [text.ascending, number.ascending]), ("up down", [text.ascending, number.descending]),
                ("down up", [text.descending, number.ascending]), ("down down", [text.descending, number.descending]),
                ("number", [number.ascending]), ("number down", [number.descending]),
            ] { _ = try transaction.defineIndex(named: name, on: typed.table.id, parts: parts) }
            var rows: [RowReference: Plain] = [:]
            for plain in Self.texts.flatMap({ text in Self.numbers.map { Plain(text: text, number: $0) } }) {
                let row = try transaction.insert(into: typed.table) { row in
                    try row.set(text, to: plain.text)
                    try row.set(number, to: plain.number)
                }
                rows[row] = plain
            }
            return rows
        }
    }

    /// Compares a query's rows, first row and number with the rows that pass `isIn`, sorted by the query's index.
    private func check(
        _ query: IndexQuery, _ isIn: (Plain) -> Bool, _ what: @autoclosure () -> String = "", _ location: SourceLocation = #_sourceLocation
    ) throws {
        for (query, isBackward) in [(query, false), (query.reversed(), true)] {
            var found: [Plain] = [], cursor = try query.rows()
            while let row = try cursor.next() { found.append(Plain(text: try row[text], number: try row[number])) }
            let keys = found.map { key($0, query.index) }
            let isOrdered = zip(keys, keys.dropFirst()).allSatisfy { !(isBackward ? $0 : $1).lexicographicallyPrecedes(isBackward ? $1 : $0) }
            #expect(isOrdered, "\(query.index.name) \(what())", sourceLocation: location)
            let expected = rows.values.filter(isIn)
            #expect(found.count == expected.count && expected.allSatisfy(found.contains), "\(query.index.name) \(what())", sourceLocation: location)
            #expect(try query.count() == expected.count, "\(query.index.name) \(what())", sourceLocation: location)
            #expect(try query.first()?[text] == found.first?.text, sourceLocation: location)
            #expect(try (query.first() == nil) == found.isEmpty, sourceLocation: location)
        }
    }

    private func key(_ plain: Plain, _ index: IndexDefinition) -> [UInt8] {
        let builder = KeyBuilder()
        for part in index.parts {
            if part.column == text.id {
                plain.text.appendComponent(to: builder, descending: !part.ascending)
            } else {
                plain.number.appendComponent(to: builder, descending: !part.ascending)
            }
        }
        return builder.bytes
    }

    private static let both = ["up up", "up down", "down up", "down down"]
    private static let single = ["number", "number down"]

    private func index(_ name: String) throws -> IndexQuery { try typed.store.snapshot().index(named: name, on: typed.table) }

    @Test
    func `finds all rows, those with one value of the first column, and those with one value of both`() throws {
        for name in Self.both {
            try check(index(name)) { _ in true }
            for text in Self.texts + ["none"] {
                try check(index(name).equal(to: text), { $0.text == text })
                for number in Self.numbers + [7] {
                    try check(index(name).equal(to: text).equal(to: number), { $0.text == text && $0.number == number })
                }
            }
        }
    }

    @Test
    func `finds the rows between each two values, with and without the second, ascending and descending; null is in no bound`() throws {
        for name in Self.single {
            for lower in Self.numbers.compactMap({ $0 }) + [7] {
                try check(index(name).from(lower)) { $0.number.map { $0 >= lower } ?? false }
                try check(index(name).upTo(lower)) { $0.number.map { $0 < lower } ?? false }
                try check(index(name).through(lower)) { $0.number.map { $0 <= lower } ?? false }
                for upper in Self.numbers.compactMap({ $0 }) + [7] {
                    try check(index(name).from(lower).upTo(upper), { $0.number.map { $0 >= lower && $0 < upper } ?? false }, "\(lower)..<\(upper)")
                    try check(
                        index(name).through(upper).from(lower), { $0.number.map { $0 >= lower && $0 <= upper } ?? false }, "\(lower)...\(upper)")
                }
            }
        }
    }

    @Test
    func `bounds the second column beside one value of the first`() throws {
        for name in Self.both {
            for text in Self.texts {
                try check(index(name).equal(to: text).from(0 as Int32)) { $0.text == text && $0.number.map { $0 >= 0 } ?? false }
                try check(index(name).equal(to: text).upTo(0 as Int32?)) { $0.text == text && $0.number.map { $0 < 0 } ?? false }
                try check(index(name).equal(to: text).through(-1)) { $0.text == text && $0.number.map { $0 <= -1 } ?? false }
            }
        }
    }

    @Test
    func `finds the texts with each prefix, ascending and descending`() throws {
        for name in Self.both {
            for prefix in Self.texts.compactMap({ $0 }) + ["abcd", "z"] {
                try check(index(name).prefix(prefix), { $0.text.map { $0.utf8.starts(with: prefix.utf8) } ?? false }, prefix)
            }
        }
    }

    @Test
    func `reports mistakes: no index, another type, a null bound, more columns than the index has`() throws {
        func code(_ body: () throws -> IndexQuery) -> RowError.Code? {
            do { _ = try body() } catch { return (error as? RowError)?.code }
            return nil
        }
        #expect(code { try index("none") } == .noSuchIndex)
        #expect(code { try index("number").equal(to: "1") } == .typeDiffers && code { try index("number").prefix("1") } == .typeDiffers)
        #expect(code { try index("up up").equal(to: 1 as Int32) } == .typeDiffers)
        #expect(code { try index("number").from(nil as Int32?) } == .isNull)
        #expect(code { try index("number").equal(to: 1).equal(to: 1) } == .noSuchColumn)
        #expect(code { try index("number").equal(to: 1).from(1) } == .noSuchColumn)
        #expect(code { try index("up up").from("a").equal(to: 1) } == .noSuchColumn)
        #expect(code { try index("up up").prefix("a").prefix("b") } == .noSuchColumn)
        try typed.store.write { try $0.dropIndex(index("number").index.id) }
        #expect(code { try index("number") } == .noSuchIndex)
    }
}
