/// The primary index of one table as of a checkpoint: row number to address, eight bytes a row, in pages on disk.
/// Immutable. Spec: FORMAT.md, "Primary index".
final class PrimaryBase: Sendable {
    let directory: FramePointer
    let pageCount: Int
    private let source: any FrameSource

    static let rowsPerPage: UInt64 = 4096
    static let entrySize = 16

    init(directory: FramePointer, source: any FrameSource) throws(StoreError) {
        self.directory = directory
        self.source = source
        pageCount = try source.payload(at: directory, kind: .primaryDirectory).count / Self.entrySize
    }

    /// The pointer of a page; none where the page would hold no row.
    func page(_ index: Int) throws(StoreError) -> FramePointer {
        guard index < pageCount else { return .none }
        return Self.pointer(in: try source.payload(at: directory, kind: .primaryDirectory), index)
    }

    /// - Precondition: the directory has so many pages.
    static func pointer(in directory: UnsafeRawBufferPointer, _ index: Int) -> FramePointer {
        let at = index * entrySize
        return FramePointer(
            offset: UInt64(littleEndian: directory.loadUnaligned(fromByteOffset: at, as: UInt64.self)),
            checksum: UInt64(littleEndian: directory.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self)))
    }

    /// The address of a row; 0 where there is none.
    func address(of row: UInt64) throws(StoreError) -> UInt64 {
        let pointer = try page(Int(truncatingIfNeeded: row / Self.rowsPerPage))
        guard !pointer.isNone else { return 0 }
        return Self.address(in: try source.payload(at: pointer, kind: .primaryPage), row % Self.rowsPerPage)
    }

    /// The addresses of one page; empty where it holds no row.
    func addresses(ofPage index: Int) throws(StoreError) -> UnsafeRawBufferPointer {
        let pointer = try page(index)
        guard !pointer.isNone else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try source.payload(at: pointer, kind: .primaryPage)
    }

    @inline(__always)
    static func address(in page: UnsafeRawBufferPointer, _ index: UInt64) -> UInt64 {
        let at = Int(index) &* 8
        guard at &+ 8 <= page.count else { return 0 }
        return UInt64(littleEndian: page.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }

    /// Writes pages and a directory.
    /// - Parameter page: by page index: the page as it was, or its addresses anew.
    static func write(
        pageCount: Int, to sink: any FrameSink, page: (Int) throws(StoreError) -> PageSource
    ) throws(StoreError) -> FramePointer {
        var writer = ByteWriter()
        for index in 0..<pageCount {
            switch try page(index) {
            case .kept(let pointer): writer.append(pointer)
            case .new(let addresses):
                let isEmpty = addresses.allSatisfy { $0 == 0 }
                writer.append(isEmpty ? FramePointer.none : try append(addresses.map(\.littleEndian), .primaryPage, to: sink))
            }
        }
        return try append(writer.bytes, .primaryDirectory, to: sink)
    }

    enum PageSource {
        case kept(FramePointer)
        case new([UInt64])
    }

    private static func append<Element>(_ elements: [Element], _ kind: FrameKind, to sink: any FrameSink) throws(StoreError) -> FramePointer {
        let result: Result<FramePointer, StoreError> = elements.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try sink.append(kind: kind, payload: bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
