import Foundation
import RecordLog

/// The texts of the commands for backups.
enum BackupText {
    /// The destination that an argument names: a directory.
    static func destination(_ text: String) throws -> DirectoryDestination {
        guard !text.contains("://") else {
            throw ToolError.usage(
                "a destination is a directory; an object store is reached by a program that uses the library HeartwoodS3, or mounted")
        }
        guard !text.isEmpty else { throw ToolError.usage("the destination is empty") }
        return DirectoryDestination(path: text)
    }

    /// A time of a command line: ISO 8601, or seconds since 1970.
    static func microseconds(_ option: String, _ text: String) throws -> Int64 {
        let date = Double(text).map { Date(timeIntervalSince1970: $0) }
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle()))
        guard let date, let time = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) else {
            throw ToolError.usage("--\(option) takes a time (ISO 8601, or seconds since 1970), not \"\(text)\"")
        }
        return time
    }

    /// A number of seconds.
    static func seconds(_ option: String, _ text: String?, default value: Double) throws -> Duration {
        guard let text else { return .seconds(value) }
        guard let number = Double(text), number > 0, number <= 86400 else {
            throw ToolError.usage("--\(option) takes seconds, more than 0 and at most 86400, not \"\(text)\"")
        }
        return .milliseconds(Int64(max(1, number * 1000)))
    }

    static func identity(_ option: String, _ text: String?) throws -> StoredUUID? {
        guard let text else { return nil }
        guard let id = StoredUUID(text) else {
            throw ToolError.usage("--\(option) takes an identity as `heartwood backup list` shows it, not \"\(text)\"")
        }
        return id
    }

    static func time(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(Date.ISO8601FormatStyle())
    }

    static func range(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1 ? number(range.lowerBound) : "\(number(range.lowerBound)) to \(number(range.upperBound))"
    }

    static func ranges(_ ranges: [ClosedRange<UInt64>]) -> String {
        ranges.isEmpty ? "none" : ranges.map(range).joined(separator: ", ")
    }

    static func number(_ value: UInt64) -> String { Output.number(Int(clamping: value)) }

    static func count(_ count: Int, _ noun: String) -> String { "\(Output.number(count)) \(noun)\(count == 1 ? "" : "s")" }

    static func seconds(_ microseconds: Int64) -> String { String(format: "%.1f s", Double(microseconds) / 1_000_000) }
}
