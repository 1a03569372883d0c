/// The use of the bytes of one page of a tree: cells and free blocks, which must not overlap. Source: SQLite, "Database File Format", 1.6.
struct PageSpace {
    private var parts: [Range<Int>] = []

    /// The least size that SQLite gives to a cell.
    private static let cellMin = 4

    mutating func addCell(_ start: Int, size: Int) { parts.append(start..<start + max(size, Self.cellMin)) }

    /// Adds the free blocks of a page, whose chain begins in its header.
    /// - Returns: nil, or the message about a block.
    mutating func addFreeBlocks(_ bytes: UnsafeRawPointer, start: Int, usableSize: Int) -> String? {
        var next = bytes.half(start + 1), last = 0
        while next != 0 {
            guard next > last, next <= usableSize - 4 else { return "the chain of free blocks leads to byte \(next)" }
            let size = bytes.half(next + 2)
            guard size >= 4, next + size <= usableSize else { return "a free block of \(size) bytes does not fit" }
            parts.append(next..<next + size)
            last = next
            next = bytes.half(next)
        }
        return nil
    }

    /// - Parameter contentStart: the first byte of the cells' area.
    /// - Returns: the offset of a part that overlaps another or lies outside of the cells' area.
    func fault(contentStart: Int, usableSize: Int) -> Int? {
        var end = contentStart
        for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard part.lowerBound >= end, part.upperBound <= usableSize else { return part.lowerBound }
            end = part.upperBound
        }
        return nil
    }
}
