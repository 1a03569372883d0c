/// A file for runs of index entries that exceed the memory limit. It is created beside the store, in the same format, and its name is
/// removed at once: the file disappears with its last run, or with the process.
///
/// A crash may leave the name: of an empty file, or, if the removal was not yet on the disk, of a file with a header that no store
/// has, since its superblock never marks the file as settled. The next scratch file removes it. If two processes create one at the same
/// moment, each has its own, or fails.
final class ScratchFile {
    private let file: LogFile
    private let frames: ScratchFrames
    private let appender: FrameAppender

    static let suffix = ".scratch"

    /// - Parameter store: the store's file.
    init(besides store: LogFile, _ options: StoreOptions) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        // A file that a copy is filling does not have its path yet.
        let path = ((try? fileSystem.resolved(store.path)) ?? store.path) + Self.suffix
        let storage = try Self.make(path, like: store.storage, fileSystem)
        try fileSystem.remove(path)
        // Writes to it are not the store's and are not counted.
        let counters = Counters()
        let creation = FileCreation(path: path, options: options, fileSystem: fileSystem, counters: counters)
        (file, _) = try creation.begin(storage, storeID: StoredUUID(words: (0, 0)), segmentShift: store.identity.segmentShift)
        frames = ScratchFrames(file)
        appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: 0, counters: counters, flushSize: options.pieceSize)
    }

    private static func make(_ path: String, like store: any StorageFile, _ fileSystem: any FileSystem) throws(StoreError) -> any StorageFile {
        do throws(StoreError) {
            return try fileSystem.create(path, like: store)
        } catch {
            guard error.code == .exists else { throw error }
            try removeLeftover(path, fileSystem)
            return try fileSystem.create(path, like: store)
        }
    }

    /// Removes the file that a crash left.
    /// - Throws: `exists` if another program owns it.
    static func removeLeftover(_ path: String, _ fileSystem: any FileSystem) throws(StoreError) {
        guard let left = try fileSystem.openLeftover(path) else { return }
        guard HeaderReader.isUnfinished(try HeaderReader.header(of: left)) else { throw FileInTheWay.error(path, "another file") }
        try fileSystem.removeLeftover(left, path)
    }

    /// Whether a thread other than the creator may write it.
    var writesBehind: Bool { file.storage.writesBehind }

    /// Writes the entries that `add` passes to a writer, in order.
    /// - Parameter entryCount: an upper bound of the number of entries.
    /// - Returns: nil if there are none.
    func write(entryCount: Int, _ add: (inout RunWriter) throws(StoreError) -> Void) throws(StoreError) -> SortedRun? {
        // Also those of terms are not packed: they are read once, and soon.
        var writer = RunWriter(sink: appender, entryCount: UInt64(entryCount), isPacked: false)
        try add(&writer)
        var runs = FlushedRuns(new: try writer.finish(), kept: [])
        try runs.appendRoot(to: appender)
        try appender.flush()
        guard let made = runs.runs(in: appender, source: frames) else {
            throw StoreError(
                .tooLarge, path: file.path, "a run of index entries has too long a list of blocks", remedy: "None: they stay in memory.")
        }
        return made.first
    }
}
