@testable import RecordLog

/// A model of a store's commits, and of the commits that may be the newest after a crash.
struct CommitHistory {
    typealias Contents = [UInt64: SampleStore.Person]

    /// States by sequence; 0 is the store before its first commit.
    private(set) var states: [UInt64: Contents] = [0: [:]]
    /// The newest acknowledged commit.
    private(set) var newest: UInt64 = 0
    /// The newest acknowledged commit that read-only handles see.
    private(set) var announced: UInt64 = 0
    /// The newest commit that was acknowledged as durable.
    private(set) var floor: UInt64 = 0
    /// A commit that was started and not acknowledged: it may exist or not.
    private(set) var attempt: (sequence: UInt64, contents: Contents)?

    var contents: Contents { states[newest] ?? [:] }

    mutating func begin(_ sequence: UInt64, _ contents: Contents) { attempt = (sequence, contents) }

    /// The attempt succeeded.
    mutating func acknowledge(isAnnounced: Bool = true) {
        guard let attempt else { return }
        newest = attempt.sequence
        if isAnnounced { announced = newest }
        states[newest] = attempt.contents
        self.attempt = nil
    }

    /// The attempt was refused, and does not exist.
    mutating func withdraw() { attempt = nil }

    /// Everything acknowledged so far is durable.
    mutating func raiseFloor() { floor = newest }

    /// A handle that reads the newest state under the lock finds the newest commit or the attempt; this settles the attempt.
    /// - Returns: the contradiction to the model; nil for none.
    mutating func settle(_ sequence: UInt64, _ found: Contents) -> String? {
        if let attempt, sequence == attempt.sequence, found == attempt.contents {
            acknowledge()
            return nil
        }
        attempt = nil
        guard sequence == newest, found == contents else {
            return "commit \(sequence) with \(found.count) rows stands where commit \(newest) with \(contents.count) was acknowledged"
        }
        return nil
    }

    /// The contradiction of a state after a crash, or of a reader's state, to the model; nil for none.
    func objection(_ sequence: UInt64, _ found: Contents, notBefore least: UInt64) -> String? {
        guard sequence >= least else { return "commit \(sequence) is the newest, and commit \(least) was acknowledged as durable" }
        if let attempt, sequence == attempt.sequence, found == attempt.contents { return nil }
        guard sequence <= newest, let wanted = states[sequence] else { return "commit \(sequence) exists, and no writer made it" }
        return found == wanted ? nil : "commit \(sequence) has other rows than it was made with"
    }
}
