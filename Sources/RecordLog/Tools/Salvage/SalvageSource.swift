/// A damaged file, opened read-only. Nothing in it is trusted except one copy of its identity.
struct SalvageSource {
    let file: LogFile
    /// Bytes that the salvage reads.
    let size: UInt64
    /// The valid superblock of the higher generation.
    let superblock: Superblock?
    /// If both are valid, the newer one is the last that was written, and bytes behind its end were never published.
    let hasBothSuperblocks: Bool
    /// Damaged parts of the header.
    let headerDamage: [StoreSalvage.Damage]
    /// Bytes that the disk cannot read, in whole pages and in order. They are not read again.
    let unreadable: [Range<UInt64>]

    var path: String { file.path }

    /// Takes the file's lock; `close` releases it.
    /// - Throws: `notAStore`, `unsupportedVersion`, `notFound`, `isDirectory`, `permissionDenied`, `locked`; `corrupt` if a store has lost
    ///   both copies of its identity.
    /// - Parameter maps: whether readable bytes are mapped after that.
    /// - Complexity: O(file). Reads every byte once, so that an unreadable one is never reached through a mapping.
    init(path: String, fileSystem: any FileSystem, maps: Bool, lockTimeout: Duration) throws(StoreError) {
        let storage = try fileSystem.open(path, .readOnly)
        do throws(StoreError) {
            // So that no writer cuts off mapped bytes.
            try storage.lock(timeout: lockTimeout)
        } catch {
            // A file system without locks shows no other users either.
            guard error.code != .locked else { throw error }
        }
        let actual = try storage.size()
        let unreadable = try Self.unreadablePages(storage, size: actual)
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        Self.read(storage, into: &header, except: unreadable)
        var damage: [StoreSalvage.Damage] = []
        var identity: FileIdentity?
        for (copy, offset) in FileFormat.identityOffsets.enumerated() {
            let end = offset + UInt64(FileIdentity.Layout.size)
            let found = header[Int(offset)..<Int(end)].withUnsafeBytes { FileIdentity($0) }
            if found == nil { damage.append(.init(offset: offset, end: end, what: "copy \(copy) of the identity")) }
            identity = identity ?? found
        }
        guard let identity else { throw Self.withoutIdentity(path, header) }
        try HeaderReader(path: path).check(identity)
        var superblocks: [Superblock] = []
        for (number, offset) in FileFormat.superblockOffsets.enumerated() {
            let bytes = header[Int(offset)..<Int(offset) + Superblock.Layout.size]
            if let superblock = bytes.withUnsafeBytes({ Superblock($0, fileID: identity.fileID) }) {
                superblocks.append(superblock)
            } else if !bytes.allSatisfy({ $0 == 0 }) {
                damage.append(.init(offset: offset, end: offset + UInt64(Superblock.Layout.size), what: "superblock \(number)"))
            }
        }
        file = LogFile(storage: storage, path: path, identity: identity, maps: maps, counters: Counters())
        size = min(actual, file.sizeMax)
        file.extendReadable(to: size)
        superblock = HeaderReader.newestSuperblock(header, fileID: identity.fileID)
        hasBothSuperblocks = superblocks.count == FileFormat.superblockOffsets.count
        headerDamage = damage.sorted { $0.offset < $1.offset }
        self.unreadable = unreadable
    }

    func close() { file.storage.unlock() }

    /// The error for a file without an identity. The identity's number is the seed of every checksum.
    private static func withoutIdentity(_ path: String, _ header: [UInt8]) -> StoreError {
        let isStore = FileFormat.superblockOffsets.contains { header[Int($0)...].starts(with: Superblock.magic) }
            || FileFormat.identityOffsets.contains { header[Int($0)...].starts(with: FileFormat.magic) }
        guard isStore else { return HeaderReader(path: path).notAStore(header) }
        let offsets = FileFormat.identityOffsets.map { "\($0)" }.joined(separator: " and ")
        return StoreError(
            .corrupt, path: path, at: FileFormat.identityOffsets[0],
            "both copies of the file's identity are destroyed (at bytes \(offsets)), without which no checksum can be verified",
            remedy: "Copy the \(FileIdentity.Layout.size) bytes at \(FileFormat.identityOffsets[0]) from a backup of this very file, made "
                + "since it was last compacted, to the same offset of a copy, and salvage that; else restore the backup.")
    }

