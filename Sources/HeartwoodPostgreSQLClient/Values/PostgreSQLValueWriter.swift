package import Foundation

/// Writes values in the server's binary form, each behind its length in four bytes. A null is the length -1.
///
/// Parameters, arrays and rows of a COPY all hold their values so.
package protocol PostgreSQLValueWriter {
    /// The values so far.
    var bytes: [UInt8] { get set }

    /// Counts a value before it is written.
    mutating func count(_ type: PostgreSQLType)
}

extension PostgreSQLValueWriter {
    @inlinable
    package mutating func addNull(_ type: PostgreSQLType) {
        count(type)
        bytes.appendBigEndian(Int32(-1))
    }

    @inlinable
    mutating func addFixed(_ value: some FixedWidthInteger, _ type: PostgreSQLType) {
        count(type)
        bytes.appendBigEndian(Int32(value.bitWidth / 8))
        bytes.appendBigEndian(value)
    }

    @inlinable
    package mutating func addInt16(_ value: Int16) { addFixed(value, .int2) }
    @inlinable
    package mutating func addInt32(_ value: Int32) { addFixed(value, .int4) }
    @inlinable
    package mutating func addInt64(_ value: Int64) { addFixed(value, .int8) }
    @inlinable
    package mutating func addFloat(_ value: Float) { addFixed(value.bitPattern, .float4) }
    @inlinable
    package mutating func addDouble(_ value: Double) { addFixed(value.bitPattern, .float8) }
    @inlinable
    package mutating func addBool(_ value: Bool) { addFixed(value ? UInt8(1) : 0, .bool) }

    @inlinable
    package mutating func addUUID(_ value: UUID) {
        count(.uuid)
        bytes.appendBigEndian(Int32(16))
        withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    }

    /// - Throws: `badValue` for a text with U+0000, which no text of the server has, and for one of a gigabyte. Nothing is added then.
    @inlinable
    package mutating func addText(_ value: String) throws(PostgreSQLError) {
        var value = value
        var fault: PostgreSQLError?
        value.withUTF8 { text in
            fault = PostgreSQLValueLimit.fault(text: text)
            if fault == nil { addCounted(UnsafeRawBufferPointer(text), .text) }
        }
        if let fault { throw fault }
    }

    /// - Throws: `badValue` for a gigabyte or more. Nothing is added then.
    @inlinable
    package mutating func addBytes(_ value: UnsafeRawBufferPointer) throws(PostgreSQLError) {
        if let fault = PostgreSQLValueLimit.fault(count: value.count) { throw fault }
        addCounted(value, .bytea)
    }

    @inlinable
    package mutating func addBytes(_ value: Data) throws(PostgreSQLError) {
        if let fault = PostgreSQLValueLimit.fault(count: value.count) { throw fault }
        value.withUnsafeBytes { addCounted($0, .bytea) }
    }

    @inlinable
    mutating func addCounted(_ value: UnsafeRawBufferPointer, _ type: PostgreSQLType) {
        count(type)
        bytes.appendBigEndian(Int32(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func addNumeric(_ value: PostgreSQLNumeric) {
        count(.numeric)
        value.append(to: &bytes)
    }
}

extension [UInt8] {
    @inlinable
    package mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
