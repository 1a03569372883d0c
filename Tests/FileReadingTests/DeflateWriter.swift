/// Writes blocks of raw DEFLATE bit by bit, wrong ones too.
struct DeflateWriter {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    /// A number, its lowest bit first.
    mutating func bits(_ value: Int, _ count: Int) {
        for position in 0..<count {
            if bitCount % 8 == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> position & 1) << UInt8(bitCount % 8)
            bitCount += 1
        }
    }

    /// A code, its highest bit first.
    mutating func code(_ value: Int, _ count: Int) {
        for position in (0..<count).reversed() { bits(value >> position & 1, 1) }
    }

    mutating func header(_ kind: Int, isLast: Bool = true) {
        bits(isLast ? 1 : 0, 1)
        bits(kind, 2)
    }

    mutating func align() { bitCount = bytes.count * 8 }

    mutating func stored(_ content: [UInt8], isLast: Bool = true, complement: Int? = nil) {
        header(0, isLast: isLast)
        align()
        bits(content.count, 16)
        bits(complement ?? content.count ^ 0xFFFF, 16)
        for byte in content { bits(Int(byte), 8) }
    }

    /// A symbol of the fixed code of literals and lengths.
    mutating func fixed(_ symbol: Int) {
        switch symbol {
        case ..<144: code(0x30 + symbol, 8)
        case ..<256: code(0x190 + symbol - 144, 9)
        case ..<280: code(symbol - 256, 7)
        default: code(0xC0 + symbol - 280, 8)
        }
    }

    /// The header of a dynamic block.
    /// - Parameter codeLengths: the lengths of the codes for lengths, by symbol.
    mutating func dynamic(literals: Int, distances: Int, codeLengths: [Int: Int]) {
        header(2)
        bits(literals - 257, 5)
        bits(distances - 1, 5)
        bits(15, 4)
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] { bits(codeLengths[symbol] ?? 0, 3) }
    }
}
