/// A commit that lacks its commit frame, because another store decides about it. Spec: FORMAT.md, "Saves over several stores".
///
/// Where that store decides for it, the frame it lacks is made of what the prepared frame says: the same bytes at the same place, whoever
/// makes them. So a reader may show the commit before anybody has written it.
final class PreparedCommit {
    /// Of the prepared frame.
    let offset: UInt64
    let end: UInt64
    let record: PreparedRecord
    /// The commit's, but for the prepared frame's own checksum among its parts.
    let footer: CommitFooter
    let author: [UInt8]
    /// With the prepared frame.
    let partsChecksum: UInt64

    /// - Returns: nil where the frame's payload is none of a prepared frame.
    init?(_ frame: LogFile.Frame) {
        guard let footer = CommitFooter(payload: frame.payload), let record = PreparedRecord(frame.payload, footer) else { return nil }
        offset = frame.offset
        end = frame.end
        self.record = record
        self.footer = footer
        author = Array(footer.author(bytesIn: frame.payload))
        partsChecksum = CommitFooter.folding(footer.partsChecksum, frame.header.checksum)
    }

    /// Whether the other one says the same, from the same place.
    func isSame(as other: PreparedCommit) -> Bool {
        offset == other.offset && end == other.end && record == other.record && footer == other.footer && author == other.author
            && partsChecksum == other.partsChecksum
    }

    /// The commit frame, laid down and not written.
    func completion(in file: LogFile, counters: Counters) throws(StoreError) -> (appender: FrameAppender, frame: FramePointer) {
        let appender = FrameAppender(file: file, at: end, sequence: footer.sequence, counters: counters)
        appender.resume(start: footer.start, partsChecksum: partsChecksum)
        return (appender, try appender.appendFooter(footer, author: author))
    }
}

/// What a store's log ends with where it waits for another store's decision.
public final class InDoubtCommit: Sendable {
    public enum State: String, Sendable {
        /// The other store has decided for it: snapshots show it, and the next writer completes it.
        case committed
        /// The other store has not, and will not any more unless somebody is about to: snapshots do not show it, and the next writer
        /// cuts it off.
        case aborted
        /// The other store cannot be asked: snapshots do not show it, and nothing can be written.
        case undecided
    }

    public let sequence: UInt64
    /// Where the prepared frame is.
    public let offset: UInt64
    /// The identity of the store that decides, and its path when it was asked to.
    public let coordinatorStoreID: (UInt64, UInt64)
    public let coordinatorPath: String
    public let state: State
    /// Why the other store cannot be asked; nil where it can.
    public let reason: StoreError?

    init(_ prepared: PreparedCommit, _ answer: CommitCoordinator.Answer) {
        sequence = prepared.footer.sequence
        offset = prepared.offset
        coordinatorStoreID = (prepared.record.coordinator.first, prepared.record.coordinator.second)
        coordinatorPath = prepared.record.path
        (state, reason) = switch answer {
        case .committed: (.committed, nil)
        case .aborted: (.aborted, nil)
        case .undecided(let error): (.undecided, error)
        }
    }
}
