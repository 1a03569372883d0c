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
        if let found = ISO8601Text(text), !found.isTime {
            return day == .beginning ? Int64(found.start + epoch) * 1_000_000 : Int64(found.end + epoch) * 1_000_000 - 1
        }
        guard let date = date(iso: text) ?? FloatText.value(text, as: Double.self).map(Date.init(timeIntervalSince1970:)),
            let time = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded())
        else { throw ToolError.usage("\(title) takes a time (ISO 8601, a day alone, or seconds since 1970), not \"\(text)\"") }
        return time
    }

    private static let epoch = Date.timeIntervalBetween1970AndReferenceDate

    /// A time, or the beginning of a day.
    static func date(iso text: String) -> Date? { ISO8601Text(text).map { Date(timeIntervalSinceReferenceDate: $0.start) } }
}
