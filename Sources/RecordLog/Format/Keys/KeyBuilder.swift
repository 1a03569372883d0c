/// Encodes values so that their bytes sort as the values do. Spec: FORMAT.md, "Keys".
///
/// A component is a tag (1 null, 2 value) and the value's bytes; a descending component is complemented. No component is
/// a prefix of another, so keys of several components sort by the first, then the second, and so on.
///
/// Builds one key after another, and reuses its memory.
public final class KeyBuilder {
    private var memory: UnsafeMutableRawPointer
    private var capacity = 64
    /// Not public, so that the compiler sees every access and omits the run-time check.
    private var used = 0

    package static let nullTag: UInt8 = 1
    package static let valueTag: UInt8 = 2

    public init() {
        memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        memory.deallocate()
    }

    /// The key; valid until the next mutation.
    public var unsafeBuffer: UnsafeRawBufferPointer {
        @inline(__always) get { UnsafeRawBufferPointer(start: memory, count: used) }
    }

    public var count: Int { used }

    /// A copy of the key.
    public var bytes: [UInt8] { Array(unsafeBuffer) }

    public func removeAll() {
        used = 0
    }

    /// Keeps the first `count` bytes.
    public func truncate(to count: Int) {
        precondition(count >= 0 && count <= used, "a key is cut, not grown")
        used = count
    }

