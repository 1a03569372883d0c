import Synchronization

/// The primary index of one table as of a checkpoint: from row number to address, in pages on disk. Immutable.
/// Spec: FORMAT.md, "Primary index".
///
/// Invariants:
/// 1. `directoryBytes` are verified, and stay mapped as long as `source` lives.
/// 2. An entry of `resolved` is 0 or the address in memory of its page's payload, verified.
final class PrimaryBase: @unchecked Sendable {
    // Unchecked: the directory is never written, and `resolved` is accessed only through atomics.
    let directory: FramePointer
    let pageCount: Int
    private let source: any FrameSource
    private let directoryBytes: UnsafeRawBufferPointer
    let resolved: UnsafeMutablePointer<Atomic<UInt>>

    static let rowsPerPage: UInt64 = 4096
    static let entrySize = 16

    init(directory: FramePointer, source: any FrameSource) throws(StoreError) {
        self.directory = directory
        self.source = source
        directoryBytes = try source.payload(at: directory, kind: .primaryDirectory)
        pageCount = directoryBytes.count / Self.entrySize
        // Zeroed memory is a valid, empty table.
        resolved = LazyMemory.zeroed(max(8, pageCount * 8)).bindMemory(to: Atomic<UInt>.self, capacity: pageCount)
    }

    deinit {
        LazyMemory.release(UnsafeMutableRawPointer(resolved), max(8, pageCount * 8))
    }

    /// The pointer of a page; none if the page has no row.
    func page(_ index: Int) -> FramePointer {
        guard index < pageCount else { return .none }
        return Self.pointer(in: directoryBytes, index)
    }

    /// - Precondition: `index` is less than the directory's page count.
    static func pointer(in directory: UnsafeRawBufferPointer, _ index: Int) -> FramePointer {
        let at = index * entrySize
        return FramePointer(
            offset: UInt64(littleEndian: directory.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
            checksum: UInt64(littleEndian: directory.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)))
    }

    /// The address of a row; 0 if there is none.
    @inline(__always)
    func address(of row: UInt64) throws(StoreError) -> UInt64 {
        try addresses(ofPage: Int(truncatingIfNeeded: row / Self.rowsPerPage)).address(Int(row % Self.rowsPerPage))
    }

    /// The addresses of one page; empty if it has no row.
    @inline(__always)
    func addresses(ofPage index: Int) throws(StoreError) -> PrimaryPage {
        guard index < pageCount else { return PrimaryPage.empty }
        if let known = UnsafeRawPointer(bitPattern: resolved[index].load(ordering: .acquiring)) { return PrimaryPage(known) }
        return try resolve(index)
    }

    /// Requests a page before its first read.
    @inline(never)
    func willResolve(_ index: Int) {
        let pointer = page(index)
        if !pointer.isNone { willRead(pageAt: pointer) }
    }

    /// Requests about as many bytes as a page takes.
    private func willRead(pageAt pointer: FramePointer) {
        let end = pointer.offset.addingReportingOverflow(Self.rowsPerPage * 4 + 128)
        if !end.overflow { source.willRead(pointer.offset..<end.partialValue) }
    }

    @inline(never)
    private func resolve(_ index: Int) throws(StoreError) -> PrimaryPage {
        let pointer = page(index)
        guard !pointer.isNone else { return PrimaryPage.empty }
        willRead(pageAt: pointer)
        let payload = try source.payload(at: pointer, kind: .primaryPage)
        guard let page = PrimaryPage(checking: payload) else {
            throw StoreError(
                .corrupt, path: source.path, at: pointer.offset, "a page of the primary index is malformed",
                remedy: "No row is lost by it: `heartwood compact` makes the indexes anew from the log.")
        }
        resolved[index].store(UInt(bitPattern: page.bytes), ordering: .releasing)
        return page
    }

    /// Appends pages to a sink.
    /// - Parameter page: returns, by page index, the pointer of an existing page or the addresses of a new one.
    static func pages(
        count: Int, to sink: any FrameSink, page: (Int) throws(StoreError) -> PageSource
    ) throws(StoreError) -> WrittenPages {
        var written = WrittenPages()
        for index in 0..<count {
            switch try page(index) {
            case .kept(let pointer): written.pointers.append(pointer)
            case .new(let addresses):
                written.pointers.append(.none)
                let encoded = PrimaryPage.encode(addresses)
                if !encoded.isEmpty { written.tickets.append((index, try sink.append(.primaryPage, encoded))) }
            }
        }
        return written
    }

    /// Pages that were appended to a sink or kept. Their directory is not written yet.
    struct WrittenPages {
        fileprivate var pointers: [FramePointer] = []
        fileprivate var tickets: [(page: Int, FrameTicket)] = []

        /// Appends the directory to the sink, which must have assigned the pages' offsets.
        mutating func appendDirectory(to sink: any FileFrameSink) throws(StoreError) -> FrameTicket {
            for (index, ticket) in tickets { pointers[index] = sink.pointer(ticket) }
            var writer = ByteWriter()
            for pointer in pointers { writer.append(pointer) }
            return try sink.append(.primaryDirectory, writer.bytes)
        }
    }

    enum PageSource {
        case kept(FramePointer)
        case new([UInt64])
    }
}
