import RecordLog

/// Rows of an index: all of them, or those whose columns have given values.
///
/// Each step narrows the query by the index's next column. `equal` goes on to the column after it; `from`, `upTo`, `through` and `prefix`
/// bound one column and are the last steps.
///
/// ```swift
/// let query = try snapshot.index(named: "byYearAndTitle", on: films).equal(to: 1926).prefix("The ")
/// ```
public struct IndexQuery: Sendable {
    private let snapshot: Snapshot
    private let table: TableDefinition
    public let index: IndexDefinition
    /// The components of the columns that have one value.
    private var key: [UInt8] = []
    /// The number of those columns.
    private var fixed = 0
    /// The bounds within `key`, once a column is bounded.
    private var bounds: KeyRange?
    private var isReversed = false

    init(_ snapshot: Snapshot, _ index: IndexDefinition, on table: TableDefinition) {
        self.snapshot = snapshot
        self.index = index
        self.table = table
    }

    // MARK: Steps

    /// The rows in which the index's next column has this value. nil stands for null.
    /// - Throws: `typeDiffers`; `noSuchColumn` if no column of the index is left.
    public func equal<Value: ColumnValue>(to value: Value) throws(RowError) -> IndexQuery {
        guard bounds == nil else { throw noColumnLeft }
        let part = try nextPart(holding: Value.self)
        var query = self
        query.key = key + Self.component(value, part)
        query.fixed += 1
        return query
    }

    /// The rows in which the index's next column has this value or one after it, in the order of values. Null is in no bound.
    /// - Throws: as `equal(to:)`; `isNull`.
    public func from<Value: ColumnValue>(_ value: Value) throws(RowError) -> IndexQuery {
        try bounded(by: value) { component, isAscending, range in
            if isAscending { range.lower = component } else { range.upper = KeyRange.successor(of: component) }
        }
    }

    /// The rows in which the index's next column has a value before this one.
    /// - Throws: as `from(_:)`.
    public func upTo<Value: ColumnValue>(_ value: Value) throws(RowError) -> IndexQuery {
        try bounded(by: value) { component, isAscending, range in
            if isAscending { range.upper = component } else { range.lower = KeyRange.successor(of: component) }
        }
    }

    /// The rows in which the index's next column has this value or one before it.
    /// - Throws: as `from(_:)`.
    public func through<Value: ColumnValue>(_ value: Value) throws(RowError) -> IndexQuery {
        try bounded(by: value) { component, isAscending, range in
            if isAscending { range.upper = KeyRange.successor(of: component) } else { range.lower = component }
        }
    }

    /// The rows in which the index's next column, of text, starts with these bytes of UTF-8.
    /// - Throws: as `equal(to:)`.
    public func prefix(_ text: String) throws(RowError) -> IndexQuery {
        guard bounds == nil else { throw noColumnLeft }
        let part = try nextPart(holding: String.self)
        let builder = KeyBuilder()
        builder.append(textPrefix: text, descending: !part.ascending)
        var query = self
        query.bounds = .prefix(key + builder.bytes)
        return query
    }

    /// The same rows in the opposite order.
    public func reversed() -> IndexQuery {
        var query = self
        query.isReversed.toggle()
        return query
    }

    // MARK: Rows

    /// The rows in the index's order.
    public func rows() throws(StoreError) -> RowCursor {
        // A cursor needs bounds in order.
        RowCursor(snapshot, range.isEmpty ? nil : try snapshot.cursor(index.id, range, descending: isReversed), of: table.id)
    }

    /// The first row in the index's order; nil if there is none.
    public func first() throws(StoreError) -> Row? {
        var rows = try rows()
        return try rows.next()
    }

    /// The number of rows. Reads none.
    public func count() throws(StoreError) -> Int { range.isEmpty ? 0 : try snapshot.count(index.id, range) }

    // MARK: Keys

    private var range: KeyRange { bounds ?? (key.isEmpty ? .all : .prefix(key)) }

    private var noColumnLeft: RowError {
        RowError(.noSuchColumn, "the index \(index.name) has no column left: it has \(index.parts.count), and a bounded one is the last")
    }

    private func nextPart<Value: ColumnValue>(holding type: Value.Type) throws(RowError) -> IndexPart {
        guard fixed < index.parts.count else { throw noColumnLeft }
        let part = index.parts[fixed]
        guard let column = table.layouts.reversed().lazy.compactMap({ $0.columns.first { $0.id == part.column } }).first else {
            throw noColumnLeft
        }
        try ColumnLocator(column, of: table).check(column.type, holds: type)
        return part
    }

    private static func component<Value: ColumnValue>(_ value: Value, _ part: IndexPart) -> [UInt8] {
        let builder = KeyBuilder()
        value.appendComponent(to: builder, descending: !part.ascending)
        return builder.bytes
    }

    /// Bounds the next column, or bounds it further.
    private func bounded<Value: ColumnValue>(
        by value: Value, _ bound: (_ component: [UInt8], _ isAscending: Bool, inout KeyRange) -> Void
    ) throws(RowError) -> IndexQuery {
        let part = try nextPart(holding: Value.self)
        guard !value.isColumnNull else { throw RowError(.isNull, "a bound of the index \(index.name) is null; nulls are found by equal(to: nil)") }
        let flip: UInt8 = part.ascending ? 0 : 0xFF
        // Every value's component, and no null, starts with this tag.
        var range = KeyRange.prefix(key + [KeyBuilder.valueTag ^ flip])
        bound(key + Self.component(value, part), part.ascending, &range)
        var query = self
        query.bounds = bounds.map { $0.intersection(range) } ?? range
        return query
    }
}

extension KeyRange {
    /// The entries in both ranges.
    fileprivate func intersection(_ other: KeyRange) -> KeyRange {
        var result = self
        if let lower = other.lower { result.lower = lower.lexicographicallyPrecedes(self.lower ?? []) ? self.lower : lower }
        if let upper = other.upper {
            result.upper = self.upper.map { $0.lexicographicallyPrecedes(upper) ? $0 : upper } ?? upper
        }
        return result
    }
}