    // MARK: Reading

    /// The frame at `offset`, verified.
    /// - Parameter budget: bytes that may be hashed without a valid checksum. A frame that claims more is ignored.
    func frame(at offset: UInt64, budget: inout UInt64) throws(StoreError) -> LogFile.Frame? {
        let alignment = UInt64(FrameHeader.alignment)
        guard offset >= FileFormat.dataStart, offset % alignment == 0, size >= alignment, offset <= size - alignment,
            isReadable(offset..<offset + alignment),
            let header = try file.header(at: offset, limit: size), isReadable(offset..<offset + UInt64(header.length))
        else { return nil }
        return try file.frame(at: offset, limit: size, budget: &budget)
    }

    /// The record at an address; nil unless it is whole, in a frame that verifies.
    func record(at address: UInt64) -> (record: RowRecord, body: UnsafeRawPointer)? {
        guard unreadable.isEmpty || isInReadableFrame(address) else { return nil }
        return try? file.record(at: address, end: size)
    }

    private func isInReadableFrame(_ address: UInt64) -> Bool {
        let header = UInt64(FrameHeader.Layout.size), record = UInt64(RowRecord.size(ofBody: 0, version: 0, previous: 1))
        guard address >= FileFormat.dataStart, address < size, size - address >= record, isReadable(address..<address + record),
            let distance = try? distance(at: address, record),
            distance <= address - FileFormat.dataStart, isReadable(address - distance..<address - distance + header),
            let length = try? file.header(at: address - distance, limit: size)?.length
        else { return false }
        return isReadable(address - distance..<address - distance + UInt64(length))
    }

    private func distance(at address: UInt64, _ count: UInt64) throws(StoreError) -> UInt64? {
        let room = min(size - address, file.room(at: address))
        return try file.withBytes(at: address, count: Int(min(count, room))) { bytes throws(StoreError) in
            bytes.baseAddress.flatMap { RowRecord($0, limit: Int(room)) }.map { UInt64($0.distance) }
        }
    }

    func isReadable(_ range: Range<UInt64>) -> Bool {
        !unreadable.contains { $0.overlaps(range) }
    }

    /// Whether these bytes are all zero; false if the disk cannot read them.
    /// - Precondition: the range is within one page.
    func isZero(_ range: Range<UInt64>) throws(StoreError) -> Bool {
        guard isReadable(range) else { return false }
        return try file.withBytes(at: range.lowerBound, count: range.count) { $0.isZero }
    }

    /// The end of the page with `offset`, or of the file.
    func pageEnd(_ offset: UInt64) -> UInt64 { min(size, (offset / Self.page + 1) * Self.page) }

    // MARK: Unreadable pages

    static let page: UInt64 = 4096

    /// Reads the whole file. An unreadable sector gives an error here; in mapped memory it would be a fault.
    private static func unreadablePages(_ storage: any StorageFile, size: UInt64) throws(StoreError) -> [Range<UInt64>] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var found: [Range<UInt64>] = []
        var at: UInt64 = 0
        while at < size {
            let end = min(size, at + UInt64(buffer.count))
            if !canRead(storage, at..<end, buffer) {
                var page = at
                while page < end {
                    let next = min(end, page + Self.page)
                    if !canRead(storage, page..<next, buffer) {
                        if let last = found.last, last.upperBound == page {
                            found[found.count - 1] = last.lowerBound..<next
                        } else {
                            found.append(page..<next)
                        }
                    }
                    page = next
                }
            }
            at = end
        }
        return found
    }

    private static func canRead(_ storage: any StorageFile, _ range: Range<UInt64>, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        (try? storage.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<range.count]), at: range.lowerBound)) != nil
    }

    /// Reads the header page by page. Unreadable bytes stay zero.
    private static func read(_ storage: any StorageFile, into header: inout [UInt8], except unreadable: [Range<UInt64>]) {
        header.withUnsafeMutableBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Int(page))
            where !unreadable.contains(where: { $0.contains(UInt64(start)) }) {
                _ = try? storage.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + Int(page)]), at: UInt64(start))
            }
        }
    }
}
