/// Finds every frame of a damaged file that still verifies, and decides which commits' rows are taken.
///
/// The rows of a whole commit are taken. A commit that lacks frames, or its footer, is taken if later data shows that it was completed: a
/// frame of a later commit, a frame of a checkpoint as of it, or a superblock that published it. Nothing shows that of an unfinished write at
/// the log's end. Its rows must not hide acknowledged older ones, so they are left out. The rows of a prepared commit are left out too,
/// unless the store that decides about it has decided for it. A frame whose number is not above those before it is left from an abandoned
/// write.
///
/// Invariants:
/// 1. Frames are found in the order of their offsets, and rows taken in the order of their commits, which is the same.
/// 2. A verified frame is skipped whole: a frame inside it would be part of a value. Between verified frames every 64th byte may start one.
struct SalvageScan {
    let source: SalvageSource
    /// Whether the store that decides about a prepared commit has decided for it.
    let isDecided: (PreparedCommit) -> Bool
    var rows = SalvagedRows()
    /// Addresses of the taken records of the catalog and of the list of row numbers, oldest first.
    private(set) var catalogs: [UInt64] = []
    private(set) var rowNumbers: [UInt64] = []
    /// Offsets of checkpoints' manifests, oldest first.
    private(set) var checkpoints: [UInt64] = []
    /// By table: the highest row number in any record.
    private(set) var highestRows: [TableID: UInt64] = [:]
    /// The number of the file's first commit; nil if it is lost.
    private(set) var beginning: UInt64?
    private(set) var wholeCommits = 0
    private(set) var newestCommit: UInt64 = 0
    private(set) var damage = SalvageList<StoreSalvage.Damage>()
    private(set) var damagedBytes: UInt64 = 0
    private(set) var missingCommits = SalvageList<ClosedRange<UInt64>>()
    private(set) var incompleteCommits = SalvageList<StoreSalvage.IncompleteCommit>()
    private(set) var malformedRecords = 0
    /// Rows that an unfinished write changed and that existed before it, with the addresses of their previous records.
    private(set) var leftOutRows: [(row: RowReference, previous: UInt64)] = []
    private(set) var tail = StoreSalvage.Tail.clean

    /// A frame of a commit that is not whole, or not yet.
    private struct Part {
        let offset: UInt64
        let sequence: UInt64
        let checksum: UInt64
        /// The row count of the footer, in a commit frame.
        let rowsStated: UInt32?
    }

    private var pending: [Part] = []
    /// The highest number that the frames so far show to have been committed.
    private var known: UInt64 = 0
    /// The number of the last commit frame.
    private var lastFooter: UInt64?
    /// The lowest number found.
    private var lowest = UInt64.max
    private var budget: UInt64

    /// Bytes that may be hashed without a valid checksum, for each byte of the file.
    private static let hashedPerByte: UInt64 = 8
    /// The limit of a file's length, even if its header claims more.
    private static let offsetMax: UInt64 = 1 << 62

    init(source: SalvageSource, isDecided: @escaping (PreparedCommit) -> Bool) {
        self.source = source
        self.isDecided = isDecided
        budget = source.size * Self.hashedPerByte
    }

    mutating func run(progress: ((UInt64, UInt64) -> Void)?) throws(StoreError) {
        var offset = FileFormat.dataStart
        var end = offset
        var reported = offset
        while offset < source.size {
            if let frame = try source.frame(at: offset, budget: &budget) {
                noteDamage(end..<offset)
                try meet(frame)
                offset = frame.end
                end = offset
            } else {
                let pageEnd = source.pageEnd(offset)
                // Tests whole pages, and the rest of a page in which a frame ended, so that each byte is tested once.
                var isEmpty = false
                if offset % SalvageSource.page == 0 || offset == end { isEmpty = try source.isZero(offset..<pageEnd) }
                offset = isEmpty ? pageEnd : offset + UInt64(FrameHeader.alignment)
            }
            if offset - reported >= 4 << 20 {
                reported = offset
                progress?(min(offset, source.size), source.size)
            }
        }
        try finish(end: end)
        rows.sort()
    }

    // MARK: Frames

