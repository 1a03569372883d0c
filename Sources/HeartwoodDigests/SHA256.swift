/// SHA-256. Off Apple's platforms Foundation has none.
/// Source: FIPS 180-4, https://csrc.nist.gov/pubs/fips/180-4/upd1/final
package struct SHA256 {
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
    package static let blockBytes = 64

    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
    /// Fewer than a block's bytes, which no block has taken yet.
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    package init() {}

    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(message)
        return hash.finished()
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
        if isDone == nil { Array(bytes).withUnsafeBytes { update($0) } }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !pending.isEmpty {
            let missing = rest.prefix(Self.blockBytes - pending.count)
            pending.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard pending.count == Self.blockBytes else { return }
            let block = pending
            block.withUnsafeBytes { mix($0) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / Self.blockBytes * Self.blockBytes
        mix(UnsafeRawBufferPointer(rebasing: rest.prefix(whole)))
        pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The hash of the bytes so far.
    package consuming func finished() -> [UInt8] {
        let bitCount = length &* 8
        var padding: [UInt8] = [0x80]
        while (pending.count + padding.count) % Self.blockBytes != 56 { padding.append(0) }
        for shift in stride(from: UInt64(56), through: 0, by: -8) { padding.append(UInt8(truncatingIfNeeded: bitCount >> shift)) }
        update(padding)
        let words = state
        return words.indices.flatMap { index in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: words[index] >> UInt32($0)) } }
    }

    /// Takes whole blocks.
    private mutating func mix(_ blocks: UnsafeRawBufferPointer) {
        var state = state
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            Self.constants.withUnsafeBufferPointer { constants in
                for start in stride(from: 0, to: blocks.count, by: Self.blockBytes) {
                    Self.schedule(blocks, start, words)
                    state &+= Self.rounds(state, words, constants)
                }
            }
        }
        self.state = state
    }

    /// The message schedule of one block: FIPS 180-4, section 6.2.2, step 1.
    @inline(__always)
    private static func schedule(_ blocks: UnsafeRawBufferPointer, _ start: Int, _ words: UnsafeMutableBufferPointer<UInt32>) {
        for index in 0..<16 {
            words[index] = UInt32(bigEndian: blocks.loadUnaligned(fromByteOffset: start &+ index &* 4, as: UInt32.self))
        }
        for index in 16..<64 {
            let a = words[index &- 15], b = words[index &- 2]
            let s0 = (a >> 7 | a << 25) ^ (a >> 18 | a << 14) ^ a >> 3
            let s1 = (b >> 17 | b << 15) ^ (b >> 19 | b << 13) ^ b >> 10
            words[index] = words[index &- 16] &+ s0 &+ words[index &- 7] &+ s1
        }
    }

    /// The 64 rounds of one block: section 6.2.2, steps 2 and 3. Eight at a time, so that no value moves from one variable to the next.
    @inline(__always)
    private static func rounds(
        _ state: SIMD8<UInt32>, _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3]), (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var index = 0
        while index < 64 {
            round(a, b, c, &d, e, f, g, &h, constants[index] &+ words[index])
            round(h, a, b, &c, d, e, f, &g, constants[index &+ 1] &+ words[index &+ 1])
            round(g, h, a, &b, c, d, e, &f, constants[index &+ 2] &+ words[index &+ 2])
            round(f, g, h, &a, b, c, d, &e, constants[index &+ 3] &+ words[index &+ 3])
            round(e, f, g, &h, a, b, c, &d, constants[index &+ 4] &+ words[index &+ 4])
            round(d, e, f, &g, h, a, b, &c, constants[index &+ 5] &+ words[index &+ 5])
            round(c, d, e, &f, g, h, a, &b, constants[index &+ 6] &+ words[index &+ 6])
            round(b, c, d, &e, f, g, h, &a, constants[index &+ 7] &+ words[index &+ 7])
            index &+= 8
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ word: UInt32
    ) {
        let s1 = (e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)
        let first = h &+ s1 &+ (e & f ^ ~e & g) &+ word
        let s0 = (a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)
        d = d &+ first
        h = first &+ s0 &+ (a & b ^ a & c ^ b & c)
    }
}
