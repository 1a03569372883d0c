import RecordLog

/// Fetches in the order of relevance.
extension RecordLogView {
    /// The matches of one table.
    struct RankedMatches {
        var rows: [RowReference] = []
        /// For each row and each word the class in each attribute.
        var classes: [UInt8] = []
    }

    /// Calls `body` with the rows that match a query, the most relevant first, until it returns false.
    func rank(
        _ parts: [(table: EntityTable, test: RowFilter?)], _ relevance: WordCondition, _ query: StoreQuery,
        _ body: (UnsafeRowView) throws -> Bool
    ) throws -> QueryStatistics {
        let scope = QueryScope(view: self)
        var statistics = QueryStatistics()
        var matches = RankedMatches()
        var counts = [Int](repeating: 0, count: relevance.query.words.count), total = 0
        for (table, test) in parts {
            let plan = try QueryPlanner(view: self, table: table, scope: scope).plan(test)
            statistics.add(plan, table)
            total += snapshot.rowCount(table.id)
            let properties = relevance.properties(table)
            if let found = try TextRanking(view: self, table: table, query: relevance.query, properties: properties)?.matches(test, scope) {
                matches.rows += found.matches.rows
                matches.classes += found.matches.classes
                for (word, count) in found.counts.enumerated() { counts[word] += count }
                continue
            }
            let terms = scope.words, start = matches.rows.count
            try QueryRun(view: self, scope: scope).forEachMatch(plan, table) { row in
                matches.rows.append(row.reference)
                relevance.query.appendClasses(of: row, properties, table.runtime, terms, to: &matches.classes)
                return true
            }
            matches.sort(from: start)
            for (word, wanted) in relevance.query.words.enumerated() where !wanted.isPrefix {
                counts[word] += try count(wanted, properties, table, scope)
            }
        }
        statistics.rowsMatched = matches.rows.count
        let best = matches.best(relevance.query, attributeCount: relevance.attributes.count, counts: counts, total: total, query)
        try best.withUnsafeBufferPointer { best in
            var goesOn = true
            try snapshot.rows(best) { _, row in
                if goesOn, let row { goesOn = try body(row) }
            }
        }
        scope.rowsVisited += best.count
        statistics.take(scope)
        return statistics
    }

    /// Counts a table's rows that have a word, in each attribute by itself.
    private func count(_ word: WordQuery.Word, _ properties: [Int?], _ table: EntityTable, _ scope: QueryScope) throws -> Int {
        try properties.compactMap(\.self).reduce(0) { sum, property in
            let test = WordFilter(table.runtime, [property], WordQuery(words: [word]))
            let plan = try QueryPlanner(view: self, table: table, scope: scope, isCount: true).plan(test)
            return try sum + QueryRun(view: self, scope: scope).count(plan, table)
        }
    }
}

extension RecordLogView.RankedMatches {
    /// Sorts one table's matches by row, which an index scan gives in another order.
    fileprivate mutating func sort(from start: Int) {
        let count = rows.count - start
        guard count > 1, (start + 1..<rows.count).contains(where: { rows[$0].rawValue < rows[$0 - 1].rawValue }) else { return }
        let stride = classes.count / rows.count
        let order = (start..<rows.count).sorted { rows[$0].rawValue < rows[$1].rawValue }
        let sorted = order.map { rows[$0] }, sortedClasses = order.flatMap { classes[$0 * stride..<($0 + 1) * stride] }
        rows.replaceSubrange(start..., with: sorted)
        classes.replaceSubrange((start * stride)..., with: sortedClasses)
    }

    /// Returns the rows that a query asks for, the most relevant first, those of the same relevance by table and number.
    fileprivate func best(_ words: WordQuery, attributeCount: Int, counts: [Int], total: Int, _ query: StoreQuery) -> [RowReference] {
        var relevance = Relevance(words, attributeCount: attributeCount, counts: counts, total: total)
        let scores = relevance.scores(classes)
        let wanted = min(scores.count, query.end ?? .max)
        return TopRanks.indexes(scores, first: wanted).dropFirst(query.offset).map { rows[$0] }
    }
}

extension WordCondition {
    /// By attribute: its index in a table; nil for an attribute of other entities of the family.
    fileprivate func properties(_ table: EntityTable) -> [Int?] {
        attributes.map { attribute in
            guard case .keyPath(let keys) = attribute, let key = keys.first else { return nil }
            return table.runtime.index(of: key)
        }
    }
}

extension WordQuery {
    /// Appends the classes of a row's words: see `RankedMatches`.
    func appendClasses(of row: UnsafeRowView, _ properties: [Int?], _ runtime: EntityRuntime, _ terms: TextTerms, to classes: inout [UInt8]) {
        let start = classes.count
        classes.append(contentsOf: repeatElement(0, count: words.count * properties.count))
        for (attribute, property) in properties.enumerated() {
            guard let property, let access = runtime.access(property, in: row) else { continue }
            terms.read(row.bytes(access))
            setClasses(of: terms, attribute, properties.count, from: start, in: &classes)
        }
    }
}
