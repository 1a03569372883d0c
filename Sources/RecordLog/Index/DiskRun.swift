import Synchronization

/// A sorted, immutable set of index entries in the file. Spec: FORMAT.md, "Index runs".
///
/// The root lists the blocks with separators: bytes greater than every entry of the block before, and not greater than the
/// block's first. A block holds entries in intervals of sixteen, each entry but an
/// interval's first without what it shares with the one before.
final class DiskRun: Sendable {
    let root: FramePointer
    let entryCount: UInt64
    let byteCount: UInt64
    private let source: any FrameSource
    /// Whether the root's list has been checked, which is done once.
    private let isChecked = Atomic<Bool>(false)

    enum RootLayout {
        static let blockCount = 0
        static let blocks = 8
        static let blockOffset = 0
        static let blockChecksum = 8
        static let keyOffset = 16
        static let keyLength = 20
        static let blockSize = 24
    }

    enum BlockLayout {
        /// At the end: how many intervals; before it their offsets, u32 each.
        static let countSize = 4
        static let intervalSize = 4
        static let entriesPerInterval = 16
    }

    init(manifest run: Manifest.Run, source: any FrameSource) {
        root = run.root
        entryCount = run.entryCount
        byteCount = run.byteCount
        self.source = source
    }

    var manifest: Manifest.Run { Manifest.Run(root: root, entryCount: entryCount, byteCount: byteCount) }

    private func corrupt(_ pointer: FramePointer) -> StoreError {
        StoreError(
            .corrupt, path: source.path, at: pointer.offset, "an index block is malformed",
            remedy: "No row is lost by it: LogStore.rebuildIndexes() and `heartwood compact` make the indexes anew from the log.")
    }

    // MARK: Root

    /// The root's payload, checked.
    func blocks() throws(StoreError) -> Root {
        let payload = try source.payload(at: root, kind: .indexRoot)
        guard payload.count >= RootLayout.blocks else { throw corrupt(root) }
        let count = Int(UInt32(littleEndian: payload.loadUnaligned(as: UInt32.self)))
        guard count <= (payload.count - RootLayout.blocks) / RootLayout.blockSize else { throw corrupt(root) }
        let found = Root(payload: payload, count: count)
        if !isChecked.load(ordering: .relaxed) {
            try check(found)
            isChecked.store(true, ordering: .relaxed)
        }
        return found
    }

    /// Blocks lie in order, so that a root that names one many times does not make a small file endless.
    private func check(_ found: Root) throws(StoreError) {
        var last: UInt64 = 0
        for index in 0..<found.count {
            let offset = found.pointer(index).offset
            guard offset > last, offset < root.offset else { throw corrupt(root) }
            last = offset
        }
    }

    struct Root {
        let payload: UnsafeRawBufferPointer
        let count: Int

