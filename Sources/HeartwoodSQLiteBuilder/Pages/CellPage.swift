import HeartwoodPlatform

/// A page of a b-tree that takes cells in their order. Pointers to them grow from its header, their bytes from its end.
final class CellPage {
    let kind: PageKind
    let size: Int
    let bytes: UnsafeMutableRawPointer
    private(set) var count = 0
    /// The offset of the newest cell, which has the lowest.
    private var content: Int
    /// Of an interior page, the last child. It has no cell.
    var lastChild: UInt32 = 0

    init(_ kind: PageKind, size: Int) {
        self.kind = kind
        self.size = size
        content = size
        bytes = .allocate(byteCount: size, alignment: 16)
    }

    deinit { bytes.deallocate() }

    private var pointersEnd: Int { kind.headerSize + PageFormat.pointerSize * count }
    /// The free bytes.
    var room: Int { content - pointersEnd }

    /// - Returns: the bytes of a new last cell; nil if the page has no room for it.
    @inline(__always)
    func append(_ cellSize: Int) -> UnsafeMutableRawPointer? {
        guard room >= cellSize + PageFormat.pointerSize else { return nil }
        content -= cellSize
        bytes.setHalf(content, at: pointersEnd)
        count += 1
        return bytes + content
    }

    /// - Returns: the cell's bytes, which stay until a cell is appended.
    func removeLast() -> UnsafeRawBufferPointer {
        precondition(count > 1, "a page keeps a cell")
        count -= 1
        let end = Int(UInt16(bigEndian: bytes.load(fromByteOffset: pointersEnd - PageFormat.pointerSize, as: UInt16.self)))
        defer { content = end }
        return UnsafeRawBufferPointer(start: bytes + content, count: end - content)
    }

    func reset() {
        count = 0
        content = size
    }

    /// Writes the page's header, and zeroes over the rest of an earlier page.
    func seal() {
        memset(bytes + pointersEnd, 0, room)
        Self.writeHeader(to: bytes, kind, count: count, content: content, lastChild: lastChild)
    }

    private static func writeHeader(to bytes: UnsafeMutableRawPointer, _ kind: PageKind, count: Int, content: Int, lastChild: UInt32) {
        bytes.storeBytes(of: kind.rawValue, as: UInt8.self)
        bytes.setHalf(0, at: 1)
        bytes.setHalf(count, at: 3)
        // 65536 is written as 0.
        bytes.setHalf(content, at: 5)
        bytes.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        if !kind.isLeaf { bytes.setWord(lastChild, at: 8) }
    }

    /// Makes the file's first page of this root.
    /// - Returns: false if the file's header has no room in it.
    func copyRoot(toFirstPage page: UnsafeMutableRawPointer) -> Bool {
        guard room >= PageFormat.fileHeader else { return false }
        seal()
        (page + PageFormat.fileHeader).copyMemory(from: bytes, byteCount: pointersEnd)
        (page + content).copyMemory(from: bytes + content, byteCount: size - content)
        return true
    }

    /// The root of a tree whose only child is too full for the first page. No other page may be without a cell.
    static func writeFirstPage(_ page: UnsafeMutableRawPointer, size: Int, onlyChild: UInt32) {
        writeHeader(to: page + PageFormat.fileHeader, .tableInterior, count: 0, content: size, lastChild: onlyChild)
    }
}
