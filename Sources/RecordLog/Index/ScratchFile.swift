/// A file for runs of index entries that memory is not to hold. It lies beside the store, in the same form, and loses its name as
/// soon as it is made: it is gone with the last run in it, or with the process.
///
/// A crash may leave the name: of an empty file, or, where the disk had not heard of its end, of one with a header that no store has, since its
/// superblock never says that the file is settled. The next one takes that away. Should another process make one at the same moment, each has its
/// own, or fails.
final class ScratchFile {
    private let file: LogFile
    private let frames: ScratchFrames
    private let appender: FrameAppender

    static let suffix = ".scratch"

    /// - Parameter store: the store's own file.
    init(besides store: LogFile, _ options: StoreOptions) throws(StoreError) {
        let fileSystem = options.resolvedFileSystem()
        // What a copy fills has not got its path yet.
        let path = ((try? fileSystem.resolved(store.path)) ?? store.path) + Self.suffix
        let storage = try Self.make(path, like: store.storage, fileSystem)
        try fileSystem.remove(path)
        // What goes through it is not the store's, and not counted as such.
        let counters = Counters()
        let creation = FileCreation(path: path, options: options, fileSystem: fileSystem, counters: counters)
        (file, _) = try creation.begin(storage, storeID: (0, 0), segmentShift: store.identity.segmentShift)
        frames = ScratchFrames(file)
        appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: 0, counters: counters, flushSize: options.flushSize)
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
    /// - Throws: `exists` where it is another's.
    static func removeLeftover(_ path: String, _ fileSystem: any FileSystem) throws(StoreError) {
        guard let left = try fileSystem.openLeftover(path) else { return }
        guard HeaderReader.isUnfinished(try HeaderReader.header(of: left)) else { throw FileInTheWay.error(path, "another file") }
        try fileSystem.removeLeftover(left, path)
    }

    /// Whether it may be written from another thread than the one that made it.
    var writesBehind: Bool { file.storage.writesBehind }

    /// Writes the entries that `add` gives a writer, in order.
    /// - Parameter entryCount: at least as many as there are.
    /// - Returns: nil where there are none.
    func write(entryCount: Int, _ add: (inout RunWriter) throws(StoreError) -> Void) throws(StoreError) -> SortedRun? {
        var writer = RunWriter(sink: appender, entryCount: UInt64(entryCount))
        try add(&writer)
        var runs = FlushedRuns(new: try writer.finish(), kept: [])
        try runs.appendRoot(to: appender)
        try appender.flush()
        guard let made = runs.runs(in: appender, source: frames) else {
            throw StoreError(.tooLarge, path: file.path, "a run of index entries has too long a list of blocks", remedy: "None: they stay in memory.")
        }
        return made.first
    }
}
