/// The indexes of an entity's properties by name.
///
/// Key-value coding looks a name up for each value. A name of ASCII that fits in two words is compared with those of the properties, which takes a
/// fifth of hashing it.
struct PropertyNames {
    private struct ShortName {
        /// The bytes of the name, then zeroes.
        var low: UInt64
        /// The length in the highest byte.
        var high: UInt64

        /// Stands for a name of another kind, and differs from each short one by its length.
        static let none = ShortName(low: 0, high: .max)

        private init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

        /// - Returns: nil for a name that is longer, or not of ASCII, so that it may be equal to one with other bytes.
        @inline(__always)
        init?(_ name: String) {
            var words: (UInt64, UInt64) = (0, 0)
            let count = withUnsafeMutableBytes(of: &words) { words in
                name.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
                    guard bytes.count < words.count else { return nil }
                    words.copyMemory(from: UnsafeRawBufferPointer(bytes))
                    return bytes.count
                } ?? nil
            }
            guard let count, (words.0 | words.1) & ASCIIText.highBits == 0 else { return nil }
            (low, high) = (UInt64(littleEndian: words.0), UInt64(littleEndian: words.1) | UInt64(count) << 56)
        }
    }

    private let all: [String: Int]
    /// By property index; empty for an entity with so many properties that hashing is faster.
    private let short: [ShortName]

    private static let shortMax = 32

    /// - Parameter names: by property index.
    init(_ names: [String], _ all: [String: Int]) {
        self.all = all
        short = names.count <= Self.shortMax ? names.map { ShortName($0) ?? .none } : []
    }

    subscript(name: String) -> Int? {
        if !short.isEmpty, let wanted = ShortName(name), let index = index(of: wanted) { return index }
        return all[name]
    }

    /// A loop over memory: in a debug build, where a search of an array is generic code, it takes a tenth of the time of fetching objects.
    @inline(__always)
    private func index(of wanted: ShortName) -> Int? {
        short.withUnsafeBufferPointer { names in
            guard let first = names.baseAddress else { return nil }
            var index = 0
            while index < names.count {
                if first[index].low == wanted.low, first[index].high == wanted.high { return index }
                index += 1
            }
            return nil
        }
    }
}
