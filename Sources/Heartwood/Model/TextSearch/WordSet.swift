import Foundation

/// The words of one text, each once, in the order of their first occurrence. Reused for many texts.
///
/// A word is built by `append`, and added by `end`.
struct WordSet: ~Copyable {
    struct Word {
        var start: Int
        var count: Int
        var occurrences: Int
        fileprivate var hash: UInt32
    }

    private(set) var words: [Word] = []
    /// The number of words, repeated ones included.
    private(set) var total = 0
    /// The bytes of `words`, then those of the word that is being built.
    private var bytes: UnsafeMutablePointer<UInt8>
    private var byteCapacity = 512
    private var byteCount = 0
    private var wordStart = 0
    /// An open hash table of positions plus 1; 0 for an empty cell.
    private var cells: UnsafeMutablePointer<Int32>
    private var cellCount = Self.cellsMin

    private static let cellsMin = 64

    init() {
        bytes = .allocate(capacity: byteCapacity)
        cells = .allocate(capacity: Self.cellsMin)
        cells.initialize(repeating: 0, count: Self.cellsMin)
    }

    deinit {
        bytes.deallocate()
        cells.deallocate()
    }

    var isBuilding: Bool { byteCount > wordStart }

    /// The bytes of a word, valid until the set changes.
    func bytes(of word: Word) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes + word.start, count: word.count) }

    mutating func removeAll() {
        if cellCount > Self.cellsMin * 16 { self = WordSet() }
        if !words.isEmpty { cells.update(repeating: 0, count: cellCount) }
        words.removeAll(keepingCapacity: true)
        (total, byteCount, wordStart) = (0, 0, 0)
    }

    /// Appends up to three scalars of 21 bits to the word that is being built.
    @inline(__always)
    mutating func append(_ letters: UInt64) {
        if byteCount &+ 16 > byteCapacity { grow() }
        if letters < 0x80 {
            bytes[byteCount] = UInt8(truncatingIfNeeded: letters)
            byteCount &+= 1
            return
        }
        var left = letters
        while left != 0 {
            byteCount &+= UTF8Scalar.encode(UInt32(left & ScalarFolding.mask), to: bytes + byteCount)
            left >>= 21
        }
    }

    /// Adds the word that was built.
    mutating func end() {
        total &+= 1
        let count = byteCount &- wordStart
        var hash: UInt32 = 0x811C_9DC5
        for index in wordStart..<byteCount { hash = (hash ^ UInt32(bytes[index])) &* 0x0100_0193 }
        var cell = Int(hash ^ hash >> 15) & (cellCount &- 1)
        while cells[cell] != 0 {
            let position = Int(cells[cell]) &- 1
            let known = words[position]
            if known.hash == hash, known.count == count, memcmp(bytes + known.start, bytes + wordStart, count) == 0 {
                words[position].occurrences &+= 1
                byteCount = wordStart
                return
            }
            cell = (cell &+ 1) & (cellCount &- 1)
        }
        words.append(Word(start: wordStart, count: count, occurrences: 1, hash: hash))
        cells[cell] = Int32(words.count)
        wordStart = byteCount
        if words.count &* 2 > cellCount { growCells() }
    }

    @inline(never)
    private mutating func grow() {
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: byteCapacity * 2)
        grown.update(from: bytes, count: byteCount)
        bytes.deallocate()
        bytes = grown
        byteCapacity *= 2
    }

    @inline(never)
    private mutating func growCells() {
        cells.deallocate()
        cellCount *= 2
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: 0, count: cellCount)
        for (position, word) in words.enumerated() {
            var cell = Int(word.hash ^ word.hash >> 15) & (cellCount - 1)
            while cells[cell] != 0 { cell = (cell + 1) & (cellCount - 1) }
            cells[cell] = Int32(position + 1)
        }
    }
}
