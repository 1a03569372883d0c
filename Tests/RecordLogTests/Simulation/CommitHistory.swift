@testable import RecordLog

/// The commits of a store as a model knows them, and which of them a crash may leave as the newest.
struct CommitHistory {
    typealias Contents = [UInt64: SampleStore.Person]

    /// By sequence; 0 is the store before its first commit.
    private(set) var states: [UInt64: Contents] = [0: [:]]
    /// The newest commit that was acknowledged.
    private(set) var newest: UInt64 = 0
    /// The newest commit that was acknowledged and that handles which only read are told of.
    private(set) var announced: UInt64 = 0
    /// The newest commit that was acknowledged as durable.
    private(set) var floor: UInt64 = 0
    /// A commit that was begun and not acknowledged: it may be there or not.
    private(set) var attempt: (sequence: UInt64, contents: Contents)?

    var contents: Contents { states[newest] ?? [:] }

    mutating func begin(_ sequence: UInt64, _ contents: Contents) { attempt = (sequence, contents) }

    /// The attempt was made.
    mutating func acknowledge(isAnnounced: Bool = true) {
        guard let attempt else { return }
        newest = attempt.sequence
        if isAnnounced { announced = newest }
        states[newest] = attempt.contents
        self.attempt = nil
    }

    /// The attempt was refused, and is nowhere.
    mutating func withdraw() { attempt = nil }

    /// Everything acknowledged so far is durable.
    mutating func raiseFloor() { floor = newest }

    /// A handle that learns under the lock what there is finds the newest commit or the attempt; from then on it is decided.
    /// - Returns: what is wrong.
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

    /// What is wrong with a state that a crash left, or that a reader sees; nil for nothing.
    func objection(_ sequence: UInt64, _ found: Contents, notBefore least: UInt64) -> String? {
        guard sequence >= least else { return "commit \(sequence) is the newest, and commit \(least) was acknowledged as durable" }
        if let attempt, sequence == attempt.sequence, found == attempt.contents { return nil }
        guard sequence <= newest, let wanted = states[sequence] else { return "there is a commit \(sequence) that nobody made" }
        return found == wanted ? nil : "commit \(sequence) has other rows than it was made with"
    }
}
