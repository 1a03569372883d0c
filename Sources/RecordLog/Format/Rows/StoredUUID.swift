/// The 16 bytes of a UUID as rows and headers store them.
///
/// It is no `Foundation.UUID`: a program that links RecordLog loads no Foundation. Both have the same bytes, so
/// `UUID(uuid: stored.bytes)` and `StoredUUID(bytes: uuid.uuid)` convert.
@frozen
public struct StoredUUID: Hashable, Sendable {
    /// The bytes in memory order, as two words.
    @usableFromInline let first, second: UInt64

    /// The type of `Foundation.UUID.uuid`.
    public typealias Bytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )

    static let size = 16

    /// - Parameter words: the bytes in memory order.
    @inlinable
    public init(words: (UInt64, UInt64)) {
        (first, second) = words
    }

    @inlinable
    public init(bytes: Bytes) {
        self = withUnsafeBytes(of: bytes) { $0.loadUnaligned(as: StoredUUID.self) }
    }

    /// The bytes in memory order, as two words.
    @inlinable
    public var words: (UInt64, UInt64) { (first, second) }

    @inlinable
    public var bytes: Bytes { withUnsafeBytes(of: self) { $0.loadUnaligned(as: Bytes.self) } }
}

/// The order by which two-phase commits take locks: all processes of a machine must agree on it.
extension StoredUUID: Comparable {
    public static func < (a: StoredUUID, b: StoredUUID) -> Bool { a.words < b.words }
}

extension StoredUUID: LosslessStringConvertible {
    /// Reads 32 hexadecimal digits with hyphens after 8, 12, 16 and 20 of them.
    /// - Returns: nil for any other text.
    public init?(_ description: String) {
        let text = Array(description.utf8)
        guard text.count == 36 else { return nil }
        var digits: [UInt8] = []
        for (offset, byte) in text.enumerated() {
            if Self.hyphens.contains(offset) {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let digit = Self.value(ofDigit: byte) else { return nil }
                digits.append(digit)
            }
        }
        let bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self = bytes.withUnsafeBytes { $0.loadUnaligned(as: StoredUUID.self) }
    }

    private static let hyphens = [8, 13, 18, 23]

    private static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The text with upper-case digits, as `Foundation.UUID.uuidString` has them.
    public var uuidString: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        withUnsafeBytes(of: words) { bytes in
            for byte in bytes {
                if Self.hyphens.contains(text.count) { text.append(UInt8(ascii: "-")) }
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    public var description: String { uuidString }
}

extension StoredUUID {
    init?(_ reader: inout ByteReader) {
        guard let first = reader.integer(UInt64.self), let second = reader.integer(UInt64.self) else { return nil }
        self.init(words: (first, second))
    }

    func append(to writer: inout ByteWriter) {
        writer.append(first)
        writer.append(second)
    }
}
