/// An inflater of raw DEFLATE: blocks without the header and the checksum of zlib or gzip.
///
/// It accepts what zlib's inflate accepts, and its work is in proportion to the bytes that it reads and makes.
/// Source: RFC 1951, https://www.rfc-editor.org/rfc/rfc1951; for incomplete codes zlib's inftrees.c, https://github.com/madler/zlib
///
/// Invariants:
/// (1) Each pass of a loop takes at least one bit or makes at least one byte, so no input keeps the inflater busy for ever.
/// (2) A distance is compared with the number of bytes that were made before any is copied.
/// (3) The output is never longer than the caller allows.
package struct Inflater: ~Copyable {
    /// Bytes, and the length of their compressed form.
    package struct Inflated: Equatable {
        package let bytes: [UInt8]
        /// In bytes. The input may have more bytes, which belong to no block.
        package let inputCount: Int
    }

    private var bits: BitReader
    private var output: InflatedOutput

    /// - Parameter sizeMax: the most bytes that the result may have.
    package static func inflate(_ bytes: [UInt8], sizeMax: Int) throws(InflateFault) -> Inflated {
        // A closure cannot say which error it throws.
        let result = bytes.withUnsafeBytes { bytes -> Result<Inflated, InflateFault> in
            var inflater = Inflater(bytes, sizeMax: sizeMax)
            do throws(InflateFault) { return .success(try inflater.run()) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private init(_ bytes: UnsafeRawBufferPointer, sizeMax: Int) {
        precondition(sizeMax >= 0)
        bits = BitReader(bytes)
        // Archives shrink to about a third, rarely to a hundredth.
        output = InflatedOutput(sizeMax: sizeMax, expected: bytes.count < sizeMax / 3 ? bytes.count * 3 : sizeMax)
    }

    private mutating func run() throws(InflateFault) -> Inflated {
        var fixed = BlockCodes(), stated = BlockCodes(), isLast = false
        while !isLast {
            isLast = try bits.take(1) == 1
            switch try bits.take(2) {
            case 0: try storedBlock()
            case 1:
                fixed.makeFixed()
                try block(fixed)
            case 2:
                try stated.read(&bits)
                try block(stated)
            default: throw bits.fault(.blockKind)
            }
        }
        bits.alignToByte()
        return Inflated(bytes: output.bytes, inputCount: bits.position / 8)
    }

    private func tooLong(_ bits: BitReader) -> InflateFault { bits.fault(.tooLong(sizeMax: output.sizeMax)) }

    // MARK: Blocks

    /// Source: RFC 1951, section 3.2.4.
    private mutating func storedBlock() throws(InflateFault) {
        bits.alignToByte()
        let length = try bits.take(16), complement = try bits.take(16)
        guard length == complement ^ 0xFFFF else { throw bits.fault(.storedLength) }
        bits.alignToByte()
        guard output.add(try bits.takeBytes(length)) else { throw tooLong(bits) }
    }

    private mutating func block(_ codes: borrowing BlockCodes) throws(InflateFault) {
        // The compiler keeps a local reader in registers.
        var bits = self.bits
        defer { self.bits = bits }
        while true {
            if bits.held < Self.bitsMax { bits.refill() }
            let symbol = try codes.literals.symbol(&bits)
            if symbol < BlockCodes.endSymbol {
                guard output.add(UInt8(truncatingIfNeeded: symbol)) else { throw tooLong(bits) }
            } else if symbol > BlockCodes.endSymbol {
                try repetition(symbol - BlockCodes.endSymbol - 1, codes, &bits)
            } else {
                return
            }
        }
    }

    /// The most bits of a length with its distance: twice a symbol, and five and thirteen bits more.
    private static let bitsMax = 48

    /// Source: RFC 1951, section 3.2.5.
    @inline(__always)
    private mutating func repetition(
        _ symbol: Int, _ codes: borrowing BlockCodes, _ bits: inout BitReader
    ) throws(InflateFault) {
        guard let length = try Self.value(symbol, lengthSpans, &bits) else { throw bits.fault(.unknownSymbol(.literal)) }
        guard let distance = try Self.value(try codes.distances.symbol(&bits), distanceSpans, &bits) else {
            throw bits.fault(.unknownSymbol(.distance))
        }
        guard distance <= output.count else { throw bits.fault(.distance(distance, available: output.count)) }
        guard output.repeatBytes(length, distance: distance) else { throw tooLong(bits) }
    }

    /// - Returns: nil for a symbol that has no meaning.
    @inline(__always)
    private static func value(_ symbol: Int, _ spans: [Span], _ bits: inout BitReader) throws(InflateFault) -> Int? {
        guard symbol < spans.count else { return nil }
        let span = spans[symbol]
        return Int(span.base) + (try bits.takeHeld(Int(span.extraBits)))
    }
}

/// The values that share a symbol; the bits behind the symbol select one of them.
private struct Span {
    let base: UInt16
    let extraBits: UInt8

    static func list(from first: Int, extraBits: [UInt8]) -> [Span] {
        var base = first
        return extraBits.map { bits in
            defer { base += 1 << Int(bits) }
            return Span(base: UInt16(base), extraBits: bits)
        }
    }
}

private let lengthSpans = Span.list(
    from: 3, extraBits: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5])
    // The longest length has a symbol of its own.
    + [Span(base: 258, extraBits: 0)]
private let distanceSpans = Span.list(
    from: 1, extraBits: [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13])
