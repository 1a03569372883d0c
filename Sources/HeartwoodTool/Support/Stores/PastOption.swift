import Foundation
import RecordLog

/// The option of the commands that read a store as of one of its past commits.
enum PastOption {
    static let option = option(
        "at",
        """
        shows the store as a commit left it: the commit of this number, or the newest one up to this time (ISO 8601, as 2026-11-21T12:00:00Z; a \
        day alone, 2026-11-21, is its end by UTC). `heartwood log` lists the commits that the store still has
        """)
    /// The older of two states.
    static let from = option(
        "from",
        """
        the older state: as the commit of this number left it, or the newest one up to this time (ISO 8601, as 2026-11-21T12:00:00Z)
        """)
    /// The newer of two states.
    static let to = option("to", "the newer state; without it the newest one")

    private static func option(_ name: String, _ meaning: String) -> Parameter<PastCommit?> {
        Parameter(ParameterDeclaration(name: name, placeholder: "COMMIT|TIME", kind: .commit, meaning: meaning)) { try value($1, $0) }
    }

    private static func value(_ text: String, _ title: String) throws -> PastCommit {
        if let number = UInt64(text) {
            guard number > 0 else { throw ToolError.usage("\(title): commits are numbered from 1 on") }
            return .number(number)
        }
        // Seconds since 1970 would look like a commit's number.
        guard Double(text) == nil, let time = try? TimeArgument.microseconds(title, text, day: .end) else {
            throw ToolError.usage("\(title) takes the number of a commit or a time (ISO 8601, or a day alone), not \"\(text)\"")
        }
        return .time(time)
    }

    /// - Throws: if the option is given for a store of Core Data's own.
    static func refuse(_ past: PastCommit?) throws {
        guard past != nil else { return }
        throw ToolError.usage("\(option.title) needs a record log; a store of Core Data's own, or in a database, has one state only")
    }

    /// The value of the store option.
    static func storeOption(_ past: PastCommit) -> Any {
        switch past {
        case .number(let number): number
        case .time(let time): Date(timeIntervalSince1970: Double(time) / 1_000_000)
        }
    }
}
