/// A set of the 16-bit numbers of tables or indexes.
///
/// Not a `Set`: at the first use of a generic type with a conformance, the runtime searches every image of the process for it, which
/// took a third of an opening. `Int` words: opening uses `[Int]` elsewhere, and an array of another type would cost the runtime one
/// more type, a twentieth of an opening.
struct IDSet {
    private var words: [Int] = []

    /// - Returns: whether the set did not have it before.
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
