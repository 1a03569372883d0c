/// A commit's number, the checksum of its frame, and its end in the file.
struct LogPosition: Hashable, Sendable {
    var sequence: UInt64
    var checksum: UInt64
    var end: UInt64

    /// Before a file's first commit.
    static let start = LogPosition(sequence: 0, checksum: 0, end: FileFormat.dataStart)
}

extension LogPosition {
    /// - Parameter manifest: of a checkpoint; nil for the file's beginning.
    init(behind manifest: Manifest?) {
        self = manifest.map { LogPosition(sequence: $0.sequence, checksum: $0.commitChecksum, end: $0.logEnd) } ?? .start
    }
}

extension CommitScan {
    /// Scans from a commit on, and keeps no frames in memory.
    init(
        _ file: LogFile, after position: LogPosition, limit: UInt64, publishedEnd: UInt64?, wholeEnd: UInt64, damage: DamagePolicy = .passes
    ) {
        self.init(
            log: .tail(TailReader(file)), behind: position.sequence, checksum: position.checksum, at: position.end, limit: limit,
            publishedEnd: publishedEnd, wholeEnd: wholeEnd, damage: damage)
    }

    /// The commit that `next` found last; before that the one from which the scan began.
    var lastCommit: LogPosition { LogPosition(sequence: sequence, checksum: commitChecksum, end: end) }
}
