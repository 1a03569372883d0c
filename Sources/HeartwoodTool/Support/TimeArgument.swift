import Foundation

/// A time of a command line.
enum TimeArgument {
    /// - Parameter text: ISO 8601, or seconds since 1970.
    /// - Returns: microseconds since 1970.
    static func microseconds(_ option: String, _ text: String) throws -> Int64 {
        guard let date = Double(text).map({ Date(timeIntervalSince1970: $0) }) ?? date(iso: text),
            let time = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded())
        else { throw ToolError.usage("--\(option) takes a time (ISO 8601, or seconds since 1970), not \"\(text)\"") }
        return time
    }

    /// With or without a fraction of a second.
    static func date(iso text: String) -> Date? {
        (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) ?? (try? Date(text, strategy: Date.ISO8601FormatStyle()))
    }
}
