import Foundation
import Heartwood
import RecordLog

/// Writes the commits of a log, for people or for programs.
struct CommitText {
    private let names: [TableID: String]

    /// - Parameter catalog: the newest one; a table that is gone from it has no name.
    init(_ catalog: Catalog) {
        names = Dictionary(uniqueKeysWithValues: catalog.tables.map { ($0.id, $0.name) })
    }

    private func name(_ table: TableID) -> String {
        table == .system ? "(system)" : names[table] ?? "(removed table \(table.rawValue))"
    }

    static func time(_ microseconds: Int64) -> String {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let seconds = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        // Foundation's style has milliseconds; a commit's time has microseconds, and `--at` must find it again.
        let whole = seconds.remainder < 0 ? seconds.quotient - 1 : seconds.quotient
        let fraction = microseconds - whole * 1_000_000
        return Date(timeIntervalSince1970: Double(whole)).formatted(style).replacing(".000Z", with: String(format: ".%06dZ", Int(fraction)))
    }

    /// The tables in the order of their names, the system's last.
    func tables(_ commit: CommitLog.Entry) -> [(name: String, changes: CommitLog.Changes)] {
        commit.changes.map { (name: name($0.key), changes: $0.value) }.sorted { a, b in
            let (isLast, isOtherLast) = (a.name.hasPrefix("("), b.name.hasPrefix("("))
            return isLast == isOtherLast ? a.name < b.name : isOtherLast
        }
    }

    private static func counts(_ changes: CommitLog.Changes) -> String {
        [(changes.written, "written"), (changes.deleted, "deleted")].filter { $0.0 > 0 }
            .map { "\(Output.number($0.0)) \($0.1)" }.joined(separator: ", ")
    }

    func lines(_ commit: CommitLog.Entry, _ excerpt: Excerpt) -> [String] {
        var head = "commit \(commit.sequence)  \(Self.time(commit.timestamp))  \(Output.bytes(commit.byteCount))"
        if let author = commit.author { head += "  author \(author)" }
        return [head] + excerpt.members(tables(commit).map { "\($0.name): \(Self.counts($0.changes))" }).map { "  \($0)" }
    }

    func json(_ commit: CommitLog.Entry) -> JSONValue {
        var object: [String: JSONValue] = [
            "commit": .integer(Int64(clamping: commit.sequence)), "time": .text(Self.time(commit.timestamp)),
            "bytes": .integer(Int64(clamping: commit.byteCount)),
            "written": .integer(Int64(commit.changes.values.reduce(0) { $0 + $1.written })),
            "deleted": .integer(Int64(commit.changes.values.reduce(0) { $0 + $1.deleted })),
            "tables": .object(Dictionary(uniqueKeysWithValues: commit.changes.map {
                (name($0.key), .object(["written": .integer(Int64($0.value.written)), "deleted": .integer(Int64($0.value.deleted))]))
            })),
        ]
        object["author"] = commit.author.map(JSONValue.text)
        return .object(object)
    }
}
