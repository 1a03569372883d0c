import RecordLog

/// UTF-8. Bytes that are no UTF-8 read as replacement characters.
extension String: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .text }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> String? {
        String(stored: row.bytes(access))
    }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, text: self)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(text: self, descending: descending) }
}

extension Array: ColumnValue where Element == UInt8 {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .bytes }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> [UInt8]? { [UInt8](row.bytes(access)) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        withUnsafeBytes { builder.set(position, bytes: $0) }
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { withUnsafeBytes { key.append(bytes: $0, descending: descending) } }
}

extension StoredUUID: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .uuid }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> StoredUUID? { StoredUUID(words: row.uuid(access)) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, uuid: words)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(uuid: words, descending: descending) }
}

extension RowReference: ColumnValue {
    public static func isStored(inColumnOf type: ColumnType) -> Bool { type == .reference }

    public static func unsafeColumnValue(_ row: UnsafeRowView, _ access: ColumnAccess) -> RowReference? { row.reference(access) }

    public func setColumn(_ position: Int, of type: ColumnType, in builder: RowBuilder) -> Bool {
        builder.set(position, reference: self)
        return true
    }

    public func appendComponent(to key: KeyBuilder, descending: Bool) { key.append(reference: self, descending: descending) }
}
