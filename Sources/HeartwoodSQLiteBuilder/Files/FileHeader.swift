/// The first 100 bytes of a file. Source: SQLite, "Database File Format", 1.3.
enum FileHeader {
    private enum Layout {
        static let magic = 0
        static let pageSize = 16
        static let writeVersion = 18
        static let readVersion = 19
        static let payloadFractions = 21
        static let changeCounter = 24
        static let pageCount = 28
        static let schemaCookie = 40
        static let schemaFormat = 44
        static let textEncoding = 56
        static let userVersion = 60
        static let applicationID = 68
        static let versionValidFor = 92
        static let libraryVersion = 96
    }

    /// The file format's own constants: the largest and smallest fractions of a page in a cell, and that of a leaf.
    private static let fractions: [UInt8] = [64, 32, 32]
    private static let magic = Array("SQLite format 3\0".utf8)
    /// The first version of SQLite that reads the page count in the header.
    private static let libraryVersion: UInt32 = 3_007_000

    /// - Parameter page: the first page, with zeroes where the header belongs.
    static func write(to page: UnsafeMutableRawPointer, _ options: SQLiteFileBuilder.Options, pageCount: UInt32) {
        for (index, byte) in magic.enumerated() { page.storeBytes(of: byte, toByteOffset: Layout.magic + index, as: UInt8.self) }
        // 65536 is written as 1.
        page.setHalf(options.pageSize == 65536 ? 1 : options.pageSize, at: Layout.pageSize)
        page.storeBytes(of: 1, toByteOffset: Layout.writeVersion, as: UInt8.self)
        page.storeBytes(of: 1, toByteOffset: Layout.readVersion, as: UInt8.self)
        for (index, byte) in fractions.enumerated() { page.storeBytes(of: byte, toByteOffset: Layout.payloadFractions + index, as: UInt8.self) }
        page.setWord(1, at: Layout.changeCounter)
        page.setWord(pageCount, at: Layout.pageCount)
        page.setWord(1, at: Layout.schemaCookie)
        page.setWord(4, at: Layout.schemaFormat)
        page.setWord(1, at: Layout.textEncoding)
        page.setWord(UInt32(bitPattern: options.userVersion), at: Layout.userVersion)
        page.setWord(UInt32(bitPattern: options.applicationID), at: Layout.applicationID)
        // The same as the change counter, or the page count would not be valid.
        page.setWord(1, at: Layout.versionValidFor)
        page.setWord(libraryVersion, at: Layout.libraryVersion)
    }
}
