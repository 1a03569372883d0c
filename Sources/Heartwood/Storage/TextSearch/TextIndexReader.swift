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
            try longTexts().first != nil
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
        try forEachPiece(&cursor) { _, piece in rows.append(contentsOf: piece) }
        return TextPostings(SortedRows.distinct(rows))
    }

    /// Calls `body` with the classes and rows of a word's entries, by class and row, in pieces of one class.
    func forEachClass(of word: WordQuery.Word, _ body: (UInt8, UnsafeBufferPointer<UInt64>) -> Void) throws {
        guard case .prefix(let bytes) = word.requirement else { return }
        var cursor = try snapshot.cursor(index, .prefix(bytes))
        try forEachPiece(&cursor) { key, rows in
            if key.count > bytes.count { body(key[bytes.count], rows) }
        }
    }

    /// The rows that are taken from the index at once, at most.
    private static let pieceCount = 256

    private func forEachPiece(_ cursor: inout IndexCursor, _ body: (UnsafeRawBufferPointer, UnsafeBufferPointer<UInt64>) -> Void) throws {
        let rows = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: Self.pieceCount)
        defer { rows.deallocate() }
        while true {
            let count = try cursor.takePiece(into: rows)
            guard count > 0 else { break }
            body(cursor.unsafeKey, UnsafeBufferPointer(rebasing: rows[..<count]))
        }
    }

    /// The number of rows with a word that is no prefix.
    func count(_ word: WordQuery.Word) throws -> Int { try snapshot.count(index, Self.range(word.requirement)) }
}
