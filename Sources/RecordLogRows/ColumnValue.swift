import RecordLog

/// A type whose values a column can hold.
///
/// RecordLog has it for Bool, the integers, Float, Double, String, [UInt8], `StoredDate`, `StoredUUID`, `StoredDecimal`, `RowReference`, and
/// for optionals of them. An enumeration with such a raw value needs no more than the conformance. For other types of your own, see
/// `ColumnValueConvertible`.
public protocol ColumnValue: Sendable {
    /// Whether columns of this type hold such values.
    static func isStored(inColumnOf type: ColumnType) -> Bool
    /// The value that stands for null; nil if the type has none.
    static var columnNull: Self? { get }
    var isColumnNull: Bool { get }
    /// Reads a column that is not null, of a type that `isStored` accepts.
    /// - Returns: nil if the column's value does not fit this type.
    static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Self?
    /// Sets a column of a type that `isStored` accepts. The value is not null.
    /// - Returns: false if the value does not fit the column; the column is unchanged then.
    func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool
    /// Appends the value's component to an index key; null too.
    func appendComponent(to key: KeyBuilder, descending: Bool)
}

extension ColumnValue {
    public static var columnNull: Self? { nil }
    public var isColumnNull: Bool { false }
}

/// A type that is stored as another one, such as a date of your own as a `StoredDate`.
public protocol ColumnValueConvertible: ColumnValue {
    associatedtype StoredValue: ColumnValue
    /// - Returns: nil if the stored value stands for no value of this type.
    init?(storedValue: StoredValue)
    var storedValue: StoredValue { get }
}

extension ColumnValueConvertible {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { StoredValue.isStored(inColumnOf: type) }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Self? {
        StoredValue.unsafeColumnValue(row, access).flatMap { Self(storedValue: $0) }
    }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        storedValue.setColumn(position, of: type, in: builder)
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { storedValue.appendComponent(to: key, descending: descending) }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { RawValue.isStored(inColumnOf: type) }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Self? {
        RawValue.unsafeColumnValue(row, access).flatMap { Self(rawValue: $0) }
    }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        rawValue.setColumn(position, of: type, in: builder)
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { rawValue.appendComponent(to: key, descending: descending) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { Wrapped.isStored(inColumnOf: type) }

    public static var columnNull: Self? { .some(nil) }

    public var isColumnNull: Bool { map(\.isColumnNull) ?? true }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Self? {
        Wrapped.unsafeColumnValue(row, access).map { .some($0) }
    }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        self?.setColumn(position, of: type, in: builder) ?? false
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) {
        guard let self else { return key.appendNull(descending: descending) }
        self.appendComponent(to: key, descending: descending)
    }
}
