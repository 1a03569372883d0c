/// Encodes values so that the order of the bytes is the order of the values. Spec: FORMAT.md, "Keys".
///
/// A component is a tag (1 null, 2 value) and the value's bytes; a descending component is complemented. No component is
/// a prefix of another, so a key of several components sorts by them in turn.
public struct KeyBuilder {
    public private(set) var bytes: [UInt8] = []

    public static let nullTag: UInt8 = 1
    public static let valueTag: UInt8 = 2

    public init() {}

    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    private mutating func component(_ isDescending: Bool, _ body: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes.append(Self.valueTag)
        body(&bytes)
        if isDescending { complement(from: start) }
    }

    private mutating func complement(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// A component of eight bytes, in one step.
    @inline(__always)
    private mutating func appendWord(_ word: UInt64, _ isDescending: Bool) {
        let flip: UInt64 = isDescending ? .max : 0
        withUnsafeTemporaryAllocation(byteCount: 9, alignment: 1) { component in
            component[0] = Self.valueTag ^ UInt8(truncatingIfNeeded: flip)
            component.storeBytes(of: (word ^ flip).bigEndian, toByteOffset: 1, as: UInt64.self)
            bytes.append(contentsOf: component)
        }
    }

    /// Null sorts before every value (after, where descending).
    public mutating func appendNull(descending: Bool = false) {
        bytes.append(descending ? ~Self.nullTag : Self.nullTag)
    }

    public mutating func append(int64 value: Int64, descending: Bool = false) {
        appendWord(UInt64(bitPattern: value) ^ (1 << 63), descending)
    }

    public mutating func append(bool value: Bool, descending: Bool = false) {
        component(descending) { $0.append(value ? 1 : 0) }
    }

    /// NaN sorts before every number; minus zero is zero.
    public mutating func append(double value: Double, descending: Bool = false) {
        let bits: UInt64
        if value.isNaN {
            bits = 0
        } else {
            let pattern = (value == 0 ? 0.0 : value).bitPattern
            bits = pattern >> 63 == 0 ? pattern | (1 << 63) : ~pattern
        }
        appendWord(bits, descending)
    }

    public mutating func append(uuid value: (UInt64, UInt64), descending: Bool = false) {
        component(descending) { bytes in
            withUnsafeBytes(of: value.0) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: value.1) { bytes.append(contentsOf: $0) }
        }
    }

    public mutating func append(reference value: RowReference, descending: Bool = false) {
        appendWord(value.rawValue, descending)
    }

    public mutating func append(text value: String, descending: Bool = false) {
        var value = value
        value.withUTF8 { append(bytes: UnsafeRawBufferPointer($0), descending: descending) }
    }

    /// Text or bytes, by byte: 0 is escaped as 1 1, 1 as 1 2; the end is 0.
    public mutating func append(bytes value: UnsafeRawBufferPointer, descending: Bool = false) {
        component(descending) { bytes in
            Self.appendEscaped(value, &bytes)
            bytes.append(0)
        }
    }

    /// The start that every text with this prefix shares: for ranges, not for entries.
    public mutating func append(textPrefix value: String) {
        bytes.append(Self.valueTag)
        var value = value
        value.withUTF8 { Self.appendEscaped(UnsafeRawBufferPointer($0), &bytes) }
    }

    private static func appendEscaped(_ value: UnsafeRawBufferPointer, _ bytes: inout [UInt8]) {
        if value.contains(where: { $0 <= 1 }) {
            for byte in value {
                if byte <= 1 { bytes.append(1) }
                bytes.append(byte <= 1 ? byte + 1 : byte)
            }
        } else {
            bytes.append(contentsOf: value)
        }
    }

    /// NaN, then negative numbers, zero, positive ones. A number is its magnitude and its digits, each plus one and ended
    /// by zero; complemented for negative ones.
    public mutating func append(decimal value: StoredDecimal, descending: Bool = false) {
        component(descending) { bytes in
            guard !value.isNaN else { return bytes.append(0) }
            let (digits, magnitude) = value.normalized
            guard !digits.isEmpty else { return bytes.append(2) }
            bytes.append(value.isNegative ? 1 : 3)
            let flip: UInt8 = value.isNegative ? 0xFF : 0
            let biased = UInt32(bitPattern: Int32(magnitude)) ^ (1 << 31)
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: biased >> shift) ^ flip) }
            for digit in digits { bytes.append((digit + 1) ^ flip) }
            bytes.append(0 ^ flip)
        }
    }

    /// One column of a row, null or not. A `value` column has no key, and is as null.
    @inline(__always)
    public mutating func append(column access: ColumnAccess, of row: RowView, descending: Bool = false) {
        guard !access.isAbsent, !row.isNull(access) else { return appendNull(descending: descending) }
        switch access.type {
        case .bool: append(bool: row.int64(access) != 0, descending: descending)
        case .int16, .int32, .int64: append(int64: row.int64(access), descending: descending)
        case .float, .double, .date: append(double: row.double(access), descending: descending)
        case .uuid: append(uuid: row.uuid(access), descending: descending)
        case .reference: append(reference: row.reference(access), descending: descending)
        case .decimal: append(decimal: row.decimal(access), descending: descending)
        case .text, .bytes: append(bytes: row.bytes(access), descending: descending)
        // No index is over such a column.
        case .value: appendNull(descending: descending)
        }
    }

    /// The six bytes of row number that end an entry.
    mutating func append(row: UInt64) {
        withUnsafeBytes(of: (row << 16).bigEndian) { bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<Self.rowSuffixSize])) }
    }

    static let rowSuffixSize = 6
}
