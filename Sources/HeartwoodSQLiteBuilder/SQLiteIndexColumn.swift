/// A column of an index that is being built.
package struct SQLiteIndexColumn: Sendable, Equatable {
    /// The position in the table's statement; nil for the rowid.
    package var column: Int?
    package var isDescending: Bool

    package init(_ column: Int?, isDescending: Bool = false) {
        self.column = column
        self.isDescending = isDescending
    }
}
