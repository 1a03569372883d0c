/// Sorts links by their keys in bounded memory, and reads them beside rows whose keys rise.
///
/// The states follow each other: `add` calls, one `finish`, then `next` and `take` calls. A link is sorted as an index's entry is: as a record of
/// three integers.
package final class SQLiteLinkSorter {
    package struct Link: Equatable {
        package let key: Int64
        package let first: Int64
        package let second: Int64

        package init(key: Int64, first: Int64, second: Int64) {
            self.key = key
            self.first = first
            self.second = second
        }
    }

    /// Of the links in memory, in bytes.
    package static let memoryMaxDefault = 8 << 20
    /// Three integers of eight bytes.
    private static let serial: UInt8 = 6, headerSize = 4, size = headerSize + 3 * MemoryLayout<Int64>.size

    private let space: SortSpace
    private let sorter: EntrySorter
    /// The next link.
    private var head: Link?

    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        /// - Parameter path: of a file; links beyond the memory go to an unnamed file beside it.
        package convenience init(beside path: String) { self.init(SortSpace(path: path, files: POSIXBuildFiles(), memoryMax: Self.memoryMaxDefault)) }
    #endif

    init(_ space: SortSpace) {
        self.space = space
        sorter = space.makeSorter(EntryOrder(descending: [false]))
    }

    package func add(_ link: Link) throws {
        try sorter.add(Self.size) { record in
            record.storeBytes(of: UInt8(Self.headerSize), as: UInt8.self)
            for value in 1..<Self.headerSize { record.storeBytes(of: Self.serial, toByteOffset: value, as: UInt8.self) }
            SerialType.write(link.key, size: 8, to: record + Self.headerSize)
            SerialType.write(link.first, size: 8, to: record + Self.headerSize + 8)
            SerialType.write(link.second, size: 8, to: record + Self.headerSize + 16)
        }
    }

    package func finish() throws {
        try sorter.finish()
        try advance()
    }

    private func advance() throws {
        head = try sorter.next()?.baseAddress.map { record in
            var reader = RecordReader(record)
            func integer() -> Int64 {
                let value = reader.next()
                return SerialType.readInteger(value.serial, value.bytes)
            }
            return Link(key: integer(), first: integer(), second: integer())
        }
    }

    package func next() throws -> Link? {
        guard let link = head else { return nil }
        try advance()
        return link
    }

    /// The link of a key, where the keys that are asked for rise. Links of keys between them are left out.
    /// - Throws: the error that `other` makes of a second link of the same key.
    package func take(_ key: Int64, other: (Link, Link) -> any Error) throws -> Link? {
        while let link = head, link.key < key { try advance() }
        guard let link = head, link.key == key else { return nil }
        try advance()
        if let second = head, second.key == key { throw other(link, second) }
        return link
    }
}
