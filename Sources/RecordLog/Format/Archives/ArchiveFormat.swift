/// A random number that each writing of an archive gets. It distinguishes that archive from every earlier one.
package struct ArchiveEdition: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64
}

/// The first bytes of an archive. Spec: docs/format/archive.md.
struct ArchiveHeader {
    enum Layout {
        static let magic = 0
        static let version = 8
        static let edition = 16
        static let length = 32
        static let checksum = 56
        static let size = 64
    }

    static let magic = Array("HEARTBIN".utf8)
    static let version: UInt32 = 1

    var edition: ArchiveEdition
    /// The length of the whole file.
    var length: UInt64

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.bytes = Self.magic
        writer.append(Self.version)
        writer.append(UInt32(0))
        writer.append(edition.high)
        writer.append(edition.low)
        writer.append(length)
        writer.append(UInt64(0))
        writer.append(UInt64(0))
        writer.append(writer.bytes.withUnsafeBytes { XXH64.hash($0, seed: 0) })
        return writer.bytes
    }

    init(edition: ArchiveEdition, length: UInt64) {
        self.edition = edition
        self.length = length
    }

    /// - Parameter bytes: the file's first bytes; fewer than a header if the file is shorter.
    /// - Throws: `notAStore`, with a message that names the file's likely format; `unsupportedVersion`; `corrupt`.
    init(_ bytes: [UInt8], path: String) throws(StoreError) {
        guard bytes.starts(with: Self.magic) else { throw Self.foreign(bytes, path) }
        guard bytes.count >= Layout.size else {
            throw ArchiveFormat.corrupt(path, at: UInt64(bytes.count), "the archive ends within its header")
        }
        func word(_ offset: Int) -> UInt64 {
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        }
        let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[..<Layout.checksum]), seed: 0) }
        guard checksum == word(Layout.checksum) else { throw ArchiveFormat.corrupt(path, at: 0, "the archive's header is damaged") }
        let version = UInt32(truncatingIfNeeded: word(Layout.version))
        guard version == Self.version else {
            throw StoreError(
                .unsupportedVersion, path: path, at: UInt64(Layout.version),
                "the archive has format version \(version), not \(Self.version)",
                remedy: "Open it with a newer Heartwood.")
        }
        edition = ArchiveEdition(high: word(Layout.edition), low: word(Layout.edition + 8))
        length = word(Layout.length)
    }

    /// The error for a file without the magic. It names the file's format if that is a known one.
    private static func foreign(_ bytes: [UInt8], _ path: String) -> StoreError {
        let identity = Int(FileFormat.identityOffsets[0])
        if bytes.count >= identity + FileFormat.magic.count, bytes[identity...].starts(with: FileFormat.magic) {
            return StoreError(
                .notAStore, path: path, "this is a record log, not a binary archive", remedy: "Open it with the store type RecordLog.")
        }
        if bytes.starts(with: Array("SQLite format 3\0".utf8)) {
            return StoreError(
                .notAStore, path: path, "this is an SQLite database, not a binary archive",
                remedy: "If Core Data made it, open it with the store type SQLite.")
        }
        return StoreError(
            .notAStore, path: path, at: 0, "this is not a binary archive, or its header is destroyed",
            remedy: "Check the path and the store type; restore a backup if it was an archive. Other makers' binary stores are not read.")
    }

    /// The number of bytes that suffice to recognize a file's format.
    static let probeSize = Int(FileFormat.identityOffsets[0]) + FileIdentity.Layout.size
}

/// An archive stores its bytes behind the header, in blocks with a checksum each. Spec: docs/format/archive.md.
enum ArchiveFormat {
    /// The most bytes in a block.
    static let blockMax = 1 << 20

    enum Block {
        static let length = 0
        static let number = 4
        static let checksum = 8
        static let size = 16
    }

    static func seed(_ edition: ArchiveEdition, block: UInt32) -> UInt64 { edition.low ^ UInt64(block) }

    static func corrupt(_ path: String, at offset: UInt64?, _ message: String) -> StoreError {
        StoreError(.corrupt, path: path, at: offset, message, remedy: "Restore a backup: an archive is read whole or not at all.")
    }
}
