/// A set of the 16-bit numbers that tables and indexes have.
///
/// Bits in place of `Set`: the first use of a generic type with a protocol's conformance makes the runtime search every image
/// of the process for it, which took a third of an opening. And words of the type that other lists of an opening have: for another array
/// the runtime makes another type, which takes a twentieth.
struct IDSet {
    private var words: [Int] = []

    /// - Returns: whether it was not there before.
    mutating func insert(_ id: UInt16) -> Bool {
        let word = Int(id) / Int.bitWidth, mask = 1 << (Int(id) % Int.bitWidth)
        while words.count <= word { words.append(0) }
        defer { words[word] |= mask }
        return words[word] & mask == 0
    }

    func contains(_ id: UInt16) -> Bool {
        let word = Int(id) / Int.bitWidth
        return word < words.count && words[word] & 1 << (Int(id) % Int.bitWidth) != 0
    }
}
