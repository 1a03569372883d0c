import RecordLog

/// A mistake in the use of typed rows. The store is unchanged and usable; nothing is damaged.
public struct RowError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The store has no such table, column or index, or the index has no further column.
        case noSuchTable, noSuchColumn, noSuchIndex
        /// The column's values are of another type.
        case typeDiffers
        /// The column or the row belongs to another table.
        case otherTable
        /// The stored value is null, but the value's type is not optional.
        case isNull
        /// The column's type is too small for the value, or the value's type for the column.
        case doesNotFit
        /// The row does not exist or is deleted.
        case noSuchRow
    }

    public let code: Code
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
