/// A set of the 16-bit numbers that tables and indexes have.
///
/// Bits in place of `Set`: the first use of a generic type with a protocol's conformance makes the runtime search every image
/// of the process for it, which took a third of an opening.
struct IDSet {
    private var words: [UInt64] = []

    /// - Returns: whether it was not there before.
    mutating func insert(_ id: UInt16) -> Bool {
        let word = Int(id) / 64, mask = UInt64(1) << UInt64(id % 64)
        while words.count <= word { words.append(0) }
        defer { words[word] |= mask }
        return words[word] & mask == 0
    }

    func contains(_ id: UInt16) -> Bool {
        let word = Int(id) / 64
        return word < words.count && words[word] & 1 << UInt64(id % 64) != 0
    }
}
