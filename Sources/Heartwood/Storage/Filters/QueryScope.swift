import RecordLog

/// The state that the tests of one query share while it runs on one thread.
package final class QueryScope {
    /// Both are nil where tests read only their own row, as for a partial index.
    private let known: RecordLogView?
    private let related: RelatedRows?
    /// The number of rows that were read.
    // Counted for each row: a check of each access would take 85 instructions.
    @exclusivity(unchecked) package var rowsVisited = 0
    /// The number of index entries that were counted instead of rows.
    var entriesCounted = 0
    /// The number of threads of the widest scan.
    var cores = 1
    /// The searches for objects at the other end of relationships.
    var lookups: [QueryStatistics.Lookup] = []
    /// Whether the query's tests have parameters, so that its plan may serve other arguments.
    var hasParameters = false
    /// A buffer for tests that build keys.
    let key = KeyBuilder()
    private var foldings: [FoldedScalars] = []
    /// The words of one text, for tests that search for words.
    private(set) lazy var words = TextTerms(wantsTrigrams: false)

    package init(view: RecordLogView?) { (known, related) = (view, nil) }

    /// For a store whose rows are in no record log.
    package init(related: RelatedRows?) { (known, self.related) = (nil, related) }

    deinit {
        for folding in foldings { folding.giveBack() }
    }

    /// - Precondition: the tests were compiled with a view, as tests of what only a record log has are.
    var view: RecordLogView {
        guard let known else { preconditionFailure("a test of a record log was compiled without one") }
        return known
    }

    // A record log is asked directly, since its rows are tested in great numbers.

    /// Another row; nil where it is gone.
    @inline(__always)
    func row(_ reference: RowReference) throws -> UnsafeRowView? {
        if let known { return try known.snapshot.unsafeRow(reference) }
        return try others.row(reference)
    }

    /// Calls `body` with each member of a to-many relationship, in its order, until it returns false.
    func forEachMember(of owner: RowReference, in source: MemberSources, _ body: (RowReference) throws -> Bool) throws {
        if let known { return try known.forEachMember(of: owner, in: source.members, body) }
        try others.forEachMember(of: owner, in: source, body)
    }

    func memberCount(of owner: RowReference, in source: MemberSources) throws -> Int {
        if let known { return try known.memberCount(of: owner, in: source.members) }
        return try others.memberCount(of: owner, in: source)
    }

    /// The table of another row.
    func table(_ id: TableID) -> EntityTable? { known?.schema.table(id) ?? related?.schema.table(id) }

    /// - Precondition: the tests were compiled with related rows, as tests that read other rows are.
    private var others: RelatedRows {
        guard let related else { preconditionFailure("a test of other rows was compiled without them") }
        return related
    }

    /// Returns the folding of characters for these options.
    func folding(_ options: PredicateNode.Options) -> FoldedScalars {
        if let made = foldings.first(where: { $0.options == options }) { return made }
        let made = FoldedScalars.taken(options)
        foldings.append(made)
        return made
    }

    /// Adds the counts of another thread's scope.
    func add(_ other: QueryScope) { rowsVisited += other.rowsVisited }
}

extension TextMatcher {
    /// Returns the folding of characters, cached for many comparisons; nil where the matcher does not fold.
    func folding(_ scope: QueryScope) -> FoldedScalars? { foldingOptions.map(scope.folding) }
}
