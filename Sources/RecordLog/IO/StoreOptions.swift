/// What a save promises once it has returned.
public enum Durability: Sendable {
    /// It survives a crash of the machine: every commit waits for the disk.
    case full
    /// It survives a crash of the process. A crash of the machine may lose the newest commits, never damage older ones:
    /// the disk is waited for at checkpoints, at `sync()` and at `close()`.
    case relaxed
    /// The disk is never waited for.
    case none
}

/// How a store is opened.
public struct StoreOptions: Sendable {
    public var durability = Durability.full
    /// Nothing is written: not the file, not its directory, no lock.
    public var isReadOnly = false
    public var createIfMissing = true
    /// How long a write waits for another writer.
    public var lockTimeout = Duration.seconds(5)
    /// The power of two that is the segment size of a file made now. A frame, and so a value, fits in a segment.
    public var segmentShift = FileFormat.defaultSegmentShift
    /// An opening replays no more log than about this: once half of it lies behind the newest checkpoint a new one is begun
    /// in the background, and commits wait for that one where all of it does.
    public var checkpointAfterBytes: UInt64 = 16 << 20
    /// false: the commit that leaves too much log behind writes the checkpoint itself before it returns.
    public var checkpointsInBackground = true
    /// When the store compacts itself, beside its readers and writers; nil: never.
    public var compaction: CompactionPolicy? = CompactionPolicy()
    /// How many bytes of each index's entries a transaction or a recovery gathers in memory; those beyond go to a scratch file beside the
    /// store, which has no name and is gone once a checkpoint has them. Where none can be made they stay in memory, as they do for a reader.
    public var indexMemory = 16 << 20
    /// Zeroes written ahead of small appends, so that a sync need not also make a new file size durable. 0 for none.
    var zeroAheadBytes = 1 << 20
    /// A commit goes to the file in pieces of about this size; smaller ones in tests.
    var flushSize = FrameAppender.flushSize
    /// What a compaction leaves for its last round, which writers wait for.
    var lastRoundBytes: UInt64 = 1 << 20
    /// How many index entries are worth a thread of their own in a compaction or a checkpoint.
    var entriesForThread: UInt64 = 50_000
    /// false: the file is read with `pread` in place of being mapped. For media that can go away, and network file systems where
    /// others may cut the file: a mapped read is then a fault (SIGBUS) that ends the process, this one an error.
    ///
    /// What was read stays in memory as long as a snapshot of the file is held: at most the bytes of the frames that were looked at,
    /// and so of the whole file. A file that cannot be mapped (ENODEV, ENOSYS, EOPNOTSUPP), or has no room in the address space
    /// (ENOMEM), is read so in any case, segment by segment; `StoreStatistics.bytesRead` shows it.
    public var usesMemoryMapping = true
    /// Whether a damaged store is opened read-only as of what comes before the damage; `LogStore.damage` then says what is damaged. false:
    /// such a store is refused, as it is for writing in any case.
    public var acceptsDamage = true
    /// Reads no checkpoint: every index is made anew from the log. For stores whose indexes are damaged.
    public var rebuildsIndexes = false
    /// nil: the system's files.
    public var fileSystem: (any FileSystem)? {
        get { files?.chosen }
        set { files = newValue.map(Files.init) }
    }
    private var files: Files?
    /// The functions that make the keys of indexes that are not over columns, by name.
    public var extractors: [String: any IndexKeyExtractor] = [:]
    /// Makes the function of a name that is not among `extractors`; nil for a name that it does not know. The same name must always
    /// give the same keys.
    public var makeExtractor: (@Sendable (String) -> (any IndexKeyExtractor)?)?

    public init() {}

    /// For a copy of an optional protocol the runtime makes a type, at each process's first opening.
    private final class Files: Sendable {
        let chosen: any FileSystem

        init(_ chosen: any FileSystem) {
            self.chosen = chosen
        }
    }

    /// - Returns: nil where there is no function of this name.
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
