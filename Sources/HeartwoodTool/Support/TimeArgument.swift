import Foundation

/// A time of a command line.
enum TimeArgument {
    /// The instant that a day alone names. Days are those of UTC, as the tool writes times.
    enum Day {
        /// Of times from this one on.
        case beginning
        /// Of times up to this one: the day's last microsecond.
        case end
    }

    static func option(_ name: String, day: Day, _ meaning: String) -> Parameter<Int64?> {
        Parameter(ParameterDeclaration(name: name, placeholder: "TIME", kind: .time, meaning: meaning)) { try microseconds($0, $1, day: day) }
    }

    /// - Parameter text: ISO 8601, a day alone (2026-11-26), or seconds since 1970.
    /// - Returns: microseconds since 1970.
    static func microseconds(_ title: String, _ text: String, day: Day) throws -> Int64 {
        if let beginning = beginning(ofDay: text) {
            let time = Int64(beginning.timeIntervalSince1970) * 1_000_000
            return day == .beginning ? time : time + 86_400_000_000 - 1
        }
        guard let date = date(iso: text) ?? FloatText.value(text, as: Double.self).map(Date.init(timeIntervalSince1970:)),
            let time = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded())
        else { throw ToolError.usage("\(title) takes a time (ISO 8601, a day alone, or seconds since 1970), not \"\(text)\"") }
        return time
    }

    /// With or without a fraction of a second.
    static func date(iso text: String) -> Date? { ISO8601Text.seconds(text).map(Date.init(timeIntervalSinceReferenceDate:)) }

    /// - Returns: nil if the text is not a day alone, or no day of the calendar.
    static func beginning(ofDay text: String) -> Date? { text.utf8.count == 10 ? date(iso: text + "T00:00:00Z") : nil }
}
