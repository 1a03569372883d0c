/// Distinguishes a torn tail from corruption: finds out whether the bytes behind the last valid commit had ever been durable.
///
/// A crash leaves unfinished or unsynced bytes behind the last commit; these may be cut off. If a later footer, or the header's durable end,
/// shows that damaged bytes had been durable, that is corruption; these may not be cut off.
struct TailExamination {
    let file: LogFile
    /// The number of the last valid commit.
    let sequence: UInt64
    let end: UInt64
    let size: UInt64
    let superblock: Superblock?
    /// The whole file's size; `size` may be less.
    private let fileSize: UInt64
    private let stretches: TailReader
    private let frames: TailReader

    init(file: LogFile, sequence: UInt64, end: UInt64, size: UInt64, superblock: Superblock?, fileSize: UInt64? = nil) {
        self.file = file
        self.sequence = sequence
        self.end = end
        self.size = size
        self.superblock = superblock
        self.fileSize = fileSize ?? size
        stretches = TailReader(file)
        frames = TailReader(file)
    }

    /// Whether the log is whole up to the end that the header names, and the damage is behind it.
    ///
    /// A copy is read from the front while writers append, so its header is older than its log. Of two commits it may lack the earlier one,
    /// whose bytes were copied before they were written, and have the later one. A loss of acknowledged commits can look the same, so a
    /// writer is always refused. Up to the damage such a file is whole, and a reader finds no fault in it.
    var mayBeCopyOfOpenFile: Bool { superblock.map { $0.end <= end } ?? false }

    enum Outcome: Equatable {
        /// All zeroes, or empty.
        case clean
        case torn
        /// The offset of the damage, and the evidence for it.
        case corrupt(UInt64, String)
    }

    /// Bytes to hash at most for each byte of the tail. Only a tail made on purpose needs more.
    private static let hashedPerByte: UInt64 = 8

    func run() throws(StoreError) -> Outcome {
        if let superblock, superblock.durableEnd > end {
            return .corrupt(end, "the header says that the log was durable up to byte \(superblock.durableEnd); " + (try losses(superblock)))
        }
        guard end < size else { return .clean }
        guard size <= file.sizeMax else {
            throw StoreError(
                .tooLarge, path: file.path, at: end, "the file has \(size) bytes, and a store of its segments at most \(file.sizeMax)",
                remedy: "Find out what made it so long. Opened read-only it can be read, and copied.")
        }
        var budget = (size - end) * Self.hashedPerByte
        var isClean = true
        var offset = end
        while offset < size {
            let stretch = min(file.room(at: offset), size - offset, Self.stretchMax)
            // A caller without the lock may see the tail being cut off.
            guard let start = try stretches.bytes(at: offset, count: Int(stretch), limit: offset + stretch) else { break }
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(stretch))
            if !bytes.isZero {
                isClean = false
                if let evidence = try laterCommit(in: bytes, at: offset, &budget) { return evidence }
            }
            offset += stretch
        }
        return isClean ? .clean : .torn
    }

    /// Bytes read at a time.
    private static let stretchMax: UInt64 = 1 << 20

    // MARK: Losses

    /// Describes the commits that the damage has destroyed for sure, and those that it may have destroyed.
    private func losses(_ superblock: Superblock) throws(StoreError) -> String {
        var text = ""
        if try endsWithinFrame() {
            text = "the file ends at byte \(fileSize), and "
                + (superblock.durableSequence > sequence ? "\(Self.commits(sequence + 1, superblock.durableSequence)) lost" : "")
        } else if superblock.durableSequence > sequence {
            text = "commit \(sequence + 1) is damaged"
            if superblock.durableSequence > sequence + 1 {
                text += ", and \(Self.commits(sequence + 2, superblock.durableSequence)) behind the damage, whole or not"
            }
        }
        if superblock.durableSequence <= sequence { text += "no commit up to number \(superblock.durableSequence) is lost" }
        let known = max(sequence, superblock.durableSequence)
        guard superblock.sequence > known else { return text }
        return text + "; \(Self.commits(known + 1, superblock.sequence)) not known to have been durable, and may be lost"
    }

    private static func commits(_ first: UInt64, _ last: UInt64) -> String {
        first == last ? "commit \(first) is" : "commits \(first) to \(last) are"
    }

    /// Whether the incomplete frame is incomplete because the file ends.
    private func endsWithinFrame() throws(StoreError) -> Bool {
        guard let superblock, fileSize < max(superblock.end, superblock.durableEnd) else { return false }
        var offset = end
        while offset < fileSize, let frame = try frames.frame(at: offset, limit: fileSize) { offset = frame.end }
        return try frames.stated(at: offset, limit: fileSize) == nil
    }

    /// Searches for a footer whose writer knew the missing commit to be durable.
    private func laterCommit(in bytes: UnsafeRawBufferPointer, at start: UInt64, _ budget: inout UInt64) throws(StoreError) -> Outcome? {
        for at in stride(from: 0, to: bytes.count, by: FrameHeader.alignment) {
            let offset = start + UInt64(at)
            guard let head = bytes.baseAddress, let header = FrameHeader(head + at, limit: min(size - offset, file.room(at: offset))),
                header.kind == .commit, header.sequence > sequence
            else { continue }
            if let evidence = try laterCommit(header, at: offset, &budget) { return evidence }
        }
        return nil
    }

    private func laterCommit(_ header: FrameHeader, at offset: UInt64, _ budget: inout UInt64) throws(StoreError) -> Outcome? {
        guard UInt64(header.length) <= budget else {
            return .corrupt(end, "the bytes that follow look like commits at more offsets than a log can have commits")
        }
        budget -= UInt64(header.length)
        guard let frame = try frames.frame(at: offset, limit: size), let footer = CommitFooter(payload: frame.payload),
            footer.sequence > sequence, footer.durableSequence > sequence
        else { return nil }
        let evidence = "commit \(footer.sequence) at byte \(offset) says that commit \(sequence + 1) was durable, and it is not there"
        return .corrupt(end, mayBeCopyOfOpenFile ? evidence + "; the header names nothing that is missing" : evidence)
    }
}
