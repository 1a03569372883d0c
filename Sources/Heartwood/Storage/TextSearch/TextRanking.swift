import RecordLog

/// Finds the matches of a search for words, and the classes of the words, from text indexes alone.
struct TextRanking {
    private let view: RecordLogView
    private let table: EntityTable
    private let query: WordQuery
    /// By attribute: its text index; nil for an attribute that the table lacks.
    private let indexes: [TableIndex?]

    /// - Parameter properties: by attribute: its index in the table; nil where the table lacks it.
    /// - Returns: nil where an index is missing, or does not tell all matches: rows are read then.
    init?(view: RecordLogView, table: EntityTable, query: WordQuery, properties: [Int?]) throws {
        guard QueryTuning.forcedAccess == nil, !query.words.contains(where: \.isCut) else { return nil }
        var indexes: [TableIndex?] = []
        for property in properties {
            guard let property else {
                indexes.append(nil)
                continue
            }
            guard let index = table.textIndexes.first(where: {
                $0.parts.first?.property == property && $0.partial == nil && view.snapshot.hasIndex($0.id)
            }), try !TextIndexReader(view.snapshot, index).hasLongTexts else { return nil }
            indexes.append(index)
        }
        self.view = view
        self.table = table
        self.query = query
        self.indexes = indexes
    }

    /// Returns the matches by row, and by word the number of the table's rows that have it in each attribute together; 0 for a prefix.
    /// - Parameter test: the whole condition of the fetch, with the words.
    func matches(_ test: RowFilter?, _ scope: QueryScope) throws -> (matches: RecordLogView.RankedMatches, counts: [Int]) {
        let stride = query.words.count * indexes.count
        var estimates: [(word: Int, rows: Int)] = [], counts = [Int](repeating: 0, count: query.words.count)
        for (position, word) in query.words.enumerated() {
            var rows = 0
            for case let index? in indexes { rows += try TextIndexReader(view.snapshot, index).estimate(word.requirement) }
            estimates.append((position, rows))
        }
        estimates.sort { ($0.rows, $0.word) < ($1.rows, $1.word) }
        guard let rarest = estimates.first?.word else { return (RecordLogView.RankedMatches(), counts) }
        var hits = try Hits(entries(of: rarest), stride)
        counts[rarest] = hits.add(first: rarest, attributeCount: indexes.count)
        for (word, _) in estimates.dropFirst() {
            var count = 0
            for (attribute, index) in indexes.enumerated() {
                guard let index else { continue }
                let place = word * indexes.count + attribute
                try TextIndexReader(view.snapshot, index).forEachClass(of: query.words[word]) { found, rows in
                    count += rows.count
                    hits.note(found, rows, at: place, word)
                }
            }
            counts[word] = count
        }
        for (word, wanted) in query.words.enumerated() where wanted.isPrefix { counts[word] = 0 }
        return (try kept(hits, test, scope), counts)
    }

    /// The entries of a word: the row number, the attribute and the class.
    private func entries(of word: Int) throws -> [UInt64] {
        var list: [UInt64] = []
        for (attribute, index) in indexes.enumerated() {
            guard let index else { continue }
            try TextIndexReader(view.snapshot, index).forEachClass(of: query.words[word]) { found, rows in
                for row in rows { list.append(row << 16 | UInt64(attribute) << 8 | UInt64(found)) }
            }
        }
        list.sort()
        return list
    }

    /// The hits that have all words and meet the rest of the condition.
    private func kept(_ hits: Hits, _ test: RowFilter?, _ scope: QueryScope) throws -> RecordLogView.RankedMatches {
        var result = RecordLogView.RankedMatches()
        let prefixes = query.words.indices.filter { query.words[$0].isPrefix }
        let rest = AllFilter.of((QueryPlanner.flattened(test.map { [$0] } ?? []) ?? [ConstantFilter(false)]).filter { !isAnswered($0) })
        for position in hits.rows.indices where hits.found[position] == query.all {
            let reference = RowReference(table: table.id, row: hits.rows[position])
            if let rest {
                guard let row = try view.snapshot.unsafeRow(reference) else { continue }
                scope.rowsVisited += 1
                guard try rest.matches(row, scope) else { continue }
            }
            let start = result.classes.count
            result.rows.append(reference)
            result.classes.append(contentsOf: hits.classes[position * hits.stride..<(position + 1) * hits.stride])
            for word in prefixes {
                for attribute in indexes.indices { result.classes[start + word * indexes.count + attribute] = 0 }
            }
        }
        return result
    }

    /// Whether a test is the search for these words.
    private func isAnswered(_ test: RowFilter) -> Bool {
        guard let words = test as? WordFilter else { return false }
        return words.isSame(query, indexes.map { $0?.parts.first?.property }.compactMap(\.self))
    }
}

/// The rows of the rarest word, with what is known of each.
private struct Hits {
    let stride: Int
    private(set) var rows: [UInt64] = []
    /// For each row and each word the class in each attribute.
    private(set) var classes: [UInt8] = []
    /// For each row the bits of the words found.
    private(set) var found: [UInt64] = []
    private let entries: [UInt64]

    init(_ entries: [UInt64], _ stride: Int) {
        self.entries = entries
        self.stride = stride
    }

    /// Makes the rows.
    /// - Returns: the number of the word's entries.
    mutating func add(first word: Int, attributeCount: Int) -> Int {
        for entry in entries {
            if rows.last != entry >> 16 {
                rows.append(entry >> 16)
                classes.append(contentsOf: repeatElement(0, count: stride))
                found.append(1 << UInt64(word))
            }
            classes[classes.count - stride + word * attributeCount + Int(entry >> 8 & 0xFF)] = UInt8(truncatingIfNeeded: entry)
        }
        return entries.count
    }

    /// Notes a class for those of some ascending rows that are among the hits.
    mutating func note(_ class: UInt8, _ others: UnsafeBufferPointer<UInt64>, at place: Int, _ word: Int) {
        guard let first = others.first else { return }
        var position = lowerBound(first)
        for row in others {
            while position < rows.count, rows[position] < row { position &+= 1 }
            guard position < rows.count else { return }
            guard rows[position] == row else { continue }
            classes[position * stride + place] = `class`
            found[position] |= 1 << UInt64(word)
        }
    }

    /// The index of the first hit that is not below a row.
    private func lowerBound(_ row: UInt64) -> Int {
        var low = 0, high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
