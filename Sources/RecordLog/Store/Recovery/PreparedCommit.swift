/// A commit that lacks its commit frame, because another store decides about it. Spec: FORMAT.md, "Saves over several stores".
///
/// If that store decides for it, the missing frame is computed from the prepared frame. Every process computes the same bytes at the same
/// offset, so a reader may show the commit before a writer has written the frame.
final class PreparedCommit {
    /// The offset of the prepared frame.
    let offset: UInt64
    let end: UInt64
    let record: PreparedRecord
    /// The commit's footer, except that its parts do not include the prepared frame's own checksum.
    let footer: CommitFooter
    let author: [UInt8]
    /// The checksum of the parts, the prepared frame included.
    let partsChecksum: UInt64

    /// - Returns: nil if the frame's payload is not that of a prepared frame.
    init?(_ frame: LogFile.Frame) {
        guard let footer = CommitFooter(payload: frame.payload), let record = PreparedRecord(frame.payload, footer) else { return nil }
        offset = frame.offset
        end = frame.end
        self.record = record
        self.footer = footer
        author = Array(footer.author(bytesIn: frame.payload))
        partsChecksum = CommitFooter.folding(footer.partsChecksum, frame.header.checksum)
    }

    /// Whether the other commit has the same content at the same offset.
    func isSame(as other: PreparedCommit) -> Bool {
        offset == other.offset && end == other.end && record == other.record && footer == other.footer && author == other.author
            && partsChecksum == other.partsChecksum
    }

    /// Computes the commit frame and appends it to a new appender, which has not written it yet.
    func completion(in file: LogFile, counters: Counters) throws(StoreError) -> (appender: FrameAppender, frame: FramePointer) {
        let appender = FrameAppender(file: file, at: end, sequence: footer.sequence, counters: counters)
        appender.resume(start: footer.start, partsChecksum: partsChecksum)
        return (appender, try appender.appendFooter(footer, author: author))
    }
}

/// The prepared commit at the end of a store's log, while it waits for another store's decision.
public final class InDoubtCommit: Sendable {
    public enum State: String, Sendable {
        /// The other store has decided for the commit: snapshots show it, and the next writer completes it.
        case committed
        /// The other store has not decided, and will not unless its writer is just about to. Snapshots do not show the commit, and the next
        /// writer cuts it off.
        case aborted
        /// The other store cannot be asked. Snapshots do not show the commit, and nothing can be written.
        case undecided
    }

    public let sequence: UInt64
    /// The prepared frame's offset in bytes.
    public let offset: UInt64
    /// The identity of the deciding store, and its path at the time of the save.
    public let coordinatorStoreID: StoredUUID
    public let coordinatorPath: String
    public let state: State
    /// The reason why the other store cannot be asked; nil if it can be.
    public let reason: StoreError?

    init(_ prepared: PreparedCommit, _ answer: CommitCoordinator.Answer) {
        sequence = prepared.footer.sequence
        offset = prepared.offset
        coordinatorStoreID = prepared.record.coordinator
        coordinatorPath = prepared.record.path
        (state, reason) = switch answer {
        case .committed: (.committed, nil)
        case .aborted: (.aborted, nil)
        case .undecided(let error): (.undecided, error)
        }
    }
}
