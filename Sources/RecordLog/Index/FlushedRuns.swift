/// The runs on disk of an index whose newest one is being written.
struct FlushedRuns {
    /// nil where there is no entry.
    private var new: RunBlocks?
    private let kept: [SortedRun]

    init(new: RunBlocks?, kept: [SortedRun]) {
        self.new = new
        self.kept = kept
    }

    /// Gives the new run's root to the sink, where its blocks have their places and a frame has room for it.
    mutating func appendRoot(to sink: any FrameSink) throws(StoreError) { try new?.appendRoot(to: sink) }

    /// The same where the sink's frames have gone to another one.
    /// - Parameter tickets: those of the other sink, by their numbers here.
    func moved(to tickets: [FrameTicket]) -> FlushedRuns { FlushedRuns(new: new?.moved(to: tickets), kept: kept) }

    /// All of them, once the root is in the file; nil where no frame had room for it.
    func runs(in sink: any FrameSink, source: any FrameSource) -> [SortedRun]? {
        guard let new else { return kept }
        return new.run(in: sink).map { [SortedRun(manifest: $0, source: source)] + kept }
    }
}

/// A run whose blocks were given to a sink, and whose root was not, or has no place yet.
struct RunBlocks {
    private var blocks: [IndexRoot.Block]
    private let tickets: [FrameTicket]
    private let entryCount: UInt64
    private var byteCount: UInt64
    private var root: FrameTicket?

    init(blocks: [IndexRoot.Block], tickets: [FrameTicket], entryCount: UInt64, byteCount: UInt64) {
        self.blocks = blocks
        self.tickets = tickets
        self.entryCount = entryCount
        self.byteCount = byteCount
    }

    fileprivate func moved(to tickets: [FrameTicket]) -> RunBlocks {
        precondition(root == nil, "a root names places")
        return RunBlocks(blocks: blocks, tickets: self.tickets.map { tickets[$0.number] }, entryCount: entryCount, byteCount: byteCount)
    }

    /// Gives the root to the sink, where the blocks have their places and a frame has room for it.
    fileprivate mutating func appendRoot(to sink: any FrameSink) throws(StoreError) {
        for index in blocks.indices { blocks[index].pointer = sink.pointer(tickets[index]) }
        let bytes = IndexRoot.encode(blocks)
        guard bytes.count <= sink.payloadMax else { return }
        byteCount += UInt64(bytes.count)
        root = try sink.append(.indexRoot, bytes)
    }

    /// The run, once its root has its place.
    fileprivate func run(in sink: any FrameSink) -> Manifest.Run? {
        root.map { Manifest.Run(root: sink.pointer($0), entryCount: entryCount, byteCount: byteCount) }
    }
}
