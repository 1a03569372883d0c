/// The file beside the store that a compaction fills. Its lock says that one is under way, in this process or another.
///
/// A crash leaves the file without its lock: the next compaction removes it. It is not filled again, since what stands at
/// its path may be a link to something else. What no compaction leaves is somebody else's, and stays.
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

    /// Makes the file, and locks it.
    /// - Parameters:
    ///   - target: the store's own file, links followed.
    ///   - model: whose permissions it gets.
    /// - Throws: `locked` where a compaction is under way; `exists` where the name is another file's.
    static func claim(
        besides target: String, like model: any StorageFile, _ fileSystem: any FileSystem
    ) throws(StoreError) -> CompactionFile {
        let path = target + suffix
        for _ in 0..<100 {
            if let left = try fileSystem.openLeftover(path) {
                // Who has its lock may take the path: an earlier one's, or the file that another is just making.
                guard try lock(left, path, fileSystem) else { continue }
                defer { left.unlock() }
                try checkIsLeftover(left, path)
                try fileSystem.remove(path)
            }
            guard let made = try createUnlessThere(path, like: model, fileSystem), try lock(made, path, fileSystem) else { continue }
            return CompactionFile(path: path, storage: made, fileSystem: fileSystem)
        }
        throw underWay(path)
    }

    /// - Returns: nil where another compaction made the file meanwhile.
    private static func createUnlessThere(
        _ path: String, like model: any StorageFile, _ fileSystem: any FileSystem
    ) throws(StoreError) -> (any StorageFile)? {
        do throws(StoreError) {
            return try fileSystem.create(path, like: model)
        } catch {
            guard error.code == .exists else { throw error }
            return nil
        }
    }

    /// Locks a file without waiting.
    /// - Returns: false where it is not the one at the path any more; its lock is let go then.
    private static func lock(_ storage: any StorageFile, _ path: String, _ fileSystem: any FileSystem) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try storage.lock(timeout: .zero)
        } catch {
            throw error.code == .locked ? underWay(path) : error
        }
        if try fileSystem.isNamed(storage, path) { return true }
        storage.unlock()
        return false
    }

    private static func checkIsLeftover(_ storage: any StorageFile, _ path: String) throws(StoreError) {
        guard try !isLeftover(HeaderReader.header(of: storage)) else { return }
        throw StoreError(
            .exists, path: path, "there is a file in the place that a compaction or a copy needs for its own",
            remedy: "Move it elsewhere, or give it another name; the store is as it was.")
    }

    /// Whether a header is one that a crash can leave here: the one that the file begins with, or a part of it, and later the second superblock
    /// (`CompactionTarget.finish`), over a checkpoint and not settled, since the file is to lose this name first. Sectors reach the disk in
    /// any order, so the superblock may be there without the identity that its checksum is seeded with, and is looked at without that.
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
            // One that is not all there is none.
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

    /// Puts the file in the store's place.
    func rename(to target: String) throws(StoreError) {
        try fileSystem.rename(path, to: target)
        isNamed = false
    }

    /// Removes the file, unless it has become the store's.
    func abandon() {
        // Before the lock goes: after that the path may be another's.
        if isNamed { try? fileSystem.remove(path) }
        storage.unlock()
    }
}
