import RecordLog

/// Tests whether some attributes together have all words of a query.
final class WordFilter: RowFilter {
    private let query: WordQuery
    private let runtime: EntityRuntime
    private let properties: [Int]

    init(_ runtime: EntityRuntime, _ properties: [Int], _ query: WordQuery) {
        self.query = query
        self.runtime = runtime
        self.properties = properties
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        let terms = scope.words
        var found: UInt64 = 0
        for property in properties {
            guard let access = runtime.access(property, in: row) else { continue }
            terms.read(row.bytes(access))
            found |= query.found(in: terms)
        }
        return found == query.all
    }

    override var textCondition: TextCondition? {
        guard !query.words.isEmpty else { return nil }
        let groups = query.words.map { word in
            properties.map { TextCondition.Alternative(property: $0, requirement: word.requirement) }
        }
        return TextCondition(groups: groups, isExact: !query.words.contains(where: \.isCut))
    }

    /// Whether it tests for the same words in the same attributes.
    func isSame(_ query: WordQuery, _ properties: [Int]) -> Bool { self.query == query && self.properties == properties }

    /// It folds the whole text, and finds its words.
    override var weight: Int { 150 }
}
