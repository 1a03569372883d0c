/// A query of the command line, with the way in which the store answers it.
struct ReportQuery: Encodable {
    struct Step: Encodable {
        enum Way: String, Encodable {
            case scan, index, rows, union, nothing
        }

        var entity: String
        var way: Way
        /// As `query --explain` says it.
        var text: String
        /// Whether it looks for related objects before the main search.
        var isLookup: Bool
    }

    var entity: String
    var predicate: String
    var steps: [Step] = []
    var objects: Int?
    var visited = 0
    var matched = 0
    var isSorted = false
    var isInMemory = false
    var milliseconds: Double?
    /// As `query --explain` prints it.
    var lines: [String] = []
    /// The first objects that it finds, as in `ReportRows.Row.id`.
    var first: [String] = []
    /// The reason why there is no plan.
    var failure: String?
}
