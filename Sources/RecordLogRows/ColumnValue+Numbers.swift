import RecordLog

extension Bool: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .bool }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Bool? { row.int64(access) != 0 }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, bool: self)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(bool: self, descending: descending) }
}

/// Integers of each width, in columns of the same width.
extension ColumnValue where Self: FixedWidthInteger {
    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Self? { Self(exactly: row.int64(access)) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        guard let value = Int64(exactly: self), type.holds(value) else { return false }
        builder.set(position, int64: value)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(int64: Int64(clamping: self), descending: descending) }
}

extension Int16: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .int16 }
}

extension Int32: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .int32 }
}

extension Int64: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .int64 }
}

/// In integer columns of any width. Writing a value that the column is too small for is an error.
extension Int: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .int64 || type == .int32 || type == .int16 }
}

extension ColumnType {
    /// Whether an integer column of this type has the value.
    fileprivate func holds(_ value: Int64) -> Bool {
        switch self {
        case .int16: Int16(exactly: value) != nil
        case .int32: Int32(exactly: value) != nil
        default: true
        }
    }
}

extension Float: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .float }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Float? { Float(row.double(access)) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, double: Double(self))
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(double: Double(self), descending: descending) }
}

extension Double: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .double }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> Double? { row.double(access) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, double: self)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(double: self, descending: descending) }
}

extension StoredDecimal: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .decimal }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> StoredDecimal? { row.decimal(access) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, decimal: self)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(decimal: self, descending: descending) }
}
