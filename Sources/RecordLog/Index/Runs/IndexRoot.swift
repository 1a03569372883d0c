/// The list of a run's blocks, in the mapped file.
///
/// A separator sorts after every entry of the previous block, and not after the first entry of its own; the first block's is empty. The
/// common prefix of the other separators is stored once. A table, which a search reads, has the next eight bytes of each.
struct IndexRoot {
    enum Layout {
        static let blockCount = 0
        static let commonLength = 4
        /// For each block: word u64; pointer (16); entries u32; end of its separator u32. Then the common prefix, and the separators
        /// without it.
        static let words = 8
        static let perBlock = 8 + 16 + 4 + 4
    }

    let bytes: UnsafeRawPointer
    let count: Int
    private let commonLength: Int
    /// Narrows a search to a part of the list; `none` searches all of it.
    var guide = SparseIndex.none

    private init(_ bytes: UnsafeRawPointer) {
        self.bytes = bytes
        count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.blockCount, as: UInt32.self)))
        commonLength = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.commonLength, as: UInt32.self)))
    }

    /// Requires that the blocks' offsets ascend and are below the root's. A root that names one block many times would make a small file endless.
    init?(checking payload: UnsafeRawBufferPointer, at offset: UInt64) {
        guard payload.count >= Layout.words, let bytes = payload.baseAddress else { return nil }
        self.init(bytes)
        guard count > 0, count <= (payload.count - Layout.words) / Layout.perBlock else { return nil }
        let room = payload.count - Layout.words - count * Layout.perBlock
        guard commonLength <= room else { return nil }
        var end = 0, last: UInt64 = 0
        for index in 0..<count {
            let next = separatorEnd(index), block = pointer(index).offset
            guard next >= end, next <= room - commonLength, block > last, block < offset else { return nil }
            end = next
            last = block
        }
    }

    @inline(__always) private var pointers: Int { Layout.words &+ count &* 8 }
    @inline(__always) private var ends: Int { Layout.words &+ count &* 28 }
    @inline(__always) private var commonStart: Int { Layout.words &+ count &* Layout.perBlock }

    @inline(__always)
    func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.words &+ index &* 8, as: UInt64.self))
    }

    func pointer(_ index: Int) -> FramePointer {
        let at = pointers &+ index &* 16
        return FramePointer(
            offset: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
            checksum: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at &+ 8, as: UInt64.self)))
    }

    /// The entry count that a block states.
    func entryCount(_ index: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.words &+ count &* 24 &+ index &* 4, as: UInt32.self)))
    }

    private func separatorEnd(_ index: Int) -> Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: ends &+ index &* 4, as: UInt32.self)))
    }

    /// A separator without the common prefix.
    private func separator(_ index: Int) -> UnsafeRawBufferPointer {
        let start = index == 0 ? 0 : separatorEnd(index - 1)
        return UnsafeRawBufferPointer(start: bytes + commonStart + commonLength + start, count: separatorEnd(index) - start)
    }

    /// The common prefix of all separators except the first.
    var common: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes + commonStart, count: commonLength) }

    /// The whole separator of a block, which sorts after every entry of the previous block; empty for the first block.
    func wholeSeparator(_ index: Int) -> [UInt8] { index == 0 ? [] : Array(common) + separator(index) }

    /// The last block whose separator is at or before `key`: the first block that can hold an entry at or after it.
    func block(for key: UnsafeRawBufferPointer) -> Int {
        let order = KeyBytes.compare(UnsafeRawBufferPointer(rebasing: key[..<min(key.count, commonLength)]), guide.common ?? common)
        guard order == 0 else { return order < 0 ? 0 : count &- 1 }
        let rest = UnsafeRawBufferPointer(rebasing: key[commonLength...])
        let wanted = KeyBytes.word(rest)
        // Finds the first separator after the key; the first block's is before everything.
        var (low, high) = guide.bounds(of: wanted, among: count)
        while low < high {
            let middle = (low &+ high) / 2
            let known = word(middle)
            let isAfter = known != wanted ? known > wanted : KeyBytes.compare(separator(middle), rest) > 0
            if isAfter { high = middle } else { low = middle &+ 1 }
        }
        return low &- 1
    }
}
