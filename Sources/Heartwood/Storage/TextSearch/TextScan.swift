import RecordLog

/// A search in text indexes: the rows that have certain terms.
final class TextScan {
    /// Terms of which a row must have at least one.
    struct Group {
        let alternatives: [(index: TableIndex, requirement: TermRequirement)]
        /// The estimated number of rows.
        let rows: Double

        /// Whether some rows are those of several terms, which an index gives one after the other.
        var isCollected: Bool {
            alternatives.contains { alternative in
                if case .prefix = alternative.requirement { true } else { false }
            }
        }
    }

    /// The rarest first.
    let groups: [Group]
    /// An index whose long texts, which have no terms, are candidates too; nil where there are none.
    let withLongTexts: [TableIndex]

    init(_ groups: [Group], withLongTexts: [TableIndex]) {
        self.groups = groups
        self.withLongTexts = withLongTexts
    }

    /// The index of the rarest terms, which names the plan.
    var index: TableIndex? { groups.first?.alternatives.first?.index }

    var termCount: Int { groups.reduce(0) { $0 + $1.alternatives.count } }
}
