/// The sizes of an upload's parts. Servers take at most 10,000 parts, of 5 MiB or more but for the last.
struct PartSizes {
    static let partMax = 10_000
    /// Memory holds one part.
    let least: Int
    /// The size of all parts if the upload's size is known. Some servers want equal parts.
    private let fixed: Int?

    init(least: Int, size: UInt64?) {
        self.least = least
        fixed = size.map { max(least, Int(clamping: ($0 + UInt64(Self.partMax) - 1) / UInt64(Self.partMax))) }
    }

    /// Without a known size the parts double after each quarter of their numbers: 8 MiB parts reach 293 GiB in all.
    func size(of number: Int) -> Int { fixed ?? least << ((number - 1) / (Self.partMax / 4)) }
}
