/// A file that is read whole and replaced whole.
///
/// A writer holds the lock of the file at the path, writes another file beside it, and renames that. So a reader finds one whole state or
/// another, and a file that is held open stays unchanged. Its inode is not given to another file meanwhile, so the path's identity shows
/// whether the file was replaced.
///
/// Invariants:
/// 1. `edition` is that of the bytes read or written last, and `handle` the file that has them.
/// 2. Once the new file has the path and the directory could not be synced, nothing is written any more (`poison`): a crash may leave either
///    file.
///
/// For one thread at a time.
package final class ArchiveFile {
    package let path: String
    private let fileSystem: any FileSystem
    private let options: StoreOptions
    private var handle: (any StorageFile)?
    /// nil if no archive exists.
    package private(set) var edition: ArchiveEdition?
    /// The file at the path, while this object holds its lock.
    private var locked: (any StorageFile)?
    private var poison: StoreError?

    /// - Parameter options: the file system, the durability, the lock timeout, and whether the file is read-only.
    package init(path: String, options: StoreOptions) {
        self.path = path
        self.options = options
        fileSystem = options.resolvedFileSystem()
    }

    // MARK: Reading

    /// The payload of the archive at the path; nil if the file does not exist or is empty.
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupt`, `io`, `permissionDenied`, `isDirectory`; the state read before remains.
    /// - Complexity: O(bytes). Memory grows only with verified bytes, not with the size that the file claims.
    package func read() throws(StoreError) -> [UInt8]? {
        let found = if let locked { locked as (any StorageFile)? } else { try current() }
        guard let file = found, let header = try Self.header(of: file, path) else { return nil }
        let payload = try payload(of: file, header)
        handle = file
        edition = header.edition
        return payload
    }

    /// The file at the path; nil if it does not exist.
    private func current() throws(StoreError) -> (any StorageFile)? {
        do throws(StoreError) {
            return try fileSystem.open(path, options.isReadOnly ? .readOnly : .readWrite)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private static func header(of file: any StorageFile, _ path: String) throws(StoreError) -> ArchiveHeader? {
        let bytes = try read(file, at: 0, count: ArchiveHeader.probeSize)
        return bytes.isEmpty ? nil : try ArchiveHeader(bytes, path: path)
    }

    /// Reads this many bytes, or fewer at the end of the file.
    private static func read(_ file: any StorageFile, at offset: UInt64, count: Int) throws(StoreError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { buffer.deallocate() }
        let done = try file.read(into: buffer, at: offset)
        return Array(UnsafeRawBufferPointer(rebasing: buffer[..<done]))
    }

    private func payload(of file: any StorageFile, _ header: ArchiveHeader) throws(StoreError) -> [UInt8] {
        var payload: [UInt8] = []
        var offset = UInt64(ArchiveHeader.Layout.size)
        var number: UInt32 = 0
        func corrupt(_ message: String) -> StoreError { ArchiveFormat.corrupt(path, at: offset, message) }
        while offset < header.length {
            let head = try Self.read(file, at: offset, count: ArchiveFormat.Block.size)
            guard head.count == ArchiveFormat.Block.size else { throw corrupt("the archive is cut short") }
            let block = head.withUnsafeBytes { bytes in (
                length: Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: ArchiveFormat.Block.length, as: UInt32.self))),
                number: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: ArchiveFormat.Block.number, as: UInt32.self)),
                checksum: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: ArchiveFormat.Block.checksum, as: UInt64.self)))
            }
            guard block.length > 0, block.length <= ArchiveFormat.blockMax, block.number == number else {
                throw corrupt("a block of the archive is damaged")
            }
            let bytes = try Self.read(file, at: offset + UInt64(ArchiveFormat.Block.size), count: block.length)
            guard bytes.count == block.length else { throw corrupt("the archive is cut short") }
            let checksum = bytes.withUnsafeBytes { XXH64.hash($0, seed: ArchiveFormat.seed(header.edition, block: number)) }
            guard checksum == block.checksum else { throw corrupt("a block of the archive is damaged") }
            payload += bytes
            offset += UInt64(ArchiveFormat.Block.size + block.length)
            number &+= 1
        }
        guard offset == header.length, try file.size() == offset else {
            throw corrupt("the archive has another length than its header says")
        }
        return payload
    }

    /// Forgets the edition that was read last, so that the next look finds it stale.
    package func forget() { edition = nil }

    /// Whether another file has taken the path since this one was read. One look at the path; false if that fails.
    package var isReplaced: Bool {
        guard let found = try? fileSystem.identity(of: path) else { return false }
        return found != handle?.identity
    }

    // MARK: Writing

    /// Runs `body` while no other writer works, in this process or another.
    /// - Parameter isCreating: whether to create a missing file, empty.
    /// - Throws: `locked`, `notFound` if the file is gone, `poisoned`, `io`; the error of `body`.
    package func withLock<Result>(isCreating: Bool = false, _ body: () throws -> Result) throws -> Result {
        if let poison {
            throw StoreError(
                .poisoned, path: path, "an earlier save may not have reached the disk: \(poison.message)",
                remedy: "Remove the store and add it again.")
        }
        let file = try lock(isCreating: isCreating)
        locked = file
        defer {
            locked = nil
            file.unlock()
        }
        return try body()
    }

    private func lock(isCreating: Bool) throws(StoreError) -> any StorageFile {
        while true {
            let file = try fileToLock(isCreating: isCreating)
            try file.lock(timeout: options.lockTimeout)
            // The previous holder of the lock may have replaced the file at the path.
            let isCurrent: Bool
            do throws(StoreError) {
                isCurrent = try fileSystem.identity(of: path) == file.identity
            } catch {
                file.unlock()
                throw error
            }
            if isCurrent { return file }
            file.unlock()
        }
    }

    private func fileToLock(isCreating: Bool) throws(StoreError) -> any StorageFile {
        if let handle, try fileSystem.identity(of: path) == handle.identity { return handle }
        if let file = try current() { return file }
        guard isCreating else {
            throw StoreError(
                .notFound, path: path, "the archive was removed while it was open",
                remedy: "Put it back, or remove the store and add it again, which makes a new one.")
        }
        do throws(StoreError) {
            return try fileSystem.open(path, .create)
        } catch {
            guard error.code == .exists, let file = try current() else { throw error }
            return file
        }
    }

    /// Whether the file at the path has other contents than those read or written last.
    /// - Precondition: called within `withLock`.
    package func isStale() throws(StoreError) -> Bool {
        guard let locked else { preconditionFailure("an archive is looked at under its lock") }
        return try Self.header(of: locked, path)?.edition != edition
    }

    /// Writes a new file that replaces the old one. Afterwards one of the two is at the path, whole:
    /// - A crash while the new file is written leaves the old one, and a file that the next save removes.
    /// - A crash from the rename on, until the directory is synced, leaves either; the save was not acknowledged.
    /// - Throws: the error of `body`; `io`, `noSpace`, `permissionDenied`; `exists` if another program's file has the name of the new one.
    ///   The old file is then at the path, unless only the sync of the directory failed (2).
    /// - Precondition: called within `withLock`.
    package func replace(_ body: (ArchiveWriter) throws -> Void) throws {
        guard let old = locked else { preconditionFailure("an archive is replaced under its lock") }
        // The file itself, if the path is a link.
        let target = try fileSystem.resolved(path)
        let beside = target + ".saving"
        // The save that left it holds the lock no more.
        try removeLeftover(beside)
        let edition = ArchiveEdition(high: fileSystem.random(), low: fileSystem.random())
        let file = try fileSystem.create(beside, like: old)
        let directory: (any OpenDirectory)?
        do {
            let writer = ArchiveWriter(file, edition: edition)
            try body(writer)
            try writer.finish()
            if options.durability != .none { try file.sync() }
            // A program that does not take the lock may have put another file at the path.
            guard try fileSystem.identity(of: path) == old.identity else {
                throw StoreError(
                    .superseded, path: path, "another file replaced the archive while it was saved",
                    remedy: "Save again: the changes are made on top of the new file.")
            }
            directory = options.durability == .full ? try fileSystem.openDirectory(of: beside) : nil
            try file.copyAttributes(from: old)
            try fileSystem.rename(beside, to: target)
        } catch {
            try? fileSystem.remove(beside)
            throw error
        }
        handle = file
        self.edition = edition
        guard let directory else { return }
        do throws(StoreError) {
            try directory.sync()
        } catch {
            poison = error
            throw error
        }
    }

    /// Removes the archive at `path`, damaged or not, and the file that an interrupted save left beside it. Does nothing if the file does not
    /// exist.
    /// - Throws: `notAStore` for any other file, `locked` during a save, `isDirectory`, `permissionDenied`. Nothing is removed then.
    package static func remove(path: String, options: StoreOptions) throws {
        let archive = ArchiveFile(path: path, options: options)
        guard try archive.current() != nil else { return }
        try archive.withLock { try archive.remove() }
    }

    private func remove() throws {
        guard let locked else { preconditionFailure("an archive is removed under its lock") }
        let start = try Self.read(locked, at: 0, count: ArchiveHeader.probeSize)
        if !start.starts(with: ArchiveHeader.magic), !start.isEmpty { _ = try ArchiveHeader(start, path: path) }
        let target = try fileSystem.resolved(path)
        try? removeLeftover(target + ".saving")
        let directory = options.durability != .none ? try fileSystem.openDirectory(of: target) : nil
        try fileSystem.remove(target)
        if target != path { try fileSystem.remove(path) }
        try directory?.sync()
    }

    /// Removes the file of an interrupted save. Its header is written last, so it begins with the magic bytes or with zeroes.
    private func removeLeftover(_ path: String) throws(StoreError) {
        guard let left = try fileSystem.openLeftover(path) else { return }
        let start = try Self.read(left, at: 0, count: ArchiveHeader.magic.count)
        // A loss of power may have left a part of the magic bytes.
        guard zip(start, ArchiveHeader.magic).allSatisfy({ $0 == 0 || $0 == $1 }) else {
            throw StoreError(
                .exists, path: path, "there is a file that no save has left, where the archive is to be written",
                remedy: "Move it elsewhere, and save again.")
        }
        try fileSystem.removeLeftover(left, path)
    }
}
