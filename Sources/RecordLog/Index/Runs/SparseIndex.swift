/// The parts of a root that every search reads, stored together: every 32nd word, and the separators' common prefix.
///
/// The list of ten million entries' blocks takes a megabyte, and a page of memory without recent use costs a page table walk besides the
/// cache miss. With this index a search reads a few KiB that stay in the processor's caches, and one range of the list.
///
/// Invariants:
/// 1. `samples[i]` is the root's word `i * stride`.
/// 2. `bounds` encloses the result of a search of the whole list if the words ascend, as the format requires. If they do not, it is
///    within the list all the same.
struct SparseIndex {
    static let stride = 32
    static var none: SparseIndex { SparseIndex(samples: UnsafeBufferPointer(start: nil, count: 0), common: nil) }

    fileprivate let samples: UnsafeBufferPointer<UInt64>
    /// nil if it must be read in the root.
    let common: UnsafeRawBufferPointer?

    /// The range of the first separator after a key. No separator before `low` is after the key; the one at `high`, if it exists, is.
    /// - Parameters:
    ///   - wanted: the key's word.
    ///   - count: the number of the root's blocks.
    @inline(__always)
    func bounds(of wanted: UInt64, among count: Int) -> (low: Int, high: Int) {
        // The first block's separator is before everything.
        guard samples.count > 1 else { return (1, count) }
        let first = partitioningIndex(from: 1) { $0 < wanted }
        let behind = first < samples.count && samples[first] == wanted ? partitioningIndex(from: first) { $0 <= wanted } : first
        return (first == 1 ? 1 : (first &- 1) &* Self.stride &+ 1, behind < samples.count ? behind &* Self.stride : count)
    }

    /// The first sample from `start` on for which `isBefore` is false.
    @inline(__always)
    private func partitioningIndex(from start: Int, _ isBefore: (UInt64) -> Bool) -> Int {
        var start = start, length = samples.count &- start
        while length > 0 {
            let half = length / 2
            if isBefore(samples[start &+ half]) { start &+= length &- half }
            length = half
        }
        return start
    }
}

/// A checked root, with the memory of its sparse index.
final class SparseRoot: @unchecked Sendable {
    // Unchecked: immutable.
    let root: IndexRoot
    private let samples: UnsafeMutableBufferPointer<UInt64>
    private let common: UnsafeMutableRawBufferPointer

    /// - Complexity: O(blocks), like the check.
    init(_ checked: IndexRoot) {
        let count = (checked.count + SparseIndex.stride - 1) / SparseIndex.stride
        samples = .allocate(capacity: count)
        for index in 0..<count { samples.initializeElement(at: index, to: checked.word(index * SparseIndex.stride)) }
        common = .allocate(byteCount: checked.common.count, alignment: 8)
        common.copyMemory(from: checked.common)
        var root = checked
        root.guide = SparseIndex(samples: UnsafeBufferPointer(samples), common: UnsafeRawBufferPointer(common))
        self.root = root
    }

    deinit {
        samples.deallocate()
        common.deallocate()
    }
}
