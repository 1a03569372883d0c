/// What a search in a root would read all over the list, held side by side: every 32nd word, and what the separators have in common.
///
/// The list of ten million entries' blocks takes a megabyte, and a page of memory that was not looked at lately costs a walk through the
/// system's tables besides the miss: with this a search looks at a few KiB that stay close to the processor, and at one stretch of the list.
///
/// Invariants:
/// 1. `samples[i]` is the root's word `i * stride`.
/// 2. `bounds` encloses what a search of the whole list finds, where the words rise as the format has it; where they do not, it lies within the
///    list all the same.
struct SparseIndex {
    static let stride = 32
    static var none: SparseIndex { SparseIndex(samples: UnsafeBufferPointer(start: nil, count: 0), common: nil) }

    fileprivate let samples: UnsafeBufferPointer<UInt64>
    /// nil where it is to be read in the root.
    let common: UnsafeRawBufferPointer?

    /// Where the first separator lies that is after a key: none before the lower bound is, and that at the upper bound is, if it is a block's.
    /// - Parameters:
    ///   - wanted: the key's word.
    ///   - count: the root's blocks.
    @inline(__always)
    func bounds(of wanted: UInt64, among count: Int) -> (low: Int, high: Int) {
        // The first block's separator is before everything.
        guard samples.count > 1 else { return (1, count) }
        let first = place(from: 1) { $0 < wanted }
        let behind = first < samples.count && samples[first] == wanted ? place(from: first) { $0 <= wanted } : first
        return (first == 1 ? 1 : (first &- 1) &* Self.stride &+ 1, behind < samples.count ? behind &* Self.stride : count)
    }

    /// The first sample from a place on that is not like those before it.
    @inline(__always)
    private func place(from start: Int, _ isBefore: (UInt64) -> Bool) -> Int {
        var start = start, length = samples.count &- start
        while length > 0 {
            let half = length / 2
            if isBefore(samples[start &+ half]) { start &+= length &- half }
            length = half
        }
        return start
    }
}

/// A root that was checked, with its guide's memory.
final class SparseRoot: @unchecked Sendable {
    // Unchecked: nothing of it is ever written again.
    let root: IndexRoot
    private let samples: UnsafeMutableBufferPointer<UInt64>
    private let common: UnsafeMutableRawBufferPointer

    /// - Complexity: O(blocks), as the check was.
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
