import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// A range of an index's first column, with both ends.
struct SQLiteKeyRange: Sendable {
    /// Empty for no bound.
    var lower: [SQLiteValue] = []
    /// Empty for no bound.
    var upper: [SQLiteValue] = []
}

/// The entries that an index of SQLite's has for values of one type of attribute. There may be too many, but never too few.
struct SQLiteIndexForm: Sendable {
    /// Whether the entries are in the order in which fetches sort the values. Only types whose values are read as they are stored are: shorter
    /// integers are cut when they are read, and texts have other orders.
    var isOrdered = false
    /// What a column of Core Data's never has, though a file may: reading changes it, to any value.
    var changedWhenRead: [SQLiteKeyRange] = []
    /// The entries of the value whose component in a record log's index this is; nil for null, which no index needs to have.
    let entries: @Sendable ([UInt8], DatabaseHeader.TextEncoding) -> (least: SQLiteValue, greatest: SQLiteValue)?

    /// - Parameter range: the integers that are not cut when they are read; nil for all.
    static func integer(_ range: ClosedRange<Int64>?) -> SQLiteIndexForm {
        let changed = range.map { range in
            [SQLiteKeyRange(lower: [.real(-.infinity)], upper: [.integer(range.lowerBound - 1)]),
             SQLiteKeyRange(lower: [.integer(range.upperBound + 1)], upper: [.real(.infinity)])]
        }
        return SQLiteIndexForm(isOrdered: range == nil, changedWhenRead: changed ?? []) { component, _ in
            // A real is cut when it is read, so its neighbours belong to an integer too.
            KeyBuilder.int64(component).map { (.integer(max($0, .min + 1) - 1), .integer(min($0, .max - 1) + 1)) }
        }
    }

    static let real = SQLiteIndexForm(isOrdered: true) { component, _ in
        KeyBuilder.double(component).map { (.real($0), .real($0)) }
    }

    static let text = SQLiteIndexForm { component, encoding in
        // Foreign bytes are read as U+FFFD.
        guard let text = KeyBuilder.bytes(component).map({ String(decoding: $0, as: UTF8.self) }), !text.unicodeScalars.contains("\u{FFFD}") else {
            return nil
        }
        let value = SQLiteValue.text(encoding.bytes(text))
        return (value, value)
    }

    /// A UUID may be written as text. Texts come before data.
    static let uuid = SQLiteIndexForm(changedWhenRead: [SQLiteKeyRange(lower: [.text([])], upper: [.blob([])])]) { component, _ in
        KeyBuilder.uuid(component).map { (.blob($0), .blob($0)) }
    }

    /// The key of another row.
    static let key = SQLiteIndexForm { component, _ in
        KeyBuilder.reference(component).map { (.integer(Int64($0.row)), .integer(Int64($0.row))) }
    }
}
