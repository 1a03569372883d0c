/// A value of SQLite, on its own.
package enum SQLiteValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// In the database's encoding.
    case text([UInt8])
    case blob([UInt8])

    package enum Kind: UInt8, Sendable {
        case null, integer, real, text, blob
    }

    package var kind: Kind {
        switch self {
        case .null: .null
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .blob
        }
    }
}

extension DatabaseHeader.TextEncoding {
    /// Text that is not well-formed comes out with replacement characters, as in SQLite.
    package func string(_ bytes: UnsafeRawBufferPointer) -> String {
        switch self {
        case .utf8: return String(decoding: bytes, as: UTF8.self)
        case .utf16LittleEndian: return decode(bytes) { UInt16(littleEndian: $0) }
        case .utf16BigEndian: return decode(bytes) { UInt16(bigEndian: $0) }
        }
    }

    package func bytes(_ text: String) -> [UInt8] {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf16LittleEndian: text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        case .utf16BigEndian: text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        }
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, _ order: (UInt16) -> UInt16) -> String {
        let units = (0..<bytes.count / 2).map { order(bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self)) }
        return String(decoding: units, as: UTF16.self)
    }
}
