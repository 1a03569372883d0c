/// MD5, where others prescribe it: the compiler tells private names of different files apart by it, and S3 checks a body by it. Off Apple's
/// platforms Foundation has none. Source: RFC 1321.
package enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    /// The whole parts of 2³² times the sines of 1 to 64, without their signs.
    private static let sines: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        message.withContiguousStorageIfAvailable { hash(UnsafeRawBufferPointer($0)) } ?? Array(message).withUnsafeBytes { hash($0) }
    }

    private static func hash(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        var state = SIMD4<UInt32>(0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
        let whole = message.count / 64 * 64
        mix(UnsafeRawBufferPointer(rebasing: message.prefix(whole)), &state)
        var tail = message.dropFirst(whole) + [0x80]
        while tail.count % 64 != 56 { tail.append(0) }
        let bitCount = UInt64(message.count) &* 8
        tail += (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (8 * $0)) }
        tail.withUnsafeBytes { mix($0, &state) }
        return state.indices.flatMap { index in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: state[index] >> UInt32($0)) } }
    }

    /// Takes whole blocks.
    private static func mix(_ blocks: UnsafeRawBufferPointer, _ state: inout SIMD4<UInt32>) {
        shifts.withUnsafeBufferPointer { shifts in
            sines.withUnsafeBufferPointer { sines in
                for start in stride(from: 0, to: blocks.count, by: 64) {
                    state &+= rounds(UnsafeRawBufferPointer(rebasing: blocks[start..<start + 64]), state, shifts, sines)
                }
            }
        }
    }

    /// Four loops of sixteen steps, each with its own function and order of words: RFC 1321, section 3.4.
    @inline(__always)
    private static func rounds(
        _ block: UnsafeRawBufferPointer, _ state: SIMD4<UInt32>, _ shifts: UnsafeBufferPointer<UInt32>, _ sines: UnsafeBufferPointer<UInt32>
    ) -> SIMD4<UInt32> {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        func step(_ index: Int, _ mixed: UInt32, _ word: Int) {
            let value = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: word &* 4, as: UInt32.self))
            let sum = a &+ mixed &+ sines[index] &+ value
            let shift = shifts[index >> 4 &* 4 &+ index & 3]
            (a, d, c, b) = (d, c, b, b &+ (sum &<< shift | sum &>> (32 &- shift)))
        }
        for index in 0..<16 { step(index, b & c | ~b & d, index) }
        for index in 16..<32 { step(index, d & b | ~d & c, (5 &* index &+ 1) & 15) }
        for index in 32..<48 { step(index, b ^ c ^ d, (3 &* index &+ 5) & 15) }
        for index in 48..<64 { step(index, c ^ (b | ~d), (7 &* index) & 15) }
        return SIMD4(a, b, c, d)
    }
}
