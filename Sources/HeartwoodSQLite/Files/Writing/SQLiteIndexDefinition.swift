import Heartwood
internal import HeartwoodSQLiteBuilder

/// An index of a table that is to be written.
struct SQLiteIndexDefinition {
    struct Term: Equatable {
        /// The column's position in the table's statement.
        let column: Int
        var isDescending = false
    }

    let name: String
    /// nil for the index that a PRIMARY KEY clause makes.
    let statement: String?
    let terms: [Term]
    var isUnique = false
    /// What the statement's WHERE clause says; nil if it has none.
    var condition: SQLiteRowCondition?
}