    private mutating func meet(_ frame: LogFile.Frame) throws(StoreError) {
        let sequence = frame.header.sequence
        switch frame.header.kind {
        case .pad, .batch: break
        case .rows, .valueChunk, .valueList, .prepared:
            guard sequence > known, sequence >= pending.last?.sequence ?? 0 else { return }
            lowest = min(lowest, sequence)
            pending.append(Part(offset: frame.offset, sequence: sequence, checksum: frame.header.checksum, rowsStated: nil))
        case .commit:
            guard let footer = CommitFooter(payload: frame.payload), footer.sequence == sequence else {
                malformedRecords += 1
                return
            }
            try meet(frame, footer)
        case .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint:
            // These frames are written only after their commit is complete.
            guard sequence > 0 else { return }
            lowest = min(lowest, sequence)
            try takePending(through: sequence)
            known = max(known, sequence)
            if frame.header.kind == .checkpoint { checkpoints.append(frame.offset) }
        }
    }

    private mutating func meet(_ frame: LogFile.Frame, _ footer: CommitFooter) throws(StoreError) {
        let sequence = footer.sequence
        guard sequence > known else { return }
        // A writer begins a commit only after the one before is complete.
        try takePending(through: sequence - 1)
        if let lastFooter {
            if sequence - lastFooter > 1 { missingCommits.append(lastFooter + 1...sequence - 1) }
        } else if footer.previousChecksum == 0 {
            beginning = sequence
        } else {
            noteMissing(through: sequence - 1)
        }
        let parts = pending.filter { $0.sequence == sequence && $0.offset >= footer.start }
        let checksum = parts.reduce(0) { CommitFooter.folding($0, $1.checksum) }
        pending = parts
        if checksum == footer.partsChecksum {
            for part in parts { _ = try take(part.offset, isOfIncompleteCommit: false) }
            _ = take(frame, isOfIncompleteCommit: false)
            pending = []
            wholeCommits += 1
        } else {
            pending.append(Part(
                offset: frame.offset, sequence: sequence, checksum: frame.header.checksum, rowsStated: footer.rowCount))
        }
        lastFooter = sequence
        newestCommit = sequence
        known = sequence
        lowest = min(lowest, sequence)
    }

    private mutating func noteMissing(through sequence: UInt64) {
        guard sequence > lastFooter ?? 0 else { return }
        let first = min(lastFooter.map { $0 + 1 } ?? (lowest == .max ? 1 : lowest), sequence)
        missingCommits.append(max(first, 1)...sequence)
    }

    // MARK: Rows

    /// Takes a commit that lacks only its commit frame, if no other part of it is lost.
    private mutating func take(_ prepared: PreparedCommit) throws(StoreError) {
        let parts = pending.filter { $0.sequence == prepared.footer.sequence && $0.offset >= prepared.footer.start }
        guard parts.reduce(0, { CommitFooter.folding($0, $1.checksum) }) == prepared.partsChecksum else { return }
        try takePending(through: prepared.footer.sequence - 1)
        for part in parts { _ = try take(part.offset, isOfIncompleteCommit: false) }
        pending = []
        wholeCommits += 1
        newestCommit = prepared.footer.sequence
        known = prepared.footer.sequence
    }

    /// Takes the rows of incomplete commits up to a number that is shown to have been committed.
    private mutating func takePending(through sequence: UInt64) throws(StoreError) {
        guard let first = pending.first, first.sequence <= sequence else { return }
        let count = pending.firstIndex { $0.sequence > sequence } ?? pending.count
        try settle(pending[..<count], isTaken: true)
        pending.removeFirst(count)
    }

    private mutating func settle(_ parts: ArraySlice<Part>, isTaken: Bool) throws(StoreError) {
        var commit: StoreSalvage.IncompleteCommit?
        for part in parts {
            if let done = commit, done.sequence != part.sequence {
                incompleteCommits.append(done)
                commit = nil
            }
            var current = commit ?? .init(sequence: part.sequence, rowsStated: nil, rowsFound: 0, isTaken: isTaken)
            current.rowsFound += isTaken ? try take(part.offset, isOfIncompleteCommit: true) : try leaveOut(part.offset)
            if let stated = part.rowsStated { current.rowsStated = Int(stated) }
            commit = current
        }
        if let commit { incompleteCommits.append(commit) }
    }

    private mutating func take(_ offset: UInt64, isOfIncompleteCommit: Bool) throws(StoreError) -> Int {
        guard let frame = try source.file.frame(at: offset, limit: source.size) else { return 0 }
        return take(frame, isOfIncompleteCommit: isOfIncompleteCommit)
    }

