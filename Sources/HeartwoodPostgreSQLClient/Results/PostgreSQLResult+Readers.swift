package import Foundation

/// Each reader throws `badAnswer` for a null, for a column of another type, for a wrong width, and for a row or column that is not there.
extension PostgreSQLResult {
    /// - Throws: `badAnswer` for a row or column that is not there.
    package func isNull(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool {
        try check(row, column)
        return library.isNull(answer, CInt(row), CInt(column)) != 0
    }

    package func bool(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Bool { try fixed(row, column, .bool, UInt8.self) != 0 }
    package func int16(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int16 { try fixed(row, column, .int2, Int16.self) }
    package func int32(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int32 { try fixed(row, column, .int4, Int32.self) }
    package func int64(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 { try fixed(row, column, .int8, Int64.self) }
    package func oid(_ row: Int, _ column: Int) throws(PostgreSQLError) -> UInt32 { try fixed(row, column, .oid, UInt32.self) }
    package func xid8(_ row: Int, _ column: Int) throws(PostgreSQLError) -> UInt64 { try fixed(row, column, .xid8, UInt64.self) }

    package func float(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Float {
        Float(bitPattern: try fixed(row, column, .float4, UInt32.self))
    }

    package func double(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Double {
        Double(bitPattern: try fixed(row, column, .float8, UInt64.self))
    }

    /// An integer of any width.
    package func integer(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 {
        switch type(of: column) {
        case .int2: Int64(try int16(row, column))
        case .int4: Int64(try int32(row, column))
        default: try int64(row, column)
        }
    }

    package func uuid(_ row: Int, _ column: Int) throws(PostgreSQLError) -> UUID {
        try check(column, .uuid)
        return UUID(uuid: try value(row, column, width: 16).loadUnaligned(as: uuid_t.self))
    }

    /// A text, a name, or JSON as text.
    /// - Throws: `badAnswer` also for bytes that are no UTF-8, as a database of the encoding SQL_ASCII may hold.
    package func text(_ row: Int, _ column: Int) throws(PostgreSQLError) -> String {
        try checkText(column)
        let bytes = try value(row, column).assumingMemoryBound(to: UInt8.self)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw wrong(row, column, "its text is no UTF-8") }
        return text
    }

    package func numeric(_ row: Int, _ column: Int) throws(PostgreSQLError) -> PostgreSQLNumeric {
        try check(column, .numeric)
        guard let number = PostgreSQLNumeric(try value(row, column)) else { throw wrong(row, column, "its number has more than 128 bits") }
        return number
    }

    package func bytes(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Data {
        try check(column, .bytea)
        let bytes = try value(row, column)
        return Data(bytes)
    }

    /// Lends the bytes of a text.
    package func withText<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> Value {
        try checkText(column)
        return try withBytes(row, column, body)
    }

    /// Lends the bytes of data.
    package func withData<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> Value {
        try check(column, .bytea)
        return try withBytes(row, column, body)
    }

    /// Lends the bytes of a value of any type where they are; nil for a null.
    package func withBytes<Value>(
        _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> Value {
        let bytes = try isNull(row, column) ? nil : value(row, column)
        let value = try body(bytes)
        withExtendedLifetime(self) {}
        return value
    }
}

// MARK: Checks

extension PostgreSQLResult {
    private func fixed<Value: FixedWidthInteger>(
        _ row: Int, _ column: Int, _ type: PostgreSQLType, _: Value.Type
    ) throws(PostgreSQLError) -> Value {
        try check(column, type)
        return Value(bigEndian: try value(row, column, width: MemoryLayout<Value>.size).loadUnaligned(as: Value.self))
    }

    private func value(_ row: Int, _ column: Int, width: Int) throws(PostgreSQLError) -> UnsafeRawBufferPointer {
        let bytes = try value(row, column)
        guard bytes.count == width else { throw wrong(row, column, "its value has \(bytes.count) bytes in place of \(width)") }
        return bytes
    }

    /// The bytes of a value. They hold as long as this result.
    private func value(_ row: Int, _ column: Int) throws(PostgreSQLError) -> UnsafeRawBufferPointer {
        try check(row, column)
        let length = library.length(answer, CInt(row), CInt(column))
        // libpq gives a null the length 0.
        guard length > 0 || library.isNull(answer, CInt(row), CInt(column)) == 0 else { throw wrong(row, column, "it is null") }
        guard length >= 0, let start = library.value(answer, CInt(row), CInt(column)) else { throw wrong(row, column, "it has no value") }
        return UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    private func check(_ row: Int, _ column: Int) throws(PostgreSQLError) {
        guard row >= 0, row < count, column >= 0, column < types.count else {
            throw PostgreSQLError(
                .badAnswer, "The answer has no value in row \(row), column \(column): it has \(count) rows of \(types.count) columns.")
        }
    }

    private func check(_ column: Int, _ type: PostgreSQLType) throws(PostgreSQLError) {
        guard self.type(of: column) == type else { throw wrongType(column, "\(type.number)") }
    }

    private func checkText(_ column: Int) throws(PostgreSQLError) {
        switch type(of: column) {
        case .text, .varchar, .bpchar, .name, .json, .unknown: break
        default: throw wrongType(column, "text")
        }
    }

    private func wrongType(_ column: Int, _ wanted: String) -> PostgreSQLError {
        guard let type = type(of: column) else {
            return PostgreSQLError(.badAnswer, "The answer has no column \(column): it has \(types.count).")
        }
        return PostgreSQLError(.badAnswer, "Column \(column) (“\(name(of: column) ?? "")”) has the type \(type.number) in place of \(wanted).")
    }

    private func wrong(_ row: Int, _ column: Int, _ fault: String) -> PostgreSQLError {
        PostgreSQLError(.badAnswer, "Row \(row), column \(column) (“\(name(of: column) ?? "")”) of the answer cannot be read: \(fault).")
    }
}
