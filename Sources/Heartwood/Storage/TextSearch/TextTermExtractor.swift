import RecordLog
import Synchronization

/// Makes the terms of a text index from its specification, for rows of any layout. A column that is newer than a row's layout has
/// its default, or is null.
final class TextTermExtractor: IndexTermExtractor {
    private let column: String
    /// For the condition of a partial index.
    private let condition: SpecifiedKeys?
    private let state = Mutex(State())

    /// Unchecked: used only under the lock of `state`.
    private struct State: @unchecked Sendable {
        let terms = TextTerms(wantsTrigrams: true)
        let key = KeyBuilder()
        var layout: RowLayout?
        var access = ColumnAccess.absent
    }

    /// - Returns: nil for a specification of something else, or of terms that this version does not know.
    init?(_ specification: IndexSpecification) {
        guard specification.terms == TextTerms.version, specification.elements.count == 1, let column = specification.elements[0].column else {
            return nil
        }
        self.column = column
        // Without elements it only tests the condition.
        condition = specification.predicate.map { SpecifiedKeys(IndexSpecification(elements: [], predicate: $0)) }
    }

    /// A condition may read any column.
    var columnNames: [String]? { condition == nil ? [column] : nil }

    func appendTerms(of row: UnsafeRowView, layout: RowLayout, to list: TermList) {
        nonisolated(unsafe) let list = list, row = row
        state.withLock { state in
            if state.layout !== layout {
                state.layout = layout
                state.access = layout.access(named: column) ?? .absent
            }
            if let condition {
                state.key.removeAll()
                guard condition.appendKey(of: row, layout: layout, to: state.key) else { return }
            }
            guard !row.isNull(state.access) else { return }
            let text = row.bytes(state.access)
            guard !TextTerms.isLong(text) else { return TextTerms.longText.withUnsafeBytes { list.append($0) } }
            state.terms.read(text)
            state.terms.forEachTerm { list.append($0) }
        }
    }
}
