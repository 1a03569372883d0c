/// A range of an index: entries `lower <= entry < upper`, by bytes. An entry is its key and six bytes of row number.
public struct KeyRange: Sendable, Equatable {
    public var lower: [UInt8]?
    public var upper: [UInt8]?

    public init(lower: [UInt8]? = nil, upper: [UInt8]? = nil) {
        self.lower = lower
        self.upper = upper
    }

    public static let all = KeyRange()

    /// Whether no entry can be in the range.
    public var isEmpty: Bool {
        guard let lower, let upper else { return upper?.isEmpty ?? false }
        return !lower.lexicographicallyPrecedes(upper)
    }

    /// Every entry that starts with these bytes.
    public static func prefix(_ key: [UInt8]) -> KeyRange {
        KeyRange(lower: key, upper: successor(of: key))
    }

    /// The least key greater than every key that starts with `key`; nil if none is greater.
    public static func successor(of key: [UInt8]) -> [UInt8]? {
        var result = key
        while let last = result.last {
            if last < 0xFF {
                result[result.count - 1] = last + 1
                return result
            }
            result.removeLast()
        }
        return nil
    }
}
