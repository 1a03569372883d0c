/// The trigrams of one text, each once, as three scalars of 21 bits. Reused for many texts.
struct TrigramSet: ~Copyable {
    /// An open hash table; 0 for an empty cell, since no trigram is 0.
    private var cells: UnsafeMutablePointer<UInt64>
    private var cellCount = Self.cellsMin
    private var list: UnsafeMutablePointer<UInt64>
    private var capacity = Self.cellsMin / 2
    private(set) var count = 0

    private static let cellsMin = 256

    init() {
        cells = .allocate(capacity: Self.cellsMin)
        cells.initialize(repeating: 0, count: Self.cellsMin)
        list = .allocate(capacity: Self.cellsMin / 2)
    }

    deinit {
        cells.deallocate()
        list.deallocate()
    }

    subscript(index: Int) -> UInt64 { list[index] }

    mutating func removeAll() {
        // A table that a long text has grown would be cleared for each short one.
        if cellCount > Self.cellsMin * 16, count < cellCount / 16 { self = TrigramSet() }
        if count > 0 { cells.update(repeating: 0, count: cellCount) }
        count = 0
    }

    @inline(__always)
    mutating func insert(_ trigram: UInt64) {
        var cell = Int(truncatingIfNeeded: (trigram &* 0x9E37_79B9_7F4A_7C15) >> 32) & (cellCount &- 1)
        while true {
            let known = cells[cell]
            if known == trigram { return }
            if known == 0 { break }
            cell = (cell &+ 1) & (cellCount &- 1)
        }
        cells[cell] = trigram
        list[count] = trigram
        count &+= 1
        if count == capacity { grow() }
    }

    @inline(never)
    private mutating func grow() {
        let grown = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
        grown.update(from: list, count: count)
        list.deallocate()
        list = grown
        capacity *= 2
        cells.deallocate()
        cellCount *= 2
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: 0, count: cellCount)
        for index in 0..<count {
            var cell = Int(truncatingIfNeeded: (list[index] &* 0x9E37_79B9_7F4A_7C15) >> 32) & (cellCount - 1)
            while cells[cell] != 0 { cell = (cell + 1) & (cellCount - 1) }
            cells[cell] = list[index]
        }
    }
}
