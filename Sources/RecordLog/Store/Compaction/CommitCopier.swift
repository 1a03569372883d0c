/// Appends commits of an old log to the file of a compaction, each as a commit of its own.
///
/// They keep their number, time, author and row versions. Addresses of previous records, and the chain of commits, are those of the new file.
final class CommitCopier {
    private let target: CompactionTarget
    private let path: String
    private var records: RecordCopy
    /// By table: the addresses of copied rows that the target has not learned yet.
    private var copied: [PrimaryDelta?] = []
    /// The count of rows that the target has not learned yet. Their numbers go up by no more than this.
    private var unlearntRows: UInt64 = 0
    /// By table: the next row number that the first commit of a compacted file states.
    private var statedNext: [UInt64] = []
    private var commitChecksum: UInt64
    /// Commits copied so far.
    private(set) var count: UInt64 = 0

    /// Bytes after which the target learns the copied commits. Bounds the memory for them.
    private static let learnAfterBytes: UInt64 = 4 << 20

    /// - Parameters:
    ///   - source: the old file.
    ///   - catalog: the catalog as of the snapshot from which commits are copied.
    init(from source: LogFile, _ catalog: Catalog, to target: CompactionTarget, path: String) {
        records = RecordCopy(from: source, catalog, to: target.appender)
        self.target = target
        self.path = path
        commitChecksum = target.snapshot.commitChecksum
    }

    /// Copies the commits between a snapshot and a later one of the same file.
    /// - Parameter hasIndexes: whether the target has its indexes already, and so may write checkpoints too.
    func copy(from start: Snapshot, to newest: Snapshot, hasIndexes: Bool) throws(StoreError) {
        var scan = CommitScan(from: start, to: newest)
        while scan.sequence < newest.sequence {
            guard let footer = try scan.next() else {
                throw StoreError.corrupt(path, at: scan.position, "the log ends before its newest commit")
            }
            try append(scan.frames, footer)
            if target.appender.position - target.snapshot.end > Self.learnAfterBytes { try learn(hasIndexes) }
        }
        try learn(hasIndexes)
    }

    private func learn(_ hasIndexes: Bool) throws(StoreError) {
        try target.learn(hasIndexes: hasIndexes)
        copied = []
        unlearntRows = 0
        if hasIndexes { try target.writeCheckpointIfDue() }
    }

    private func append(_ frames: [LogFile.Frame], _ footer: CommitFooter) throws(StoreError) {
        target.appender.beginCommit(footer.sequence)
        unlearntRows += UInt64(footer.rowCount)
        var rows: UInt32 = 0
        for frame in frames {
            let malformed = try frame.forEachRow { record, body, address throws(StoreError) in
                guard isPossible(record.reference) else {
                    throw StoreError.corrupt(path, at: address, "a row's number is impossible")
                }
                try append(record, body)
                rows &+= 1
            }
            if let malformed { throw StoreError.corrupt(path, at: malformed, "a valid frame holds a malformed row") }
        }
        guard rows == footer.rowCount, let last = frames.last else {
            throw StoreError.corrupt(path, at: footer.start, "a commit does not have the rows that its footer counts")
        }
        let author = Array(footer.author(bytesIn: last.payload))
        let frame = try target.appender.appendFooter(
            CommitFooter(
                sequence: footer.sequence, previousChecksum: commitChecksum, timestamp: footer.timestamp, durableSequence: 0,
                rowCount: rows, authorLength: UInt16(author.count)),
            author: author)
        commitChecksum = frame.checksum
        count += 1
    }

    /// Row numbers are given consecutively, so a hostile one reserves no memory. The target checks the copied commits fully when it learns
    /// them.
    private func isPossible(_ reference: RowReference) -> Bool {
        guard reference.table != .system else { return reference.row < Transaction.systemRowsMax }
        let number = Int(reference.table.rawValue)
        let next = max(target.snapshot.state(reference.table)?.nextRow ?? 1, number < statedNext.count ? statedNext[number] : 0)
        return reference.row < next + unlearntRows
    }

    private func note(_ numbers: RowNumbers) {
        for (table, row) in numbers.next {
            while statedNext.count <= Int(table.rawValue) { statedNext.append(0) }
            statedNext[Int(table.rawValue)] = row
        }
    }

    private func append(_ record: RowRecord, _ body: UnsafeRawPointer) throws(StoreError) {
        let reference = record.reference
        let previous = try newest(reference)
        // A system row that is put again after its deletion gets version 1 if the new file does not have the deletion.
        let version = reference.table != .system
            ? record.version : previous == 0 ? 1 : try target.appender.row(at: previous).record.version &+ 1
        let address = try records.append(record, body, version: version, previous: previous)
        if reference == RowReference(table: .system, row: Catalog.row), record.operation == .put {
            let bytes = UnsafeRawBufferPointer(start: body, count: record.bodyLength)
            guard let catalog = Catalog(bytes) else { throw Catalog.unreadable(bytes, path, at: nil) }
            records.catalog = catalog
        }
        if reference == RowReference(table: .system, row: RowNumbers.row),
            let numbers = RowNumbers(UnsafeRawBufferPointer(start: body, count: record.bodyLength))
        {
            note(numbers)
        }
        let number = Int(reference.table.rawValue)
        while copied.count <= number { copied.append(nil) }
        let delta = copied[number] ?? PrimaryDelta()
        copied[number] = delta
        delta.store(reference.row, address)
    }

    /// The address of the row's newest record in the new file, which may be a deletion; 0 for none.
    private func newest(_ reference: RowReference) throws(StoreError) -> UInt64 {
        let number = Int(reference.table.rawValue)
        if number < copied.count, let address = copied[number]?.load(reference.row), address != 0 { return address }
        guard let primary = target.snapshot.state(reference.table)?.primary else { return 0 }
        let known = primary.known(reference.row) & ~PrimaryDelta.tombstoneBit
        return known != 0 ? known : try primary.base?.address(of: reference.row) ?? 0
    }
}
