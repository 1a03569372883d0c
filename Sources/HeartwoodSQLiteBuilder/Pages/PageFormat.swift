/// The parts of a file of SQLite that a builder writes. Source: SQLite, "Database File Format", 1.3, 1.6 and 1.7.
///
/// These few definitions are not those of the reader, whose types stand for untrusted bytes. So the tests that read built files with it
/// compare two readings of the specification.
enum PageFormat {
    static let fileHeader = 100
    static let leafHeader = 8
    static let interiorHeader = 12
    static let pointerSize = 2
    static let childSize = 4
    static let overflowHeader = 4
    /// The page that holds this byte belongs to the locks, and has no content.
    static let lockByte = 0x4000_0000
    static let pagesMax: UInt32 = 0xffff_fffe
    /// The longest record that SQLite reads, unless it was built with another limit.
    static let recordMax = 1_000_000_000
    /// The most columns of a table or an index, unless SQLite was built with another limit.
    static let columnsMax = 2000

    static func lockPage(_ pageSize: Int) -> UInt32 { UInt32(lockByte / pageSize + 1) }
}

/// The kind of a page, as its first byte says it.
enum PageKind: UInt8 {
    case indexInterior = 2, tableInterior = 5, indexLeaf = 10, tableLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
    var headerSize: Int { isLeaf ? PageFormat.leafHeader : PageFormat.interiorHeader }
}

/// The sizes that decide how much of a record is in its page.
struct PayloadLimits {
    let usable: Int
    let localMax: Int
    let localMin: Int

    init(pageSize: Int, isTable: Bool) {
        usable = pageSize
        localMin = (pageSize - 12) * 32 / 255 - 23
        localMax = isTable ? pageSize - 35 : (pageSize - 12) * 64 / 255 - 23
    }

    func localCount(_ count: Int) -> Int {
        guard count > localMax else { return count }
        let local = localMin + (count - localMin) % (usable - PageFormat.overflowHeader)
        return local <= localMax ? local : localMin
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always)
    func setHalf(_ value: Int, at offset: Int) {
        storeBytes(of: UInt16(truncatingIfNeeded: value).bigEndian, toByteOffset: offset, as: UInt16.self)
    }

    @inline(__always)
    func setWord(_ value: UInt32, at offset: Int) { storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt32.self) }
}
