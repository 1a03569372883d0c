/// What a store is, whether it is sound, and what to do.
struct ReportOverview: Encodable {
    /// A line of a list: a name, and a text or a number.
    struct Fact: Encodable {
        var name: String
        var text: String
    }

    struct Check: Encodable {
        enum State: String, Encodable {
            case sound, guessed, damaged, unchecked, unreadable
        }

        var state: State
        /// One sentence.
        var summary: String
        /// The findings, as `verify` prints them.
        var lines: [String] = []
        /// Findings that are left out.
        var more = 0
        var seconds: Double?
    }

    /// An advice: what was seen, and the command that helps.
    struct Advice: Encodable {
        var text: String
        var command: String?
    }

    /// A record log, a Core Data store, a backup, or "Unknown".
    var kind: String
    var path: String
    var bytes: UInt64
    var objects: Int?
    var entities: Int?
    var check: Check
    var facts: [Fact] = []
    var advice: [Advice] = []
    /// The commits of a backup, by line.
    var backups: [ReportBackup] = []
}
