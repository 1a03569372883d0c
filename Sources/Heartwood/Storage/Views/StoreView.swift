import Foundation
import RecordLog

/// A consistent state of a store for reading: rows, relationships, and the queries that the store answers itself.
package protocol StoreView: RowView, RelationshipView, QueryView, RequestView {
    /// Whether this is the newest commit that this process knows of, in a store that is still open.
    var isNewest: Bool { get }

    /// The sequence number of this commit; nil if the store has none.
    var commit: UInt64? { get }

    /// This view, if it is of a record log; nil for others.
    var logView: RecordLogView? { get }
}

extension StoreView {
    package var commit: UInt64? { nil }

    package var logView: RecordLogView? { nil }
}
