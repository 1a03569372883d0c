/// XXH64, the checksum of frames and superblocks, in one call over a buffer.
/// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    @inline(__always)
    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value &<< count | value &>> (64 &- count)
    }

    @inline(__always)
    private static func round(_ accumulator: UInt64, _ input: UInt64) -> UInt64 {
        rotate(accumulator &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func merge(_ hash: UInt64, _ accumulator: UInt64) -> UInt64 {
        (hash ^ round(0, accumulator)) &* prime1 &+ prime4
    }

    static func hash(_ buffer: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        let count = buffer.count
        guard let base = buffer.baseAddress, count > 0 else { return finish(seed &+ prime5) }
        @inline(__always) func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var offset = 0
        var hash: UInt64
        if count >= 32 {
            var a = seed &+ prime1 &+ prime2
            var b = seed &+ prime2
            var c = seed
            var d = seed &- prime1
            let limit = count &- 32
            repeat {
                a = round(a, word(offset))
                b = round(b, word(offset &+ 8))
                c = round(c, word(offset &+ 16))
                d = round(d, word(offset &+ 24))
                offset &+= 32
            } while offset <= limit
            hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
            hash = merge(merge(merge(merge(hash, a), b), c), d)
        } else {
            hash = seed &+ prime5
        }
        hash = hash &+ UInt64(count)
        while offset &+ 8 <= count {
            hash = rotate(hash ^ round(0, word(offset)), 27) &* prime1 &+ prime4
            offset &+= 8
        }
        if offset &+ 4 <= count {
            let half = UInt64(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            hash = rotate(hash ^ half &* prime1, 23) &* prime2 &+ prime3
            offset &+= 4
        }
        while offset < count {
            let byte = UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
            hash = rotate(hash ^ byte &* prime5, 11) &* prime1
            offset &+= 1
        }
        return finish(hash)
    }

    @inline(__always)
    private static func finish(_ value: UInt64) -> UInt64 {
        var hash = value
        hash = (hash ^ hash &>> 33) &* prime2
        hash = (hash ^ hash &>> 29) &* prime3
        return hash ^ hash &>> 32
    }
}
