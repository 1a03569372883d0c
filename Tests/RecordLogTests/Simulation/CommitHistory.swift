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
    /// Commits that were started, in order, and not acknowledged: the first ones may exist, up to any of them.
    private(set) var attempts: [(sequence: UInt64, contents: Contents)] = []

    var contents: Contents { states[newest] ?? [:] }

    mutating func begin(_ sequence: UInt64, _ contents: Contents) {
        attempts.removeAll { $0.sequence >= sequence }
        attempts.append((sequence, contents))
    }

    /// The attempts up to this number succeeded.
    mutating func acknowledge(through last: UInt64 = .max, isAnnounced: Bool = true) {
        for attempt in attempts where attempt.sequence <= last {
            newest = attempt.sequence
            states[newest] = attempt.contents
        }
        if isAnnounced { announced = newest }
        attempts.removeAll { $0.sequence <= last }
    }

    /// The newest attempt was refused, and does not exist.
    mutating func withdraw() { _ = attempts.popLast() }

    /// Whether the newest attempt is this one.
    func isNewestAttempt(_ sequence: UInt64, _ found: Contents) -> Bool {
        attempts.last.map { $0.sequence == sequence && $0.contents == found } ?? false
    }

    /// Everything acknowledged so far is durable.
    mutating func raiseFloor() { floor = newest }

    /// A handle that reads the newest state under the lock finds the newest commit or an attempt; this settles the attempts.
    /// - Returns: the contradiction to the model; nil for none.
    mutating func settle(_ sequence: UInt64, _ found: Contents) -> String? {
        if attempts.contains(where: { $0.sequence == sequence && $0.contents == found }) { acknowledge(through: sequence) }
        attempts = []
        guard sequence == newest, found == contents else {
            return "commit \(sequence) with \(found.count) rows stands where commit \(newest) with \(contents.count) was acknowledged"
        }
        return nil
    }

    /// The contradiction of a state after a crash, or of a reader's state, to the model; nil for none.
    func objection(_ sequence: UInt64, _ found: Contents, notBefore least: UInt64) -> String? {
        guard sequence >= least else { return "commit \(sequence) is the newest, and commit \(least) was acknowledged as durable" }
        if attempts.contains(where: { $0.sequence == sequence && $0.contents == found }) { return nil }
        guard sequence <= newest, let wanted = states[sequence] else { return "commit \(sequence) exists, and no writer made it" }
        return found == wanted ? nil : "commit \(sequence) has other rows than it was made with"
    }
}
