/// A file that is read whole and replaced whole.
///
/// Whoever replaces it holds the lock of the file that stands at the path, writes another beside it, and renames that. So a reader
/// finds one whole state or another, and the file that somebody has read stays what it was while it is held open; its inode is not
/// given to another file meanwhile, so a look at the path's identity tells whether it was replaced.
///
/// Invariants:
/// 1. `edition` is that of the bytes read or written last, and `handle` the file that they are in.
/// 2. Once the new file has the path and the directory could not be synced, nothing is written any more (`poison`): nobody knows
///    which of the two files a crash leaves.
///
/// For one thread at a time.
package final class ArchiveFile {
    package let path: String
    private let fileSystem: any FileSystem
    private let options: StoreOptions
    private var handle: (any StorageFile)?
    /// nil: there was no archive.
    package private(set) var edition: ArchiveEdition?
    /// The file at the path, while this holds its lock.
    private var locked: (any StorageFile)?
    private var poison: StoreError?

    /// - Parameter options: the file system, durability, lock timeout, and whether anything is written.
    package init(path: String, options: StoreOptions) {
        self.path = path
        self.options = options
        fileSystem = options.resolvedFileSystem()
    }

    // MARK: Reading

    /// What the archive at the path holds; nil where there is no file, or an empty one.
    /// - Throws: `notAStore`, `unsupportedVersion`, `corrupt`, `io`, `permissionDenied`, `isDirectory`; what was read before counts still.
    /// - Complexity: O(bytes); memory grows with what was verified, whatever the file claims.
    package func read() throws(StoreError) -> [UInt8]? {
        let found = if let locked { locked as (any StorageFile)? } else { try current() }
        guard let file = found, let header = try Self.header(of: file, path) else { return nil }
        let payload = try payload(of: file, header)
        handle = file
        edition = header.edition
        return payload
    }

    /// The file at the path; nil for none.
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

    /// So many bytes, or fewer at the end of the file.
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

    /// Lets what was read last count as not read.
    package func forget() { edition = nil }

    /// Whether another file has taken the path since this one was read. One look at the path; false where it cannot be looked at.
    package var isReplaced: Bool {
        guard let found = try? fileSystem.identity(of: path) else { return false }
        return found != handle?.identity
    }

    // MARK: Writing

    /// Runs `body` while no other writer works, here or in another process.
    /// - Parameter isCreating: whether a file that is not there is made, empty.
    /// - Throws: `locked`, `notFound` where the file is gone, `poisoned`, `io`; what `body` throws.
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
            // Whoever had the lock before may have put another file in its place.
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
    /// - Precondition: within `withLock`.
    package func isStale() throws(StoreError) -> Bool {
        guard let locked else { preconditionFailure("an archive is looked at under its lock") }
        return try Self.header(of: locked, path)?.edition != edition
    }

    /// Writes a new file in the place of the one there is. What is there afterwards is one of the two, whole:
    /// - A crash while the new file is written beside the old one leaves the old one, and a file that the next save removes.
    /// - A crash from the rename on, until the directory is synced, leaves either; the save was not acknowledged.
    /// - Throws: what `body` throws, and `io`, `noSpace`, `permissionDenied`, and `exists` where somebody's file is where the new one is to
    ///   be written: the old file is there then, unless the directory could not be synced (2).
    /// - Precondition: within `withLock`.
    package func replace(_ body: (ArchiveWriter) throws -> Void) throws {
        guard let old = locked else { preconditionFailure("an archive is replaced under its lock") }
        // Not the link, where the path is one.
        let target = try fileSystem.resolved(path)
        let beside = target + ".saving"
        // Whoever left it behind has the lock no more.
        try removeLeftover(beside)
        let edition = ArchiveEdition(high: fileSystem.random(), low: fileSystem.random())
        let file = try fileSystem.create(beside, like: old)
        let directory: (any OpenDirectory)?
        do {
            let writer = ArchiveWriter(file, edition: edition)
            try body(writer)
            try writer.finish()
            if options.durability != .none { try file.sync() }
            // Somebody who does not ask for the lock may have put a file there.
            guard try fileSystem.identity(of: path) == old.identity else {
                throw StoreError(
                    .superseded, path: path, "another file took the archive's place while it was saved",
                    remedy: "Save again: the changes are made on top of the new file.")
            }
            directory = options.durability == .full ? try fileSystem.openDirectory(of: beside) : nil
            try file.liken(to: old)
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

    /// Removes the archive at `path`, damaged or not, and what an interrupted save has left beside it. Does nothing where there is no file.
    /// - Throws: `notAStore` for any other file, `locked` while somebody saves, `isDirectory`, `permissionDenied`. Nothing is removed then.
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

    /// Removes what an interrupted save has left: its header is written last, so it begins with that or with nothing.
    private func removeLeftover(_ path: String) throws(StoreError) {
        guard let left = try fileSystem.openLeftover(path) else { return }
        let start = try Self.read(left, at: 0, count: ArchiveHeader.magic.count)
        // A loss of power may have left a part of it.
        guard zip(start, ArchiveHeader.magic).allSatisfy({ $0 == 0 || $0 == $1 }) else {
            throw StoreError(
                .exists, path: path, "there is a file that no save has left, where the archive is to be written",
                remedy: "Move it elsewhere, and save again.")
        }
        try fileSystem.removeLeftover(left, path)
    }
}
