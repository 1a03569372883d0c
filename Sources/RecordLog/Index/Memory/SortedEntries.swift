/// The entries of buffers in ascending order, each once; of equal ones the last added.
///
/// An entry that was put first and deleted last is left out: no older run has it (`RunSet`, invariant 3), so its tombstone hides nothing.
///
/// The common prefix is stored once. The next eight bytes of each entry are kept beside it as a word, so that most comparisons read
/// no key. A radix sort orders large sets by those words; then ranges of equal words are sorted by their bytes.
///
/// Invariants:
/// 1. `entries` are strictly ascending by bytes; `word` is the eight bytes after the common prefix, with zeroes for missing ones.
/// 2. The keys are in buffers that the owner holds.
struct SortedEntries {
    struct Entry {
        var word: UInt64
        var key: UnsafeRawPointer
        var lengthAndTombstone: UInt32
        /// The position in the order of addition.
        var order: UInt32

        @inline(__always) var length: Int { Int(lengthAndTombstone & 0x7FFF_FFFF) }
        @inline(__always) var isTombstone: Bool { lengthAndTombstone >> 31 != 0 }
        @inline(__always) var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: key, count: length) }
    }

    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var count: Int
    private let capacity: Int
    let commonLength: Int

    private static let radixMin = 256

    init(_ buffers: [Memtable]) {
        let total = buffers.reduce(0) { $0 + $1.count }
        capacity = max(1, total)
        entries = LazyMemory.allocate(of: Entry.self, capacity)
        count = 0
        var common = Int.max
        var first = UnsafeRawBufferPointer(start: nil, count: 0)
        for buffer in buffers {
            for index in 0..<buffer.count {
                let (bytes, isTombstone) = buffer.entry(index)
                if count == 0 {
                    first = bytes
                    common = bytes.count
                } else if common > 0 {
                    common = Self.shared(first, bytes, atMost: common)
                }
                (entries + count).initialize(to: Entry(
                    word: 0, key: bytes.baseAddress ?? UnsafeRawPointer(buffer.bytes),
                    lengthAndTombstone: UInt32(bytes.count) | (isTombstone ? 1 << 31 : 0), order: UInt32(truncatingIfNeeded: count)))
                count += 1
            }
        }
        commonLength = count == 0 ? 0 : common
        guard count > 1 else { return }
        var isAscending = true
        for index in 0..<count {
            let word = KeyBytes.word(UnsafeRawBufferPointer(rebasing: entries[index].bytes[commonLength...]))
            entries[index].word = word
            if isAscending, index > 0, !isBefore(entries[index - 1], entries[index]) { isAscending = false }
        }
        guard !isAscending else { return }
        if count < Self.radixMin {
            sort(0..<count)
        } else {
            radixSort()
            sortEqualWords()
        }
        removeOlder()
    }

    func deallocate() { LazyMemory.release(entries, capacity) }

    /// Reads the keys of some entries at the same time, so that later reads need not wait for each.
    /// - Returns: a value made of the bytes, so that the compiler keeps the loads.
    func touch(_ first: Int, _ more: Int) -> UInt8 {
        var sum: UInt8 = 0
        var index = first
        let end = min(count, first &+ more)
        while index < end {
            sum ^= entries[index].key.load(as: UInt8.self)
            index &+= 1
        }
        return sum
    }

    @inline(__always)
    private static func shared(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, atMost most: Int) -> Int {
        let most = min(most, b.count)
        return KeyBytes.shared(UnsafeRawBufferPointer(rebasing: a[..<most]), UnsafeRawBufferPointer(rebasing: b[..<most]))
    }

    /// Compares only bytes; false for equal ones.
    @inline(__always)
    private func isBefore(_ a: Entry, _ b: Entry) -> Bool {
        a.word != b.word ? a.word < b.word : KeyBytes.compare(a.bytes, b.bytes) < 0
    }

    /// Compares bytes, then the order of addition.
    private func isOrdered(_ a: Entry, _ b: Entry) -> Bool {
        if a.word != b.word { return a.word < b.word }
        let order = KeyBytes.compare(a.bytes, b.bytes)
        return order != 0 ? order < 0 : a.order < b.order
    }

    private func sort(_ range: Range<Int>) {
        var stretch = UnsafeMutableBufferPointer(start: entries + range.lowerBound, count: range.count)
        stretch.sort(by: isOrdered)
    }

    /// Least significant byte first; a byte that all words share costs nothing. Stable.
    private mutating func radixSort() {
        var other = LazyMemory.allocate(of: Entry.self, capacity)
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 8 * 256) { histograms in
            histograms.initialize(repeating: 0)
            for index in 0..<count {
                let word = entries[index].word
                for digit in 0..<8 { histograms[digit &* 256 &+ Int(word >> UInt64(digit &* 8) & 0xFF)] &+= 1 }
            }
            for digit in 0..<8 {
                let histogram = UnsafeMutableBufferPointer(rebasing: histograms[(digit * 256)..<(digit * 256 + 256)])
                let shift = UInt64(digit * 8)
                guard histogram[Int(entries[0].word >> shift & 0xFF)] < count else { continue }
                var start = 0
                for value in 0..<256 {
                    let size = histogram[value]
                    histogram[value] = start
                    start += size
                }
                for index in 0..<count {
                    let entry = entries[index]
                    let value = Int(entry.word >> shift & 0xFF)
                    (other + histogram[value]).initialize(to: entry)
                    histogram[value] &+= 1
                }
                swap(&entries, &other)
            }
        }
        LazyMemory.release(other, capacity)
    }

    private func sortEqualWords() {
        var start = 0
        while start < count {
            var end = start + 1
            while end < count, entries[end].word == entries[start].word { end += 1 }
            if end - start > 1 { sort(start..<end) }
            start = end
        }
    }

    /// Leaves the last of equal entries, and none of those that came and went.
    private mutating func removeOlder() {
        var kept = 0, index = 0
        while index < count {
            let isNew = !entries[index].isTombstone
            var last = index
            index += 1
            while index < count, !isBefore(entries[last], entries[index]) {
                last = index
                index += 1
            }
            if isNew, entries[last].isTombstone { continue }
            entries[kept] = entries[last]
            kept += 1
        }
        count = kept
    }
}
