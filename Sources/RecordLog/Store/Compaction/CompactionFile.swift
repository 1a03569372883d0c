/// The file beside the store that a compaction fills. Its lock shows that a compaction is in progress, in this process or another.
///
/// A crash leaves the file without its lock, and the next compaction removes it. It does not reuse the file, since the name may be a link to
/// another file. A file that no compaction can have left is another program's, and stays.
final class CompactionFile {
    let path: String
    let storage: any StorageFile
    private let fileSystem: any FileSystem
    private var isNamed = true

    static let suffix = ".compacting"

    private init(path: String, storage: any StorageFile, fileSystem: any FileSystem) {
        self.path = path
        self.storage = storage
        self.fileSystem = fileSystem
    }

    /// Creates the file and locks it.
    /// - Parameters:
    ///   - target: the store's own file, with links resolved.
    ///   - model: the file whose permissions it gets.
    /// - Throws: `locked` if a compaction is in progress; `exists` if the name belongs to another file.
    static func claim(
        besides target: String, like model: any StorageFile, _ fileSystem: any FileSystem
    ) throws(StoreError) -> CompactionFile {
        let path = target + suffix
        for _ in 0..<100 {
            if let left = try fileSystem.openLeftover(path) {
                // The holder of its lock may take the path: the file is a left-over, or another compaction is just creating it.
                guard try lock(left, path, fileSystem) else { continue }
                defer { left.unlock() }
                try checkIsLeftover(left, path)
                try fileSystem.remove(path)
            }
            guard let made = try fileSystem.createUnlessThere(path, like: model), try lock(made, path, fileSystem) else { continue }
            return CompactionFile(path: path, storage: made, fileSystem: fileSystem)
        }
        throw underWay(path)
    }

    private static func lock(_ storage: any StorageFile, _ path: String, _ fileSystem: any FileSystem) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try fileSystem.lockIfNamed(storage, path)
        } catch {
            throw error.code == .locked ? underWay(path) : error
        }
    }

    private static func checkIsLeftover(_ storage: any StorageFile, _ path: String) throws(StoreError) {
        guard try !isLeftover(HeaderReader.header(of: storage)) else { return }
        throw StoreError(
            .exists, path: path, "a file already has the path that a compaction or a copy needs for its own file",
            remedy: "Move it elsewhere, or give it another name; the store is as it was.")
    }

    /// Whether a crash can have left a file with this header. Such a file has the whole first header or a part of it. Later the second
    /// superblock is added (`CompactionTarget.finish`), with a checkpoint and not settled, since the file loses this name first. Sectors
    /// reach the disk in any order, so the superblock may be there without the identity that seeds its checksum. It is therefore read without
    /// the identity.
    private static func isLeftover(_ header: [UInt8]) -> Bool {
        var first = header
        let superblock = Int(FileFormat.superblockOffsets[0])..<Int(FileFormat.superblockOffsets[0]) + Superblock.Layout.size
        first.replaceSubrange(superblock, with: repeatElement(0, count: superblock.count))
        guard HeaderReader.isUnfinished(first) else { return false }
        guard header[superblock].contains(where: { $0 != 0 }) else { return true }
        guard zip(header[superblock], Superblock.magic).allSatisfy({ $0 == $1 || $0 == 0 }) else { return false }
        return header[superblock].withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
            let generation = word(Superblock.Layout.generation)
            // A superblock that is not complete does not count.
            if word(Superblock.Layout.checksum) == 0 { return generation == 0 || generation == 2 }
            let isMade = word(Superblock.Layout.checkpointOffset) != 0 || word(Superblock.Layout.sequence) == 0
            return isMade && generation == 2 && bytes[Superblock.Layout.flags] == Superblock.Layout.unsettled
        }
    }

    private static func underWay(_ path: String) -> StoreError {
        StoreError(
            .locked, path: path, "a compaction of this store is under way already",
            remedy: "Nothing is to be done; the store is as it was, and can be read and written meanwhile.")
    }

    /// Renames the file to the store's path.
    func rename(to target: String) throws(StoreError) {
        try fileSystem.rename(path, to: target)
        isNamed = false
    }

    /// Removes the file, unless it has become the store's.
    func abandon() {
        // Removed before the lock is released: after that the path may be another compaction's.
        if isNamed { try? fileSystem.remove(path) }
        storage.unlock()
    }
}
