import RecordLog

/// Reads a text index as of a snapshot.
struct TextIndexReader {
    private let snapshot: Snapshot
    private let index: IndexID

    init(_ snapshot: Snapshot, _ index: TableIndex) {
        self.snapshot = snapshot
        self.index = index.id
    }

    private static func range(_ requirement: TermRequirement) -> KeyRange {
        switch requirement {
        case .term(let bytes): .prefix(bytes + [0])
        case .prefix(let bytes): .prefix(bytes)
        }
    }

    /// Whether some texts have no terms but `TextTerms.longText`.
    var hasLongTexts: Bool {
        get throws {
            var rows = try longTexts()
            return try rows.next() != nil
        }
    }

    /// The estimated number of entries, which may be more than the rows.
    func estimate(_ requirement: TermRequirement) throws -> Int { try snapshot.estimate(index, Self.range(requirement)) }

    func longTexts() throws -> TextPostings { try postings(.term(TextTerms.longText)) }

    /// Returns the rows with a term, ascending.
    func postings(_ requirement: TermRequirement) throws -> TextPostings {
        var cursor = try snapshot.cursor(index, Self.range(requirement))
        guard case .prefix = requirement else { return TextPostings(cursor) }
        // Several terms: a row may have more than one of them.
        var rows: [UInt64] = []
        while let row = try cursor.next() { rows.append(row) }
        return TextPostings(Self.sorted(rows))
    }

    private static func sorted(_ rows: [UInt64]) -> [UInt64] {
        var result = rows
        result.sort()
        var count = 0
        for index in result.indices where index == 0 || result[index] != result[index - 1] {
            result[count] = result[index]
            count += 1
        }
        result.removeLast(result.count - count)
        return result
    }

    /// Calls `body` with the class and the row of each entry of a word, by class and row.
    func forEachClass(of word: WordQuery.Word, _ body: (UInt8, UInt64) -> Void) throws {
        guard case .prefix(let bytes) = word.requirement else { return }
        var cursor = try snapshot.cursor(index, .prefix(bytes))
        while let row = try cursor.next() {
            let key = cursor.unsafeKey
            guard key.count > bytes.count else { continue }
            body(key[bytes.count], row)
        }
    }

    /// The number of rows with a word that is no prefix.
    func count(_ word: WordQuery.Word) throws -> Int { try snapshot.count(index, Self.range(word.requirement)) }
}
