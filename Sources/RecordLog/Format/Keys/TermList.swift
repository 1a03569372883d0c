/// The terms of one row in an index of terms. Reused from row to row.
///
/// A term has 1 to `sizeMax` bytes, none of them 0.
public final class TermList {
    /// The most bytes of a term.
    public static let sizeMax = 64

    // The runtime would check each term's access.
    @exclusivity(unchecked) private var bytes = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 1)
    @exclusivity(unchecked) private var capacity = 4096
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private var ends: [Int] = []
    @exclusivity(unchecked) private var order: [Int] = []

    public init() {}

    deinit {
        bytes.deallocate()
    }

    public var count: Int { ends.count }

    public func removeAll() {
        used = 0
        ends.removeAll(keepingCapacity: true)
    }

    /// Appends a term. A row must have each term once.
    /// - Precondition: its size is 1 to `sizeMax`, and no byte is 0.
    @inline(__always)
    public func append(_ term: UnsafeRawBufferPointer) {
        precondition(term.count > 0 && term.count <= Self.sizeMax, "a term has 1 to 64 bytes")
        if used + term.count > capacity { grow() }
        UnsafeMutableRawBufferPointer(start: bytes + used, count: term.count).copyMemory(from: term)
        used += term.count
        ends.append(used)
    }

    private func grow() {
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity * 2, alignment: 1)
        grown.copyMemory(from: bytes, byteCount: used)
        bytes.deallocate()
        bytes = grown
        capacity *= 2
    }

    /// A term; valid until the list changes.
    @inline(__always)
    subscript(index: Int) -> UnsafeRawBufferPointer {
        let start = index == 0 ? 0 : ends[index - 1]
        return UnsafeRawBufferPointer(start: bytes + start, count: ends[index] - start)
    }

    /// Puts the terms into the order of their bytes, in which `sorted` gives them.
    func sort() {
        order.removeAll(keepingCapacity: true)
        order.append(contentsOf: 0..<count)
        order.sort { KeyBytes.compare(self[$0], self[$1]) < 0 }
    }

    /// The term at a position in the order that `sort` made; valid until the list changes.
    func sorted(_ position: Int) -> UnsafeRawBufferPointer { self[order[position]] }
}