    private mutating func take(_ frame: LogFile.Frame, isOfIncompleteCommit: Bool) -> Int {
        var count = 0
        let malformed = frame.forEachRow { record, _, address in
            count += 1
            guard note(record) else { return }
            rows.add(record, at: address, isOfIncompleteCommit: isOfIncompleteCommit)
            guard record.reference.table == .system, record.operation == .put else { return }
            if record.reference.row == Catalog.row { catalogs.append(address) }
            if record.reference.row == RowNumbers.row { rowNumbers.append(address) }
        }
        if malformed != nil { malformedRecords += 1 }
        return count
    }

    private mutating func leaveOut(_ offset: UInt64) throws(StoreError) -> Int {
        guard let frame = try source.file.frame(at: offset, limit: source.size) else { return 0 }
        var count = 0
        _ = frame.forEachRow { record, _, _ in
            count += 1
            // A number given to a row that was never acknowledged may be given again. A row with a previous record existed before.
            guard record.previous != 0, note(record), leftOutRows.count < SalvageList<Int>.kept else { return }
            leftOutRows.append((record.reference, record.previous))
        }
        return count
    }

    /// - Returns: false for a row with an impossible number.
    private mutating func note(_ record: RowRecord) -> Bool {
        let reference = record.reference
        guard reference.row > 0, reference.row < (reference.table == .system ? Transaction.systemRowsMax : RowNumbers.sumMax) else {
            malformedRecords += 1
            return false
        }
        highestRows[reference.table] = max(highestRows[reference.table] ?? 0, reference.row)
        return true
    }

    // MARK: End

    /// Classifies the bytes behind the last verified frame, and decides about commits that nothing followed.
    private mutating func finish(end: UInt64) throws(StoreError) {
        let zeroesFrom = try endOfBytes(from: end)
        if let superblock = source.superblock, superblock.end > end {
            noteDamage(end..<max(min(superblock.end, Self.offsetMax), zeroesFrom))
        } else if zeroesFrom > end, !source.hasBothSuperblocks {
            noteDamage(end..<zeroesFrom)
        }
        if let superblock = source.superblock {
            let count = pending.firstIndex { $0.offset >= superblock.end || $0.sequence > superblock.sequence } ?? pending.count
            try settle(pending[..<count], isTaken: true)
            pending.removeFirst(count)
            known = max(known, superblock.sequence)
        }
        if let last = pending.last, let frame = try source.file.frame(at: last.offset, limit: source.size), frame.header.kind == .prepared,
            let prepared = PreparedCommit(frame), isDecided(prepared)
        {
            try take(prepared)
        }
        if !pending.isEmpty || zeroesFrom > max(end, source.superblock?.end ?? 0) {
            tail = source.hasBothSuperblocks ? .unfinished : .uncertain
        }
        try settle(pending[...], isTaken: false)
        noteMissing(through: known)
    }

    /// The end of the last 64-byte step that is not all zero.
    private func endOfBytes(from end: UInt64) throws(StoreError) -> UInt64 {
        var last = end
        var page = end
        while page < source.size {
            let pageEnd = source.pageEnd(page)
            if try !source.isZero(page..<pageEnd) {
                for step in stride(from: page, to: pageEnd, by: FrameHeader.alignment) {
                    let stepEnd = min(pageEnd, step + UInt64(FrameHeader.alignment))
                    if try !source.isZero(step..<stepEnd) { last = stepEnd }
                }
            }
            page = pageEnd
        }
        return last
    }

    private mutating func noteDamage(_ range: Range<UInt64>) {
        guard !range.isEmpty else { return }
        damagedBytes += range.upperBound - range.lowerBound
        damage.append(.init(
            offset: range.lowerBound, end: range.upperBound,
            what: range.lowerBound >= source.size ? "the log's end, which is missing" : "the log"))
    }
}

/// A list that keeps its first elements and counts all.
struct SalvageList<Element: Sendable>: Sendable {
    static var kept: Int { 1000 }

    private(set) var elements: [Element] = []
    private(set) var count = 0

    mutating func append(_ element: Element) {
        count += 1
        if elements.count < Self.kept { elements.append(element) }
    }
}
