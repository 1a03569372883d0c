/// The first 100 bytes of a database. Source: SQLite, "Database File Format", 1.3.
package struct DatabaseHeader: Equatable, Sendable {
    package enum TextEncoding: UInt32, Sendable {
        case utf8 = 1, utf16LittleEndian, utf16BigEndian
    }

    package enum AutoVacuum: Sendable {
        case none, full, incremental
    }

    /// In bytes, a power of two from 512 to 65536.
    package let pageSize: Int
    /// Bytes at each page's end that belong to extensions.
    package let reservedBytes: Int
    package let writeVersion: UInt8
    package let readVersion: UInt8
    package let changeCounter: UInt32
    /// The header's own count of pages. It is valid only if `versionValidFor` equals `changeCounter`.
    package let pagesInHeader: UInt32
    package let freelistCount: UInt32
    package let schemaCookie: UInt32
    package let schemaFormat: UInt32
    package let encoding: TextEncoding
    package let userVersion: Int32
    package let applicationID: Int32
    package let autoVacuum: AutoVacuum
    package let versionValidFor: UInt32
    /// The version of the SQLite that wrote last: 3040001 is 3.40.1.
    package let sqliteVersion: UInt32

    package var usesWriteAheadLog: Bool { readVersion == 2 }
    /// The bytes of a page without the reserved ones.
    package var usableSize: Int { pageSize - reservedBytes }
    /// The header's count of pages, if SQLite trusts it.
    var trustedPageCount: UInt32? { pagesInHeader != 0 && changeCounter == versionValidFor ? pagesInHeader : nil }

    private static let magic = Array("SQLite format 3\0".utf8)

    enum Layout {
        static let pageSize = 16
        static let writeVersion = 18
        static let readVersion = 19
        static let reservedBytes = 20
        static let fractions = 21
        static let changeCounter = 24
        static let pagesInHeader = 28
        static let freelistStart = 32
        static let freelistCount = 36
        static let schemaCookie = 40
        static let schemaFormat = 44
        static let largestRoot = 52
        static let encoding = 56
        static let userVersion = 60
        static let incrementalVacuum = 64
        static let applicationID = 68
        static let versionValidFor = 92
        static let sqliteVersion = 96
        static let size = 100
    }

    /// - Parameter bytes: the file's start, as much as 1,024 bytes of it.
    init(_ bytes: [UInt8], fileSize: UInt64, path: String) throws(SQLiteFileError) {
        try Self.checkKind(bytes, fileSize: fileSize, path: path)
        func word(_ offset: Int) -> UInt32 { bytes.withUnsafeBytes { $0.baseAddress.map { $0.word(offset) } ?? 0 } }
        pageSize = Self.pageSize(of: bytes)
        reservedBytes = Int(bytes[Layout.reservedBytes])
        writeVersion = bytes[Layout.writeVersion]
        readVersion = bytes[Layout.readVersion]
        changeCounter = word(Layout.changeCounter)
        pagesInHeader = word(Layout.pagesInHeader)
        freelistCount = word(Layout.freelistCount)
        schemaCookie = word(Layout.schemaCookie)
        schemaFormat = word(Layout.schemaFormat)
        userVersion = Int32(bitPattern: word(Layout.userVersion))
        applicationID = Int32(bitPattern: word(Layout.applicationID))
        versionValidFor = word(Layout.versionValidFor)
        sqliteVersion = word(Layout.sqliteVersion)
        autoVacuum = word(Layout.largestRoot) == 0 ? .none : word(Layout.incrementalVacuum) == 0 ? .full : .incremental
        // A database without a table may have no encoding yet.
        guard let encoding = TextEncoding(rawValue: max(1, word(Layout.encoding))) else {
            throw .corrupt(path, page: 1, offset: Layout.encoding, "the header names no known text encoding: \(word(Layout.encoding))")
        }
        self.encoding = encoding
        try checkFields(bytes, path)
    }

    /// Of a file without bytes, which is an empty database.
    static let empty = DatabaseHeader()

    private init() {
        (pageSize, reservedBytes, writeVersion, readVersion, schemaFormat, encoding) = (4096, 0, 1, 1, 0, .utf8)
        (changeCounter, pagesInHeader, freelistCount, schemaCookie, versionValidFor, sqliteVersion) = (0, 0, 0, 0, 0, 0)
        (userVersion, applicationID, autoVacuum) = (0, 0, .none)
    }

    private static func pageSize(of bytes: [UInt8]) -> Int {
        let size = Int(bytes[Layout.pageSize]) << 8 | Int(bytes[Layout.pageSize + 1])
        return size == 1 ? 65536 : size
    }

    private func checkFields(_ bytes: [UInt8], _ path: String) throws(SQLiteFileError) {
        guard readVersion <= 2, schemaFormat <= 4 else {
            let (name, value) = readVersion > 2 ? ("read version", UInt32(readVersion)) : ("schema format", schemaFormat)
            throw SQLiteFileError(
                .unsupportedVersion, path: path, page: 1, offset: UInt64(readVersion > 2 ? Layout.readVersion : Layout.schemaFormat),
                "the header's \(name) is \(value), which only a newer program can read", remedy: "Use a newer version of this program.")
        }
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            throw .corrupt(path, page: 1, offset: Layout.pageSize, "the page size \(pageSize) is no power of two from 512 to 65536")
        }
        guard usableSize >= 480 else {
            throw .corrupt(path, page: 1, offset: Layout.reservedBytes, "\(reservedBytes) reserved bytes leave too little of a page")
        }
        guard bytes[Layout.fractions..<Layout.fractions + 3].elementsEqual([64, 32, 32]) else {
            throw .corrupt(path, page: 1, offset: Layout.fractions, "the header's payload fractions are not 64, 32, 32")
        }
    }

    private static func checkKind(_ bytes: [UInt8], fileSize: UInt64, path: String) throws(SQLiteFileError) {
        if !bytes.starts(with: magic.prefix(bytes.count)) {
            if looksEncrypted(bytes, fileSize: fileSize) {
                throw SQLiteFileError(
                    .encrypted, path: path, offset: 0, "the file's bytes look random: this may be an encrypted database",
                    remedy: "Decrypt it with the program that made it, then open the decrypted file.")
            }
            throw SQLiteFileError(
                .notADatabase, path: path, offset: 0, "the file does not begin as an SQLite database does", remedy: "Check the path.")
        }
        guard bytes.count >= Layout.size else {
            throw SQLiteFileError(
                .tooShort, path: path, offset: fileSize, "the file ends inside the database header", remedy: "Restore a whole copy of the file.")
        }
    }

    /// Whether a file may be a database, in clear or encrypted.
    /// - Parameter prefix: the file's start, as much as 1,024 bytes of it.
    package static func isPossible(_ prefix: [UInt8], fileSize: UInt64) -> Bool {
        isClear(prefix) || looksEncrypted(prefix, fileSize: fileSize)
    }

    /// Whether a file is a database in clear, by its start.
    package static func isClear(_ prefix: [UInt8]) -> Bool { prefix.starts(with: magic) }

    /// Encrypted databases are whole pages of random bytes. 512 random bytes have 221 distinct values on average, seldom fewer than 200.
    private static func looksEncrypted(_ bytes: [UInt8], fileSize: UInt64) -> Bool {
        guard fileSize >= 512, fileSize % 512 == 0, bytes.count >= 512 else { return false }
        return Set(bytes.prefix(512)).count >= 190
    }
}
