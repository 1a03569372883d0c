/// A prefix code whose symbols are ordered by the lengths of their codes. Source: RFC 1951, section 3.2.2.
///
/// Codes of at most ten bits are looked up in a table, longer ones are found bit by bit.
///
/// Invariants:
/// (1) `table` has an entry for each pattern of `tableBits` bits: a symbol, and the length of its code, or zero where no short code fits.
/// (2) `counts[n]` is the number of codes of length n. Their sum is the number of `symbols` in use, which is at most `symbolMax`.
/// (3) The code is complete, or it has at most one symbol, whose code is one bit long.
struct HuffmanCode: ~Copyable {
    static let lengthMax = 15
    /// The most symbols of a code in DEFLATE. The fixed code of literals has them all.
    static let symbolMax = 288
    private static let tableBits = 10

    private let kind: InflateFault.Code
    /// A symbol in the upper twelve bits, the length of its code in the lower four.
    private let table: UnsafeMutableBufferPointer<UInt16>
    private var counts = [Int](repeating: 0, count: lengthMax + 1)
    /// By the codes' length, then by symbol.
    private var symbols = [UInt16](repeating: 0, count: symbolMax)

    /// A code without symbols.
    init(_ kind: InflateFault.Code) {
        self.kind = kind
        table = .allocate(capacity: 1 << Self.tableBits)
        table.initialize(repeating: 0)
    }

    deinit { table.deallocate() }

    /// Makes the code anew. Accepts the sets of lengths that zlib accepts: complete ones, and one or no symbol of one bit.
    /// - Parameter lengths: each symbol's number of bits, at most 15; zero for a symbol that does not occur.
    /// - Returns: false if the lengths make no code.
    mutating func build(_ lengths: ArraySlice<UInt8>) -> Bool {
        precondition(lengths.count <= Self.symbolMax)
        for length in counts.indices { counts[length] = 0 }
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        guard let firsts = firstCodes() else { return false }
        order(lengths)
        fill(lengths, firsts)
        return true
    }

    /// The first code of each length; nil if the lengths take more patterns than there are, or leave some without a symbol.
    private func firstCodes() -> [Int]? {
        var firsts = [Int](repeating: 0, count: Self.lengthMax + 1)
        var code = 0, left = 1
        for length in 1...Self.lengthMax {
            code = (code + counts[length - 1]) << 1
            firsts[length] = code
            left = left * 2 - counts[length]
            guard left >= 0 else { return nil }
        }
        let isShort = counts[2...].allSatisfy { $0 == 0 }
        return left == 0 || isShort && kind != .codeLength ? firsts : nil
    }

    private mutating func order(_ lengths: ArraySlice<UInt8>) {
        var offsets = [Int](repeating: 0, count: Self.lengthMax + 1)
        for length in 1..<Self.lengthMax { offsets[length + 1] = offsets[length] + counts[length] }
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[offsets[Int(length)]] = UInt16(symbol)
            offsets[Int(length)] += 1
        }
    }

    private func fill(_ lengths: ArraySlice<UInt8>, _ firsts: [Int]) {
        table.update(repeating: 0)
        var codes = firsts
        for (symbol, length) in lengths.enumerated() where length > 0 {
            let length = Int(length), code = codes[length]
            codes[length] += 1
            guard length <= Self.tableBits else { continue }
            // A code's highest bit comes first in the input.
            let pattern = Int(UInt16(code).bitReversed >> UInt16(16 - length))
            for index in stride(from: pattern, to: table.count, by: 1 << length) { table[index] = UInt16(symbol << 4 | length) }
        }
    }

    /// Reads a symbol. The reader holds at least fifteen bits, or all that are left.
    @inline(__always)
    func symbol(_ bits: inout BitReader) throws(InflateFault) -> Int {
        let entry = Int(table[bits.peek(Self.tableBits)]), length = entry & 15
        guard length > 0, length <= bits.held else { return try longSymbol(&bits) }
        bits.drop(length)
        return entry >> 4
    }

    /// Also finds which fault there is.
    private func longSymbol(_ bits: inout BitReader) throws(InflateFault) -> Int {
        let pattern = bits.peek(Self.lengthMax)
        var code = 0, first = 0, offset = 0
        for length in 1...Self.lengthMax {
            guard length <= bits.held else { throw bits.fault(.cutOff) }
            code |= pattern >> (length - 1) & 1
            if code - first < counts[length] {
                bits.drop(length)
                return Int(symbols[offset + code - first])
            }
            offset += counts[length]
            first = (first + counts[length]) << 1
            code <<= 1
        }
        throw bits.fault(.unknownSymbol(kind))
    }
}

extension UInt16 {
    fileprivate var bitReversed: UInt16 {
        var value = self
        value = value >> 1 & 0x5555 | (value & 0x5555) << 1
        value = value >> 2 & 0x3333 | (value & 0x3333) << 2
        value = value >> 4 & 0x0F0F | (value & 0x0F0F) << 4
        return value.byteSwapped
    }
}
