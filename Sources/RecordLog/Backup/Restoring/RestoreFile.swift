/// The file beside a store's path that a restore fills. Its lock shows that a restore is in progress.
///
/// Until its last step the file has an identity and no superblock, so that no program takes it for a store. A crash leaves it without its
/// lock; the next restore of the same file goes on with it, and any other one removes it.
///
/// Crash points: before the rename the path has what it had. From the rename on, until the directory is synced, either may be at the path, and
/// both are whole. The superblock of the restored file says that its name must be made durable first (9).
final class RestoreFile: Sendable {
    static let suffix = ".restoring"

    let path: String
    let storage: any StorageFile
    let identity: FileIdentity
    /// Whether an interrupted restore has left the file.
    let isResumed: Bool
    private let fileSystem: any FileSystem

    private init(path: String, storage: any StorageFile, identity: FileIdentity, isResumed: Bool, fileSystem: any FileSystem) {
        self.path = path
        self.storage = storage
        self.identity = identity
        self.isResumed = isResumed
        self.fileSystem = fileSystem
    }

    /// Creates the file, or takes up the one that an interrupted restore has left.
    /// - Parameters:
    ///   - target: the restored store's path, with links resolved.
    ///   - model: the file whose permissions, owner and group it gets; nil for none.
    ///   - attributes: without a model, those of the file that it is made from.
    /// - Throws: `BackupError.Code.busy` if another restore to the path is in progress; `StoreError` `exists` if the name belongs to another
    ///   file.
    static func claim(
        besides target: String, _ identity: FileIdentity, like model: (any StorageFile)?, permittedAs attributes: FileAttributes?,
        _ fileSystem: any FileSystem
    ) throws -> RestoreFile {
        let path = target + suffix
        for _ in 0..<100 {
            if let left = try fileSystem.openLeftover(path) {
                guard try lock(left, path, fileSystem) else { continue }
                if try isSame(left, identity, path) {
                    let file = RestoreFile(path: path, storage: left, identity: identity, isResumed: true, fileSystem: fileSystem)
                    try file.writeHeader()
                    return file
                }
                defer { left.unlock() }
                try fileSystem.remove(path)
            }
            guard let made = try fileSystem.createUnlessThere(path, like: model, permittedAs: attributes), try lock(made, path, fileSystem) else { continue }
            let file = RestoreFile(path: path, storage: made, identity: identity, isResumed: false, fileSystem: fileSystem)
            try file.writeHeader()
            return file
        }
        throw underWay(path)
    }

    private static func lock(_ storage: any StorageFile, _ path: String, _ fileSystem: any FileSystem) throws -> Bool {
        do throws(StoreError) {
            return try fileSystem.lockIfNamed(storage, path)
        } catch {
            throw error.code == .locked ? underWay(path) : error
        }
    }

    /// Whether a restore of the same file has left this one.
    /// - Throws: `exists` if no restore can have left it.
    private static func isSame(_ storage: any StorageFile, _ identity: FileIdentity, _ path: String) throws(StoreError) -> Bool {
        let header = try HeaderReader.header(of: storage)
        if let found = FileIdentity.whole(inHeader: header) {
            // A store of a name like this has a settled superblock, and a restored file loses the name before it gets one.
            let superblock = HeaderReader.newestSuperblock(header, fileID: found.fileID)
            if superblock?.isUnsettled ?? true { return found == identity }
        } else if HeaderReader.isUnfinished(header) {
            return false
        }
        throw StoreError(
            .exists, path: path, "a file already has the path that a restore needs for its own file",
            remedy: "Move it elsewhere, or give it another name.")
    }

    private static func underWay(_ path: String) -> BackupError {
        BackupError(
            .busy, path, "another restore to this path is under way", remedy: "Wait until it ends, or restore to another path.")
    }

    /// Writes the identity, and zeroes in place of the superblocks.
    private func writeHeader() throws(StoreError) {
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        for offset in FileFormat.identityOffsets {
            header.replaceSubrange(Int(offset)..<Int(offset) + FileIdentity.Layout.size, with: identity.encoded())
        }
        try FileCreation.write(header[...], to: storage, at: 0)
    }

    // MARK: The end

    /// The file that the restored one may replace.
    enum Replaced {
        case nothing, anything
        /// A replica that was not promoted.
        case replica
    }

    /// Renames the file to the path, durably.
    /// - Parameter replaced: a file at the path is replaced under its lock.
    func put(at target: String, over replaced: Replaced, options: StoreOptions, _ superblock: Superblock) throws {
        let old = replaced == .nothing ? nil : try fileSystem.lockReplaced(target, timeout: options.lockTimeout)
        defer { old?.unlock() }
        if old == nil, try fileSystem.identity(ofName: target) != nil { throw Self.exists(target) }
        // It may have been promoted while the new file was fetched.
        if replaced == .replica, let old, try !Self.isReplica(old) { throw Self.exists(target) }
        // Opened before the rename: if no descriptor is left, nothing is changed.
        let directory = try fileSystem.openDirectory(of: path)
        if let old { try storage.copyAttributes(from: old) }
        try fileSystem.rename(path, to: target)
        try directory.sync()
        old?.supersede(target, isNameDurable: true)
        var settled = superblock
        settled.isUnsettled = false
        settled.generation += 1
        try FileCreation.write(settled, to: storage, fileID: identity.fileID)
        storage.unlock()
    }

    private static func isReplica(_ storage: any StorageFile) throws(StoreError) -> Bool {
        let header = try HeaderReader.header(of: storage)
        guard let identity = FileIdentity.whole(inHeader: header) else { return false }
        return HeaderReader.newestSuperblock(header, fileID: identity.fileID)?.isReplica ?? false
    }

    static func exists(_ path: String) -> BackupError {
        BackupError(
            .exists, path, "there is a file already, which a restore replaces only if it is told to",
            remedy: "Choose another path, or restore with `--replace`.")
    }

    /// Removes the file.
    func abandon() {
        // Removed before the lock is released: after that the name may be another restore's.
        try? fileSystem.remove(path)
        storage.unlock()
    }
}

extension FileIdentity {
    /// The first whole copy in a header.
    static func whole(inHeader header: [UInt8]) -> FileIdentity? {
        header.withUnsafeBytes { bytes in
            for offset in FileFormat.identityOffsets {
                let copy = UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset) + Layout.size])
                if let found = FileIdentity(copy) { return found }
            }
            return nil
        }
    }

    /// The identity of the file that an archive was made of.
    init(_ header: LogArchiveHeader) {
        self.init(segmentShift: header.segmentShift, storeID: header.storeID, fileID: header.fileID)
        version = header.storeVersion
    }
}
