import RecordLog

/// A string column against a pattern, on its UTF-8 bytes.
final class TextTest: ColumnTest {
    let matcher: TextMatcher
    let isNegated: Bool
    private let condition: IndexCondition?

    init(_ runtime: EntityRuntime, _ property: Int, _ matcher: TextMatcher, isNegated: Bool = false, condition: IndexCondition? = nil) {
        self.matcher = matcher
        self.isNegated = isNegated
        self.condition = condition
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return try matcher.matches(row.bytes(access), matcher.folding(scope)) != isNegated
    }

    override func filter(_ rows: UnsafeMutableBufferPointer<RowView>, _ scope: QueryScope) throws -> Int {
        let folding = matcher.folding(scope)
        return try rows.keep { row in
            guard let access = access(row) else { return isNegated }
            return try matcher.matches(row.bytes(access), folding) != isNegated
        }
    }

    override var indexCondition: IndexCondition? { condition }
    override var weight: Int { matcher.weight }
}

/// A string column against a list of strings.
final class TextSetTest: ColumnTest {
    private let texts: Set<String>

    init(_ runtime: EntityRuntime, _ property: Int, _ texts: Set<String>) {
        self.texts = texts
        super.init(runtime, property)
    }

    override func matches(_ row: RowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        let text = String(decoding: row.bytes(access), as: UTF8.self)
        // Swift's equality takes canonically equivalent strings as one; the store's is by bytes.
        guard let found = texts.firstIndex(of: text) else { return false }
        return texts[found].utf8.elementsEqual(text.utf8)
    }

    override var indexCondition: IndexCondition? {
        IndexCondition(property: property, kind: .equal(texts.map { text in
            let key = KeyBuilder()
            key.append(text: text)
            return key.bytes
        }))
    }
}
