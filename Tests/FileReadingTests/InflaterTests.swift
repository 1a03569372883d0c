import Testing

@testable import HeartwoodFileReading

/// Streams of raw DEFLATE, written here bit by bit.
@Suite struct InflaterTests {
    private static func stream(_ write: (inout DeflateWriter) -> Void) -> [UInt8] {
        var writer = DeflateWriter()
        write(&writer)
        return writer.bytes
    }

    private static func text(_ write: (inout DeflateWriter) -> Void) throws -> String {
        String(decoding: try Inflater.inflate(stream(write), sizeMax: 1000).bytes, as: UTF8.self)
    }

    private static func fault(sizeMax: Int = 1000, _ write: (inout DeflateWriter) -> Void) -> InflateFault? {
        do {
            _ = try Inflater.inflate(stream(write), sizeMax: sizeMax)
            return nil
        } catch { return error }
    }

    // MARK: Whole streams

    @Test
    func `Stored blocks are read: none, one and several, empty ones too`() throws {
        #expect(try Self.text { $0.stored([]) } == "")
        #expect(try Self.text { $0.stored(Array("abc".utf8)) } == "abc")
        #expect(try Self.text {
            $0.stored(Array("a".utf8), isLast: false)
            $0.stored([], isLast: false)
            $0.stored(Array("bc".utf8))
        } == "abc")
    }

    @Test
    func `A fixed block has literals of eight and nine bits, and repetitions that reach into themselves`() throws {
        #expect(try Self.text {
            $0.header(1)
            $0.fixed(256)
        } == "")
        #expect(try Self.text {
            $0.header(1)
            for symbol in [97, 0xC3, 0xA9] { $0.fixed(symbol) }
            // Three bytes from three bytes back, then ten from one byte back.
            $0.fixed(257)
            $0.code(2, 5)
            $0.fixed(98)
            $0.fixed(264)
            $0.code(0, 5)
            $0.fixed(256)
        } == "aéaébbbbbbbbbbb")
    }

    @Test
    func `Each kind of block may follow each other`() throws {
        let writers: [(inout DeflateWriter, Bool) -> Void] = [
            { $0.stored(Array("s".utf8), isLast: $1) },
            { writer, isLast in
                writer.header(1, isLast: isLast)
                writer.fixed(102)
                writer.fixed(256)
            },
        ]
        for first in writers {
            for second in writers {
                let both = Self.stream {
                    first(&$0, false)
                    second(&$0, true)
                }
                let parts = try [first, second].map { part in try Inflater.inflate(Self.stream { part(&$0, true) }, sizeMax: 10).bytes }
                #expect(try Inflater.inflate(both, sizeMax: 10).bytes == parts[0] + parts[1])
            }
        }
    }

    /// Symbols 97 and 256 have one bit each. Distances are given by the caller.
    private static func dynamic(_ writer: inout DeflateWriter, distance: [Int], codes: (inout DeflateWriter) -> Void) {
        // Codes of lengths: 0 is "00", 1 is "01", 2 is "10", 18 is "11".
        writer.dynamic(literals: 257, distances: distance.count, codeLengths: [0: 2, 1: 2, 2: 2, 18: 2])
        writer.code(3, 2)
        writer.bits(97 - 11, 7)
        writer.code(1, 2)
        writer.code(3, 2)
        writer.bits(138 - 11, 7)
        writer.code(3, 2)
        writer.bits(20 - 11, 7)
        writer.code(1, 2)
        for length in distance { writer.code(length, 2) }
        codes(&writer)
    }

    @Test
    func `A dynamic block may have no distance, one, or several`() throws {
        for distance in [[0], [1], [0, 1], [1, 1], [2, 2, 1]] {
            #expect(try Self.text {
                Self.dynamic(&$0, distance: distance) { writer in
                    for bit in [0, 0, 1] { writer.code(bit, 1) }
                }
            } == "aa", "\(distance)")
        }
    }

    @Test
    func `Bytes behind the last block are counted out`() throws {
        for rest in [[], [0], [0xFF], [UInt8](repeating: 7, count: 20)] {
            let bytes = Self.stream { $0.stored([1, 2, 3]) }
            let inflated = try Inflater.inflate(bytes + rest, sizeMax: 3)
            #expect(inflated.bytes == [1, 2, 3] && inflated.inputCount == bytes.count)
        }
    }

    // MARK: Faults

    @Test
    func `No bytes, and every part of a stream, are cut off`() {
        #expect(Self.fault { _ in } == InflateFault(reason: .cutOff, bit: 0))
        let whole = Self.stream {
            $0.stored([1, 2, 3], isLast: false)
            Self.dynamic(&$0, distance: [1]) { writer in
                for bit in [0, 0, 1] { writer.code(bit, 1) }
            }
        }
        for count in 0..<whole.count {
            let part = Array(whole.prefix(count))
            let fault = #expect(throws: InflateFault.self) { try Inflater.inflate(part, sizeMax: 100) }
            #expect(fault?.reason == .cutOff && (fault?.byte ?? .max) <= count, "\(count)")
        }
    }

    @Test
    func `A header that means nothing is refused`() {
        #expect(Self.fault { $0.header(3) } == InflateFault(reason: .blockKind, bit: 3))
        #expect(Self.fault { $0.stored([1], complement: 0) }?.reason == .storedLength)
        #expect(Self.fault { $0.dynamic(literals: 287, distances: 1, codeLengths: [:]) }?.reason == .symbolCount)
        #expect(Self.fault { $0.dynamic(literals: 257, distances: 31, codeLengths: [:]) }?.reason == .symbolCount)
    }

    @Test
    func `Codes that are too many or leave a gap are refused`() {
        let counts: [([Int: Int], isCode: Bool)] = [
            ([:], false), ([0: 1], false), ([0: 1, 1: 1, 2: 1], false), ([0: 1, 1: 2], false), ([0: 2, 1: 2, 18: 2], false), ([0: 1, 18: 1], true),
        ]
        for (lengths, isCode) in counts {
            let reason = Self.fault { $0.dynamic(literals: 257, distances: 1, codeLengths: lengths) }?.reason
            #expect((reason == .codeLengths(.codeLength)) == !isCode, "\(lengths)")
        }
        for distance in [[2], [1, 2], [1, 1, 1], [2, 2, 2]] {
            #expect(Self.fault { Self.dynamic(&$0, distance: distance) { $0.bits(0, 8) } }?.reason == .codeLengths(.distance), "\(distance)")
        }
    }

    @Test
    func `A repetition needs a length before it, and room`() {
        #expect(Self.fault {
            $0.dynamic(literals: 257, distances: 1, codeLengths: [0: 1, 16: 1])
            $0.code(1, 1)
            $0.bits(0, 2)
        }?.reason == .repetition)
        #expect(Self.fault {
            $0.dynamic(literals: 257, distances: 1, codeLengths: [0: 1, 18: 1])
            for _ in 0..<2 {
                $0.code(1, 1)
                $0.bits(127, 7)
            }
        }?.reason == .repetition)
        #expect(Self.fault {
            $0.dynamic(literals: 257, distances: 1, codeLengths: [0: 1, 18: 1])
            for times in [138, 120] {
                $0.code(1, 1)
                $0.bits(times - 11, 7)
            }
        }?.reason == .noEnd)
    }

    @Test
    func `A symbol that no block has is refused`() {
        for symbol in [286, 287] {
            #expect(Self.fault {
                $0.header(1)
                $0.fixed(symbol)
                $0.bits(0, 20)
            }?.reason == .unknownSymbol(.literal))
        }
        for distance in [30, 31] {
            #expect(Self.fault {
                $0.header(1)
                $0.fixed(97)
                $0.fixed(257)
                $0.code(distance, 5)
                $0.bits(0, 20)
            }?.reason == .unknownSymbol(.distance))
        }
    }

    @Test
    func `A distance beyond the start is refused, and says how many bytes there are`() {
        for made in 0...3 {
            let fault = Self.fault {
                $0.header(1)
                for _ in 0..<made { $0.fixed(97) }
                $0.fixed(257)
                $0.code(3, 5)
                $0.bits(0, 20)
            }
            #expect(fault?.reason == .distance(4, available: made))
            #expect(fault?.text.contains("4 bytes back, and only \(made) are there") == true)
        }
    }

    @Test
    func `Output ends at the bound, for literals, repetitions and stored blocks`() throws {
        let literals = Self.stream {
            $0.header(1)
            for _ in 0..<5 { $0.fixed(97) }
            $0.fixed(256)
        }
        let stored = Self.stream { $0.stored([1, 2, 3, 4, 5]) }
        let repeated = Self.stream {
            $0.header(1)
            $0.fixed(97)
            $0.fixed(258)
            $0.code(0, 5)
            $0.fixed(256)
        }
        for bytes in [literals, stored, repeated] {
            for sizeMax in 0...6 {
                if sizeMax >= 5 {
                    #expect(try Inflater.inflate(bytes, sizeMax: sizeMax).bytes.count == 5)
                } else {
                    let fault = #expect(throws: InflateFault.self) { try Inflater.inflate(bytes, sizeMax: sizeMax) }
                    #expect(fault?.reason == .tooLong(sizeMax: sizeMax))
                }
            }
        }
    }

    @Test
    func `A small stream of many bytes is stopped at the bound`() {
        let bomb = Self.stream {
            $0.header(1)
            $0.fixed(0)
            for _ in 0..<10_000 {
                $0.fixed(285)
                $0.code(0, 5)
            }
            $0.fixed(256)
        }
        let fault = #expect(throws: InflateFault.self) { try Inflater.inflate(bomb, sizeMax: 100_000) }
        #expect(fault?.reason == .tooLong(sizeMax: 100_000))
        #expect((try? Inflater.inflate(bomb, sizeMax: 3_000_000))?.bytes == [UInt8](repeating: 0, count: 2_580_001))
    }

    @Test
    func `Any bytes are inflated or refused, with a position within them`() {
        // All streams of a byte, some of two bytes, and a dynamic block with each bit changed.
        var streams = (0...255).map { [UInt8($0)] } + stride(from: 0, to: 65536, by: 13).map { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let whole = Self.stream { Self.dynamic(&$0, distance: [1, 1]) { $0.bits(0b11001, 5) } }
        for bit in 0..<whole.count * 8 {
            var flipped = whole
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            streams.append(flipped)
        }
        for bytes in streams {
            do {
                _ = try Inflater.inflate(bytes, sizeMax: 300)
            } catch {
                #expect(error.bit >= 0 && error.bit <= bytes.count * 8)
            }
        }
    }
}
