/// Generates the same numbers for the same seed, so that a failure can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    package mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

extension SeededGenerator {
    /// A part of the bytes from their start, or all of them with one to three changed.
    package mutating func damaged(_ bytes: [UInt8], isCut: Bool) -> [UInt8] {
        guard !isCut else { return Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &self))) }
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            damaged[Int.random(in: 0..<bytes.count, using: &self)] = UInt8.random(in: 0...255, using: &self)
        }
        return damaged
    }
}
