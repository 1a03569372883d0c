/// The guarantee that a save gives when it returns.
public enum Durability: Sendable {
    /// The save survives a crash of the machine: every commit waits for the disk.
    case full
    /// The save survives a crash of the process. A crash of the machine may lose the newest commits, but never damages older ones:
    /// the store waits for the disk at checkpoints, at `sync()` and at `close()`.
    case relaxed
    /// The store never waits for the disk.
    case none
}

/// Options for opening a store.
public struct StoreOptions: Sendable {
    public var durability = Durability.full
    /// Writes nothing: neither the file nor its directory, and takes no lock.
    public var isReadOnly = false
    public var createIfMissing = true
    /// Opens the store read-only as of a commit that its log still has; nil: as of the newest one, and of those to come.
    ///
    /// The handle shows this one commit as long as it is open, whatever others write, also after a compaction has taken the commit away. It
    /// writes nothing: neither the file nor its directory, and takes no lock. An opening reads the manifests of the checkpoints back to the last
    /// one before the commit, and the log from that one to the commit: about `checkpointAfterBytes`, and as much memory. A commit in front of
    /// the file's first checkpoint, as in the history window that a compaction has kept, costs the file up to there, and memory for the
    /// addresses of its rows and the entries of its indexes. A time costs one more pass over the commits behind it.
    /// - Throws: an opening throws `noSuchCommit` if the log begins behind the commit, or ends before it.
    public var asOf: PastCommit?
    /// The longest wait for another writer's lock.
    public var lockTimeout = Duration.seconds(5)
    /// The segment size of a new file, as a power of two. A frame, and so a value's chunk, fits in a segment.
    public var segmentShift = FileFormat.defaultSegmentShift
    /// About the most log that an opening replays, except after a crash in a load. Once half of it is behind the newest checkpoint, the store
    /// begins a new checkpoint in the background; once all of it is, commits wait for that checkpoint.
    ///
    /// Commits of 16 KiB and more that follow each other are a load. It puts the checkpoint off until eight times as many bytes are behind the
    /// newest one, so that the load writes each index about once and its rows lie together. The checkpoint follows when small commits have
    /// come, after two seconds without a large one, when the store is closed, and when the process ends by `exit`. If the process is killed
    /// before, the next opening replays up to nine times as many bytes, and the last commit. An opening for writing writes the checkpoint before it
    /// returns then, so that later ones are short; one for reading only cannot.
    public var checkpointAfterBytes: UInt64 = 16 << 20
    /// The least bytes of log of a commit that is part of a load.
    var largeCommitBytes: UInt64 = 16 << 10
    /// The time without a large commit that ends a load.
    var loadPause = Duration.seconds(2)
    /// false: the commit that makes a checkpoint due writes it before it returns.
    public var checkpointsInBackground = true
    /// The policy by which the store compacts itself, beside its readers and writers; nil: never.
    public var compaction: CompactionPolicy? = CompactionPolicy()
    /// The bytes of each index's entries that a transaction or a recovery gathers in memory. Further entries, and those of a load's commits, go
    /// to nameless scratch files beside the store, which are removed once a checkpoint contains them. If it cannot be made, they stay in memory, as for a reader. A
    /// checkpoint and a compaction keep up to six times as many bytes for all indexes together, and at most 96 MiB. The pieces in which a commit
    /// is written have at most a quarter as many bytes, but 256 KiB where that is less.
    public var indexMemory = 16 << 20
    /// Zeroes written ahead of small appends, so that a sync need not make a new file size durable. 0 for none.
    package var zeroAheadBytes = 1 << 20
    /// Whether a thread that writes alone also waits for its sync without the lock. For tests, in which one thread stands for several.
    var alwaysSharesSyncs = false
    /// The approximate size of the pieces in which a commit is written. Tests use smaller ones.
    var flushSize = FrameAppender.flushSize
    /// `flushSize`, or less where memory is short.
    var pieceSize: Int { min(flushSize, max(Self.pieceSizeMin, indexMemory / 4)) }
    private static let pieceSizeMin = 256 << 10
    /// The most log that a compaction leaves for its last round, during which writers wait.
    var lastRoundBytes: UInt64 = 1 << 20
    /// The number of index entries from which a compaction or a checkpoint uses a second thread.
    var entriesForThread: UInt64 = 50_000
    /// false: reads the file with `pread` and does not map it. For media that can go away, and for network file systems where other programs
    /// may cut the file: a mapped read is then a fault (SIGBUS) that ends the process, and `pread` is an error.
    ///
    /// Bytes that were read stay in memory as long as a snapshot of the file is held: at most the frames that were read, and so at most
    /// the whole file. A file that cannot be mapped (ENODEV, ENOSYS, EOPNOTSUPP) or has no room in the address space (ENOMEM) is
    /// read in this way in any case, segment by segment; `StoreStatistics.bytesRead` shows it.
    public var usesMemoryMapping = true
    /// true: a damaged store opens read-only, as of the last commit before the damage, and `LogStore.damage` describes the damage. false:
    /// such a store is refused. For writing it is refused in both cases.
    public var acceptsDamage = true
    /// Reads no checkpoint and rebuilds every index from the log. For stores with damaged indexes.
    public var rebuildsIndexes = false
    /// nil: the system's file system.
    public var fileSystem: (any FileSystem)? {
        get { files?.chosen }
        set { files = newValue.map(Files.init) }
    }
    private var files: Files?
    /// The extractors of indexes that are not over columns, by name.
    public var extractors: [String: any IndexKeyExtractor] = [:]
    /// Makes an extractor for a name that is not in `extractors`; returns nil for an unknown name. The same name must always give the same
    /// keys.
    public var makeExtractor: (@Sendable (String) -> (any IndexKeyExtractor)?)?
    /// Asks a store that is no record log about a commit that it decides.
    package var asksOutside: (@Sendable (OutsideQuestion) throws -> Bool)?

    public init() {}

    /// Avoids a copy of an optional protocol, for which the runtime makes a type at each process's first opening.
    private final class Files: Sendable {
        let chosen: any FileSystem

        init(_ chosen: any FileSystem) {
            self.chosen = chosen
        }
    }

    /// - Returns: nil if there is no extractor of this name.
    func extractor(named name: String) -> (any IndexKeyExtractor)? { extractors[name] ?? makeExtractor?(name) }

    package func resolvedFileSystem() -> any FileSystem {
        if let files { return files.chosen }
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            return POSIXFileSystem()
        #else
            preconditionFailure("this platform has no built-in file system yet; set StoreOptions.fileSystem")
        #endif
    }
}
