import RecordLog

/// What the tests of one query share while it runs, on one thread.
final class QueryScope {
    /// nil where rows of one table alone are looked at, such as those of a partial index.
    private let known: RecordLogView?
    /// Rows whose bytes were looked at.
    var rowsVisited = 0
    /// Entries of indexes that were counted in place of rows.
    var entriesCounted = 0
    /// The threads that the widest scan took.
    var cores = 1
    /// How objects at the other end of relationships were found.
    var lookups: [QueryStatistics.Lookup] = []
    /// For tests that make keys.
    let key = KeyBuilder()
    private var foldings: [FoldedScalars] = []

    init(view: RecordLogView?) {
        known = view
    }

    deinit {
        for folding in foldings { folding.giveBack() }
    }

    /// - Precondition: the tests ask for other rows; such tests are compiled with a view.
    var view: RecordLogView {
        guard let known else { preconditionFailure("a test of other rows was compiled without a view") }
        return known
    }

    /// What letters fold to.
    func folding(_ options: PredicateNode.Options) -> FoldedScalars {
        if let made = foldings.first(where: { $0.options == options }) { return made }
        let made = FoldedScalars.taken(options)
        foldings.append(made)
        return made
    }

    /// Takes over what another thread's scope has counted.
    func add(_ other: QueryScope) { rowsVisited += other.rowsVisited }
}

extension TextMatcher {
    /// What letters fold to, kept for many comparisons; nil where none folds.
    func folding(_ scope: QueryScope) -> FoldedScalars? { foldingOptions.map(scope.folding) }
}
