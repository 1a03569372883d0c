import Synchronization

/// A sorted, immutable set of index entries in the file. Spec: FORMAT.md, "Index runs".
///
/// Invariant: `resolved` is 0 or a reference, which the run owns, to the root, verified and checked.
final class SortedRun: Sendable {
    let root: FramePointer
    let entryCount: UInt64
    let byteCount: UInt64
    private let source: any FrameSource
    private let resolved = Atomic<UInt>(0)

    init(manifest run: Manifest.Run, source: any FrameSource) {
        root = run.root
        entryCount = run.entryCount
        byteCount = run.byteCount
        self.source = source
    }

    var manifest: Manifest.Run { Manifest.Run(root: root, entryCount: entryCount, byteCount: byteCount) }

    func corrupt(_ pointer: FramePointer) -> StoreError {
        StoreError(
            .corrupt, path: source.path, at: pointer.offset, "an index block is malformed",
            remedy: "No row is lost by it: `heartwood compact` makes the indexes anew from the log.")
    }

    deinit {
        Self.reference(resolved.load(ordering: .acquiring))?.release()
    }

    @inline(__always)
    private static func reference(_ bits: UInt) -> Unmanaged<SparseRoot>? { UnsafeRawPointer(bitPattern: bits).map(Unmanaged.fromOpaque) }

    /// The list of blocks, valid as long as this run; checked once.
    @inline(__always)
    func blocks() throws(StoreError) -> IndexRoot {
        if let known = Self.reference(resolved.load(ordering: .acquiring)) { return known._withUnsafeGuaranteedRef { $0.root } }
        return try resolve()
    }

    @inline(never)
    private func resolve() throws(StoreError) -> IndexRoot {
        guard let checked = IndexRoot(checking: try source.payload(at: root, kind: .indexRoot), at: root.offset) else { throw corrupt(root) }
        let made = Unmanaged.passRetained(SparseRoot(checked))
        let (isFirst, known) = resolved.compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst, let known = Self.reference(known) else { return made._withUnsafeGuaranteedRef { $0.root } }
        // Another thread was faster.
        made.release()
        return known._withUnsafeGuaranteedRef { $0.root }
    }

    /// A block for a scan; valid until the scan's next one.
    func block(_ pointer: FramePointer, _ ahead: inout Readahead, passing bytes: inout ReadBuffer?) throws(StoreError) -> IndexBlock {
        if let range = ahead.reach(pointer.offset) { source.willRead(range) }
        return try block(pointer, try source.payload(at: pointer, kind: .indexBlock, passing: &bytes))
    }

    func block(_ pointer: FramePointer) throws(StoreError) -> IndexBlock {
        try block(pointer, try source.payload(at: pointer, kind: .indexBlock))
    }

    private func block(_ pointer: FramePointer, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> IndexBlock {
        guard let block = IndexBlock(payload) else { throw corrupt(pointer) }
        return block
    }

    /// The first entry that starts with `key`: its row, and whether it is a tombstone; nil if there is none.
    /// - Complexity: O(log blocks), and one block.
    func first(prefix key: UnsafeRawBufferPointer) throws(StoreError) -> (row: UInt64, isTombstone: Bool)? {
        let root = try blocks()
        var index = root.block(for: key)
        while index < root.count {
            let pointer = root.pointer(index)
            switch try block(pointer).lowerBound(key) {
            case .found(_, _, let entry, let matched): return matched >= key.count ? (entry.row, entry.isTombstone) : nil
            case .none: index += 1
            case .malformed: throw corrupt(pointer)
            }
        }
        return nil
    }
}
