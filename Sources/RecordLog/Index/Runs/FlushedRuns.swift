/// The runs on disk of an index whose newest run is being written.
struct FlushedRuns {
    /// nil if the index has no entry to write.
    private var new: RunBlocks?
    private let kept: [SortedRun]

    init(new: RunBlocks?, kept: [SortedRun]) {
        self.new = new
        self.kept = kept
    }

    /// Appends the new run's root to the sink, if it fits a frame. The sink must have assigned the blocks' offsets.
    mutating func appendRoot(to sink: any FileFrameSink) throws(StoreError) { try new?.appendRoot(to: sink) }

    /// A copy for another sink, to which the frames were moved.
    /// - Parameter tickets: the other sink's tickets, by their numbers in this sink.
    func moved(to tickets: [FrameTicket]) -> FlushedRuns { FlushedRuns(new: new?.moved(to: tickets), kept: kept) }

    /// All runs, once the root is in the file; nil if the root fits no frame.
    func runs(in sink: any FileFrameSink, source: any FrameSource) -> [SortedRun]? {
        guard let new else { return kept }
        return new.run(in: sink).map { [SortedRun(manifest: $0, source: source)] + kept }
    }
}

/// A run whose blocks were appended to a sink, and whose root is not appended or has no offset yet.
struct RunBlocks {
    private let blocks: IndexRootBuilder
    private let entryCount: UInt64
    private var byteCount: UInt64
    private var root: FrameTicket?

    init(blocks: IndexRootBuilder, entryCount: UInt64, byteCount: UInt64) {
        self.blocks = blocks
        self.entryCount = entryCount
        self.byteCount = byteCount
    }

    fileprivate func moved(to tickets: [FrameTicket]) -> RunBlocks {
        precondition(root == nil, "no root is appended yet, since a root has the offsets of blocks")
        return RunBlocks(blocks: blocks.moved(to: tickets), entryCount: entryCount, byteCount: byteCount)
    }

    /// Appends the root to the sink, if it fits a frame. The sink must have assigned the blocks' offsets.
    fileprivate mutating func appendRoot(to sink: any FileFrameSink) throws(StoreError) {
        let bytes = blocks.encode(sink.pointer)
        guard bytes.count <= sink.payloadMax else { return }
        byteCount += UInt64(bytes.count)
        root = try sink.append(.indexRoot, bytes)
    }

    /// The run, once its root has an offset.
    fileprivate func run(in sink: any FileFrameSink) -> Manifest.Run? {
        root.map { Manifest.Run(root: sink.pointer($0), entryCount: entryCount, byteCount: byteCount) }
    }
}