        func pointer(_ index: Int) -> FramePointer {
            let at = RootLayout.blocks + index * RootLayout.blockSize
            return FramePointer(
                offset: UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
                checksum: UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: at + RootLayout.blockChecksum, as: UInt64.self)))
        }

        /// A block's separator; empty for the first block, and where the root is malformed.
        func separator(_ index: Int) -> UnsafeRawBufferPointer {
            let at = RootLayout.blocks + index * RootLayout.blockSize
            let offset = Int(UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: at + RootLayout.keyOffset, as: UInt32.self)))
            let length = Int(UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: at + RootLayout.keyLength, as: UInt32.self)))
            guard offset <= payload.count, length <= payload.count - offset else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return UnsafeRawBufferPointer(rebasing: payload[offset..<offset + length])
        }

        /// The last block whose separator is at or before `key`: the only one that can hold it.
        func block(for key: UnsafeRawBufferPointer) -> Int {
            var low = 0, high = count
            while low < high {
                let middle = (low + high) / 2
                if MemoryRun.compare(separator(middle), key) <= 0 { low = middle + 1 } else { high = middle }
            }
            return max(low - 1, 0)
        }
    }

    // MARK: Blocks

    func block(_ pointer: FramePointer) throws(StoreError) -> Block {
        let payload = try source.payload(at: pointer, kind: .indexBlock)
        guard payload.count >= BlockLayout.countSize else { throw corrupt(pointer) }
        let count = Int(UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: payload.count - BlockLayout.countSize, as: UInt32.self)))
        guard count > 0, count <= (payload.count - BlockLayout.countSize) / BlockLayout.intervalSize else { throw corrupt(pointer) }
        return Block(payload: payload, pointer: pointer, intervalCount: count, run: self)
    }

    struct Block {
        let payload: UnsafeRawBufferPointer
        let pointer: FramePointer
        let intervalCount: Int
        let run: DiskRun

        private var entriesEnd: Int { payload.count - BlockLayout.countSize - intervalCount * BlockLayout.intervalSize }

        private func intervalStart(_ index: Int) -> Int? {
            let at = entriesEnd + index * BlockLayout.intervalSize
            let start = Int(UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
            return start < entriesEnd ? start : nil
        }

        /// The first key of an interval, in place: it shares nothing.
        private func firstKey(_ interval: Int) throws(StoreError) -> UnsafeRawBufferPointer {
            guard let start = intervalStart(interval) else { throw run.corrupt(pointer) }
            var at = start
            guard let shared = varint(&at), shared == 0, let rest = varint(&at), rest >> 1 <= entriesEnd - at else {
                throw run.corrupt(pointer)
            }
            return UnsafeRawBufferPointer(rebasing: payload[at..<at + rest >> 1])
        }

        /// The last interval whose first key is at or before `key`; 0 where none is.
        func interval(for key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
            var low = 0, high = intervalCount
            while low < high {
                let middle = (low + high) / 2
                if MemoryRun.compare(try firstKey(middle), key) <= 0 { low = middle + 1 } else { high = middle }
            }
            return max(low - 1, 0)
        }

        /// Decodes one interval into `into`.
        func decode(_ interval: Int, into: inout DecodedInterval) throws(StoreError) {
            into.removeAll()
            guard let start = intervalStart(interval) else { throw run.corrupt(pointer) }
            let end: Int
            if interval + 1 < intervalCount {
                guard let next = intervalStart(interval + 1), next > start else { throw run.corrupt(pointer) }
                end = next
            } else {
                end = entriesEnd
            }
            var at = start
            while at < end {
                guard let shared = varint(&at), let rest = varint(&at), rest >> 1 <= end - at,
                    into.append(shared: shared, payload, at, rest >> 1, isTombstone: rest & 1 != 0)
                else { throw run.corrupt(pointer) }
                at += rest >> 1
            }
            guard into.count > 0 else { throw run.corrupt(pointer) }
        }

        @inline(__always)
        private func varint(_ at: inout Int) -> Int? {
            var value = 0, shift = 0
            while at < entriesEnd, shift < 35 {
                let byte = Int(payload[at])
                at += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            return nil
        }
    }
}

/// The entries of one interval, whole.
struct DecodedInterval {
    private(set) var bytes: [UInt8] = []
    private var starts: [Int] = []
    private var tombstones: [Bool] = []

    var count: Int { starts.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        tombstones.removeAll(keepingCapacity: true)
    }

    /// - Returns: false where more is shared than there is, or the interval is too long.
    mutating func append(shared: Int, _ payload: UnsafeRawBufferPointer, _ at: Int, _ count: Int, isTombstone: Bool) -> Bool {
        let previous = starts.last ?? 0
        guard shared <= bytes.count - previous, starts.count < DiskRun.BlockLayout.entriesPerInterval else { return false }
        let start = bytes.count
        if shared > 0 { bytes.append(contentsOf: bytes[previous..<previous + shared]) }
        bytes.append(contentsOf: payload[at..<at + count])
        starts.append(start)
        tombstones.append(isTombstone)
        return true
    }

    @inline(__always)
    func range(_ index: Int) -> Range<Int> {
        starts[index]..<(index + 1 < starts.count ? starts[index + 1] : bytes.count)
    }

    @inline(__always)
    func isTombstone(_ index: Int) -> Bool { tombstones[index] }
}
