/// Reads the first 8 KiB of a file. If it is not a store, the error names the likely format.
struct HeaderReader {
    let path: String

    static func header(of storage: any StorageFile) throws(StoreError) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        _ = try read(storage, into: &header)
        return header
    }

    static func read(_ storage: any StorageFile, into header: inout [UInt8]) throws(StoreError) -> Int {
        try header.withUnsafeMutableBufferPointer { bytes throws(StoreError) in
            try storage.read(into: UnsafeMutableRawBufferPointer(bytes), at: 0)
        }
    }

    /// Whether a file with only this header can be the rest of a creation that crashed before a sync: it has zeroes and parts of a header,
    /// or a whole header whose superblock does not show a sync.
    static func isUnfinished(_ header: [UInt8]) -> Bool {
        for offset in FileFormat.identityOffsets {
            let bytes = header[Int(offset)..<Int(offset) + FileIdentity.Layout.size]
            guard zip(bytes, FileFormat.magic).allSatisfy({ $0 == $1 || $0 == 0 }) else { return false }
            guard let identity = bytes.withUnsafeBytes({ FileIdentity($0) }) else { continue }
            if let superblock = newestSuperblock(header, fileID: identity.fileID),
                !superblock.isUnsettled || superblock.end > FileFormat.dataStart
            {
                return false
            }
        }
        // The first superblock has generation 1.
        let written = FileFormat.identityOffsets.map { (start: Int($0), size: FileIdentity.Layout.size) }
            + [(start: Int(FileFormat.superblockOffsets[1]), size: Superblock.Layout.size)]
        return header.withUnsafeBytes { bytes in
            var end = 0
            for piece in written.sorted(by: { $0.start < $1.start }) {
                guard UnsafeRawBufferPointer(rebasing: bytes[end..<piece.start]).isZero else { return false }
                end = piece.start + piece.size
            }
            return UnsafeRawBufferPointer(rebasing: bytes[end...]).isZero
        }
    }

    func identity(_ header: [UInt8], count: Int, size: UInt64) throws(StoreError) -> FileIdentity {
        var found: FileIdentity?
        header.withUnsafeBytes { bytes in
            for offset in FileFormat.identityOffsets where found == nil {
                let start = Int(offset)
                found = FileIdentity(UnsafeRawBufferPointer(rebasing: bytes[start..<start + FileIdentity.Layout.size]))
            }
        }
        guard count > 0 else {
            throw StoreError(
                .notAStore, path: path, "the file is empty", remedy: "Check the path, or open it for writing once, which makes it a store.")
        }
        guard let found else { throw notAStore(header) }
        try check(found)
        return found
    }

    /// The error for a file without an identity.
    func notAStore(_ header: [UInt8]) -> StoreError {
        if header.starts(with: Array("SQLite format 3\0".utf8)) {
            return StoreError(
                .notAStore, path: path, "this is an SQLite database",
                remedy: "If Core Data made it, open it with the store type SQLite, or convert it with `heartwood convert`.")
        }
        if header.starts(with: ArchiveHeader.magic) {
            return StoreError(
                .notAStore, path: path, "this is a binary archive, not a record log", remedy: "A program reads it as a binary store; `heartwood` does not.")
        }
        return StoreError(
            .notAStore, path: path, at: 0, "this is not a Heartwood store, or its header is destroyed",
            remedy: "Check the path; restore a backup if it was a store.")
    }

    func check(_ found: FileIdentity) throws(StoreError) {
        guard found.version <= FileFormat.version, found.version > 0 else {
            throw StoreError(
                .unsupportedVersion, path: path, "the store has format version \(found.version), newer than \(FileFormat.version)",
                remedy: "Open it with a newer Heartwood.")
        }
        guard FileFormat.segmentShiftRange.contains(found.segmentShift) else {
            throw StoreError.corrupt(path, at: FileFormat.identityOffsets[0], "the header names an impossible segment size")
        }
    }

    /// The valid superblock of the higher generation; nil if neither is valid.
    static func newestSuperblock(_ header: [UInt8], fileID: UInt64) -> Superblock? {
        header.withUnsafeBytes { newestSuperblock($0, fileID: fileID) }
    }

    static func newestSuperblock(_ header: UnsafeRawBufferPointer, fileID: UInt64) -> Superblock? { superblocks(header, fileID: fileID).newest }

    /// The newest superblock; and whether each of the two is valid or was never written. Any other is damaged or being written.
    static func superblocks(_ header: UnsafeRawBufferPointer, fileID: UInt64) -> (newest: Superblock?, areWhole: Bool) {
        var newest: Superblock?
        var areWhole = true
        for offset in FileFormat.superblockOffsets {
            let start = Int(offset)
            // A copy: the header may be mapped memory that another process writes between the checksum and the values.
            let bytes = Array(header[start..<start + Superblock.Layout.size])
            guard let superblock = bytes.withUnsafeBytes({ Superblock($0, fileID: fileID) }) else {
                areWhole = areWhole && bytes.allSatisfy { $0 == 0 }
                continue
            }
            if superblock.generation >= newest?.generation ?? 0 { newest = superblock }
        }
        return (newest, areWhole)
    }
}