    /// Reserves `more` bytes behind the key.
    @inline(__always)
    private func room(_ more: Int) -> UnsafeMutableRawPointer {
        if used &+ more > capacity { grow(more) }
        return memory + used
    }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, used + more)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        grown.copyMemory(from: memory, byteCount: used)
        memory.deallocate()
        memory = grown
    }

    @inline(__always)
    private func append(_ byte: UInt8) {
        room(1).storeBytes(of: byte, as: UInt8.self)
        used &+= 1
    }

    @inline(__always)
    private func append(_ value: UnsafeRawBufferPointer) {
        guard let start = value.baseAddress else { return }
        room(value.count).copyMemory(from: start, byteCount: value.count)
        used &+= value.count
    }

    @inline(__always)
    private func component(_ isDescending: Bool, _ body: () -> Void) {
        let start = used
        append(Self.valueTag)
        body()
        if isDescending { complement(from: start) }
    }

    private func complement(from start: Int) {
        for at in start..<used { memory.storeBytes(of: ~memory.load(fromByteOffset: at, as: UInt8.self), toByteOffset: at, as: UInt8.self) }
    }

    /// Appends a component of eight bytes in one step.
    @inline(__always)
    private func appendWord(_ word: UInt64, _ isDescending: Bool) {
        let flip: UInt64 = isDescending ? .max : 0
        let component = room(9)
        component.storeBytes(of: Self.valueTag ^ UInt8(truncatingIfNeeded: flip), as: UInt8.self)
        component.storeBytes(of: (word ^ flip).bigEndian, toByteOffset: 1, as: UInt64.self)
        used &+= 9
    }

    /// Appends a component that is encoded as an ascending one.
    package func append(component: [UInt8], descending: Bool = false) {
        let start = used
        component.withUnsafeBytes { append($0) }
        if descending { complement(from: start) }
    }

    /// Null sorts before every value; in a descending component, after.
    public func appendNull(descending: Bool = false) {
        append(descending ? ~Self.nullTag : Self.nullTag)
    }

    public func append(int64 value: Int64, descending: Bool = false) {
        appendWord(Self.word(of: value), descending)
    }

    /// The eight bytes that encode an integer, as one number.
    @inline(__always)
    package static func word(of value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    /// The bytes of an integer's or a reference's component.
    public static let wordSize = 9

    /// The integer whose component starts at `offset` of a key; nil if there is none.
    public static func int64(at offset: Int, in key: UnsafeRawBufferPointer) -> Int64? {
        guard offset >= 0, key.count - offset >= wordSize, key[offset] == valueTag else { return nil }
        let word = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        return Int64(bitPattern: word ^ (1 << 63))
    }

    /// The end of the component that starts at `offset` of a key; nil if the bytes are not a component of that type.
    public static func componentEnd(at offset: Int, in key: UnsafeRawBufferPointer, _ type: ColumnType, descending: Bool = false) -> Int? {
        let flip: UInt8 = descending ? 0xFF : 0
        guard offset >= 0, offset < key.count else { return nil }
        if key[offset] == nullTag ^ flip { return offset + 1 }
        var end: Int
        switch type {
        case .bool: end = offset + 2
        case .int16, .int32, .int64, .float, .double, .date, .reference: end = offset + wordSize
        case .uuid: end = offset + 17
        case .text, .bytes:
            guard let found = key[(offset + 1)...].firstIndex(of: flip) else { return nil }
            end = found + 1
        case .decimal:
            guard offset + 1 < key.count else { return nil }
            let kind = key[offset + 1] ^ flip
            end = offset + 2
            if kind == 1 || kind == 3 {
                // Four bytes of magnitude, the digits, and an end byte, which is complemented in negative numbers.
                let last = kind == 1 ? 0xFF ^ flip : flip
                guard end + 4 <= key.count, let found = key[(end + 4)...].firstIndex(of: last) else { return nil }
                end = found + 1
            }
        case .value: return nil
        }
        return end <= key.count ? end : nil
    }

    public func append(bool value: Bool, descending: Bool = false) {
        component(descending) { append(value ? 1 : 0 as UInt8) }
    }

    /// NaN sorts before every number; minus zero is zero.
    public func append(double value: Double, descending: Bool = false) {
        appendWord(Self.word(of: value), descending)
    }

    /// The eight bytes that encode a number, as one word.
    @inline(__always)
    package static func word(of value: Double) -> UInt64 {
        guard !value.isNaN else { return 0 }
        let pattern = (value == 0 ? 0.0 : value).bitPattern
        return pattern >> 63 == 0 ? pattern | (1 << 63) : ~pattern
    }

    public func append(uuid value: (UInt64, UInt64), descending: Bool = false) {
        component(descending) {
            withUnsafeBytes(of: value) { append($0) }
        }
    }

    public func append(reference value: RowReference, descending: Bool = false) {
        appendWord(value.rawValue, descending)
    }

    public func append(text value: String, descending: Bool = false) {
        var value = value
        value.withUTF8 { append(bytes: UnsafeRawBufferPointer($0), descending: descending) }
    }

    /// Text or bytes. 0 is escaped as 1 1, 1 as 1 2; the end is 0.
    public func append(bytes value: UnsafeRawBufferPointer, descending: Bool = false) {
        component(descending) {
            appendEscaped(value)
            append(0 as UInt8)
        }
    }

    /// Appends the start that every text with this prefix shares. For ranges, not for entries.
    public func append(textPrefix value: String, descending: Bool = false) {
        var value = value
        component(descending) { value.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0)) } }
    }

    private func appendEscaped(_ value: UnsafeRawBufferPointer) {
        guard Self.needsEscapes(value) else { return append(value) }
        for byte in value {
            if byte <= 1 { append(1 as UInt8) }
            append(byte <= 1 ? byte + 1 : byte)
        }
    }

    /// Whether any byte is 0 or 1. Tests eight at a time.
    @inline(__always)
    private static func needsEscapes(_ value: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        while at &+ 8 <= value.count {
            let word = value.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            // If a byte is less than 2, the subtraction borrows into its high bit, which was clear.
            if (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
            at &+= 8
        }
        while at < value.count {
            if value[at] <= 1 { return true }
            at &+= 1
        }
        return false
    }

    /// The order is NaN, negative numbers, zero, positive numbers. A number is encoded as its magnitude and its digits, each plus one,
    /// then a zero; all complemented for a negative number.
    public func append(decimal value: StoredDecimal, descending: Bool = false) {
        component(descending) {
            guard !value.isNaN else { return append(0 as UInt8) }
            let (digits, magnitude) = value.normalized
            guard !digits.isEmpty else { return append(2 as UInt8) }
            append(value.isNegative ? 1 : 3 as UInt8)
            let flip: UInt8 = value.isNegative ? 0xFF : 0
            let biased = UInt32(bitPattern: Int32(magnitude)) ^ (1 << 31)
            for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: biased >> shift) ^ flip) }
            for digit in digits { append((digit + 1) ^ flip) }
            append(0 ^ flip)
        }
    }

    /// Appends one column of a row. A `value` column has no key and counts as null.
    @inline(__always)
    public func append(column access: ColumnAccess, of row: UnsafeRowView, descending: Bool = false) {
        guard !access.isAbsent, !row.isNull(access) else { return appendNull(descending: descending) }
        switch access.type {
        case .bool: append(bool: row.int64(access) != 0, descending: descending)
        case .int16, .int32, .int64: append(int64: row.int64(access), descending: descending)
        case .float, .double, .date: append(double: row.double(access), descending: descending)
        case .uuid: append(uuid: row.uuid(access), descending: descending)
        case .reference: append(reference: row.reference(access), descending: descending)
        case .decimal: append(decimal: row.decimal(access), descending: descending)
        case .text, .bytes: append(bytes: row.bytes(access), descending: descending)
        // No index uses such a column.
        case .value: appendNull(descending: descending)
        }
    }

    /// Appends the bytes of a whole key.
    func append(key: UnsafeRawBufferPointer) { append(key) }

    /// Appends a term and the byte that ends it.
    @inline(__always)
    func append(term: UnsafeRawBufferPointer) {
        append(term)
        append(Self.termEnd)
    }

    static let termEnd: UInt8 = 0

    /// Appends the six bytes of row number that end an entry.
    @inline(__always)
    func append(row: UInt64) {
        // Stores eight bytes; the last two are overwritten by the next append.
        room(8).storeBytes(of: (row << 16).bigEndian, as: UInt64.self)
        used &+= Self.rowSuffixSize
    }

    static let rowSuffixSize = 6
}
