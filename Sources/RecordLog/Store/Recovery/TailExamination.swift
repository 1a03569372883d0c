/// Tells a torn tail from corruption: whether what follows the last valid commit had ever been durable.
///
/// A crash leaves unfinished or unsynced bytes behind the last commit; they may go. Damage to bytes that a later footer or
/// the header's floor shows to have been on the disk is corruption; they may not.
struct TailExamination {
    let file: LogFile
    /// The last valid commit.
    let sequence: UInt64
    let end: UInt64
    let size: UInt64
    let superblock: Superblock?
    /// The whole file's size, where `size` is less.
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

    /// Whether all is there that the header names, and the damage lies behind that.
    ///
    /// A copy is read from the front while writers append: its header is older than its log, and of two commits the earlier one may be
    /// missing where its place was read before it was written, and the later one be there. A loss of acknowledged commits can look the same,
    /// so a writer is refused in any case. Up to the damage such a file is whole, and a reader finds no fault in it.
    var mayBeCopyOfOpenFile: Bool { superblock.map { $0.end <= end } ?? false }

    enum Outcome: Equatable {
        /// Zeroes, or nothing.
        case clean
        case torn
        /// Where the damage is, and what shows it.
        case corrupt(UInt64, String)
    }

    /// Bytes whose checksums may be computed for each byte of the tail. A tail that takes more was made to take more.
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
            // Whoever does not hold the lock may see it cut off.
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

    /// What is read together.
    private static let stretchMax: UInt64 = 1 << 20

    // MARK: What is lost

    /// Which commits the damage has taken for sure, and which it may have taken.
    private func losses(_ superblock: Superblock) throws(StoreError) -> String {
        var text = ""
        if try endsWithinFrame() {
            text = "the file ends at byte \(fileSize), and " + (superblock.durableSequence > sequence ? "\(Self.commits(sequence + 1, superblock.durableSequence)) lost" : "")
        } else if superblock.durableSequence > sequence {
            text = "commit \(sequence + 1) is damaged"
            if superblock.durableSequence > sequence + 1 { text += ", and \(Self.commits(sequence + 2, superblock.durableSequence)) behind the damage, whole or not" }
        }
        if superblock.durableSequence <= sequence { text += "no commit up to number \(superblock.durableSequence) is lost" }
        let known = max(sequence, superblock.durableSequence)
        return text + (superblock.sequence > known ? "; \(Self.commits(known + 1, superblock.sequence)) not known to have been durable, and may be lost" : "")
    }

    private static func commits(_ first: UInt64, _ last: UInt64) -> String {
        first == last ? "commit \(first) is" : "commits \(first) to \(last) are"
    }

    /// Whether the frame that is not whole is so because the file ends.
    private func endsWithinFrame() throws(StoreError) -> Bool {
        guard let superblock, fileSize < max(superblock.end, superblock.durableEnd) else { return false }
        var offset = end
        while offset < fileSize, let frame = try frames.frame(at: offset, limit: fileSize) { offset = frame.end }
        return try frames.stated(at: offset, limit: fileSize) == nil
    }

    /// Whether a footer stands here that knew the missing commit to be durable.
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
            return .corrupt(end, "what follows looks like commits at more places than commits can be")
        }
        budget -= UInt64(header.length)
        guard let frame = try frames.frame(at: offset, limit: size), let footer = CommitFooter(payload: frame.payload),
            footer.sequence > sequence, footer.durableSequence > sequence
        else { return nil }
        let evidence = "commit \(footer.sequence) at byte \(offset) says that commit \(sequence + 1) was durable, and it is not there"
        return .corrupt(end, mayBeCopyOfOpenFile ? evidence + "; the header names nothing that is missing" : evidence)
    }
}
