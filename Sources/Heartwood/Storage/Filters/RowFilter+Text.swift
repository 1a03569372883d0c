import RecordLog

/// Matches a string column's UTF-8 bytes with a pattern.
package final class TextFilter: ColumnFilter {
    let matcher: TextMatcher
    package let isNegated: Bool
    private let condition: IndexCondition?
    private let requirements: TermRequirements?

    /// - Parameter requirements: the terms that every match has, where the column has a text index.
    init(
        _ runtime: EntityRuntime, _ property: Int, _ matcher: TextMatcher, isNegated: Bool = false, condition: IndexCondition? = nil,
        requirements: TermRequirements? = nil
    ) {
        self.matcher = matcher
        self.isNegated = isNegated
        self.condition = condition
        self.requirements = requirements
        super.init(runtime, property)
    }

    /// The comparison and its pattern; nil where texts are folded, or matched with a regular expression.
    package var plainComparison: (kind: TextComparison.Kind, pattern: String)? { matcher.plainComparison }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return try matcher.matches(row.bytes(access), matcher.folding(scope)) != isNegated
    }

    override func filter(_ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ scope: QueryScope) throws -> Int {
        let folding = matcher.folding(scope), matcher = matcher, isCandidate = requirements != nil, isNegated = isNegated
        return try withExtendedLifetime((self, folding)) {
            let folding = folding.map(Unmanaged.passUnretained)
            return try rows.keep { row in
                guard let access = access(row) else { return isNegated }
                return try matcher.unownedMatches(row.bytes(access), folding, isCandidate: isCandidate) != isNegated
            }
        }
    }

    override package var indexCondition: IndexCondition? { condition }
    override var textCondition: TextCondition? { requirements.map { TextCondition(property: property, $0) } }
    override var weight: Int { matcher.weight }
}

/// Looks up a string in a list.
package final class TextSetFilter: ColumnFilter {
    /// Without duplicates.
    package let texts: [String]
    private let table = GroupTable()

    init(_ runtime: EntityRuntime, _ property: Int, _ texts: [String]) {
        let table = table
        self.texts = texts.filter { text in
            var text = text
            return text.withUTF8 { table.number(of: UnsafeRawBufferPointer($0)).isNew }
        }
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return table.contains(row.bytes(access))
    }

    override package var indexCondition: IndexCondition? { isOne(of: texts) { $0.append(text: $1) } }
}

/// Looks up a string in a list without case or diacritics.
final class FoldedTextSetFilter: ColumnFilter {
    private let options: PredicateNode.Options
    /// The list's texts, folded.
    private let table = GroupTable()

    /// - Parameter options: not those of a locale, in which texts may be equal that fold to others.
    init(_ runtime: EntityRuntime, _ property: Int, _ texts: [String], _ options: PredicateNode.Options) {
        self.options = options
        super.init(runtime, property)
        for text in texts {
            var folded = TextMatcher.fold(text, options)
            _ = folded.withUTF8 { table.number(of: UnsafeRawBufferPointer($0)) }
        }
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        let text = row.bytes(access)
        if let folded = scope.folding(options).folded(text) { return table.contains(folded) }
        return TextMatcher.withWholeFolded(text, options) { table.contains($0) }
    }

    override var weight: Int { 5 }
}
