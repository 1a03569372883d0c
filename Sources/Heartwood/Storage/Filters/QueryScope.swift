import RecordLog

/// The state that the tests of one query share while it runs on one thread.
package final class QueryScope {
    /// nil where tests read only their own row, as for a partial index.
    private let known: RecordLogView?
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

    package init(view: RecordLogView?) {
        known = view
    }

    deinit {
        for folding in foldings { folding.giveBack() }
    }

    /// - Precondition: the tests were compiled with a view, as tests that read other rows are.
    var view: RecordLogView {
        guard let known else { preconditionFailure("a test of other rows was compiled without a view") }
        return known
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
