/// The two codes of a compressed block. Source: RFC 1951, sections 3.2.6 and 3.2.7.
struct BlockCodes: ~Copyable {
    static let endSymbol = 256
    private static let literalMax = 286, distanceMax = 30
    /// The order in which a block states the lengths of the code for lengths.
    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    var literals = HuffmanCode(.literal)
    var distances = HuffmanCode(.distance)
    private var lengthCode = HuffmanCode(.codeLength)

    private var isFixed = false

    /// Makes the codes of a block that states none, unless they are made.
    mutating func makeFixed() {
        guard !isFixed else { return }
        let literalLengths = (0..<288).map { symbol -> UInt8 in symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8 }
        isFixed = literals.build(literalLengths[...]) && distances.build([UInt8](repeating: 5, count: 32)[...])
        precondition(isFixed)
    }

    /// Reads the codes that a block states.
    mutating func read(_ bits: inout BitReader) throws(InflateFault) {
        let literalCount = try bits.take(5) + 257, distanceCount = try bits.take(5) + 1
        guard literalCount <= Self.literalMax, distanceCount <= Self.distanceMax else { throw bits.fault(.symbolCount) }
        try readLengthCode(&bits)
        let lengths = try readLengths(literalCount + distanceCount, &bits)
        guard lengths[Self.endSymbol] > 0 else { throw bits.fault(.noEnd) }
        guard literals.build(lengths[..<literalCount]) else { throw bits.fault(.codeLengths(.literal)) }
        guard distances.build(lengths[literalCount...]) else { throw bits.fault(.codeLengths(.distance)) }
    }

    private mutating func readLengthCode(_ bits: inout BitReader) throws(InflateFault) {
        var lengths = [UInt8](repeating: 0, count: Self.lengthOrder.count)
        for index in 0..<(try bits.take(4) + 4) { lengths[Self.lengthOrder[index]] = UInt8(try bits.take(3)) }
        guard lengthCode.build(lengths[...]) else { throw bits.fault(.codeLengths(.codeLength)) }
    }

    private func readLengths(_ count: Int, _ bits: inout BitReader) throws(InflateFault) -> [UInt8] {
        var lengths: [UInt8] = []
        lengths.reserveCapacity(count)
        while lengths.count < count {
            bits.refill()
            let symbol = try lengthCode.symbol(&bits)
            guard symbol > 15 else {
                lengths.append(UInt8(symbol))
                continue
            }
            let (value, times) = try repeatedLength(symbol, after: lengths.last, &bits)
            guard times <= count - lengths.count else { throw bits.fault(.repetition) }
            lengths.append(contentsOf: repeatElement(value, count: times))
        }
        return lengths
    }

    private func repeatedLength(
        _ symbol: Int, after last: UInt8?, _ bits: inout BitReader
    ) throws(InflateFault) -> (value: UInt8, times: Int) {
        switch symbol {
        case 16:
            guard let last else { throw bits.fault(.repetition) }
            return (last, 3 + (try bits.takeHeld(2)))
        case 17: return (0, 3 + (try bits.takeHeld(3)))
        default: return (0, 11 + (try bits.takeHeld(7)))
        }
    }
}
