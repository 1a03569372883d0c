/// The states that a prune keeps restorable.
///
/// A state is the newest commit of an archive. Of each of the newest so many hours, days, weeks (from Monday) and months in which there is one,
/// the last state is kept, by UTC. The newest state of each line is kept in any case.
public struct RetentionPolicy: Sendable, Equatable {
    /// The newest so many states.
    public var last = 0
    public var hourly = 0
    public var daily = 0
    public var weekly = 0
    public var monthly = 0

    public init() {}

    /// A state that can be restored: a commit, and its time in microseconds since 1970.
    struct State: Hashable {
        var sequence: UInt64
        var time: Int64
    }

    /// The states that are kept.
    /// - Parameter states: in any order.
    func kept(of states: [State]) -> Set<State> {
        let newestFirst = states.sorted { ($0.sequence, $0.time) > ($1.sequence, $1.time) }
        var kept = Set(newestFirst.prefix(max(1, last)))
        let periods: [(count: Int, period: (Int64) -> Int64)] = [
            (hourly, Self.hour), (daily, Self.day), (weekly, Self.week), (monthly, Self.month),
        ]
        for (count, period) in periods where count > 0 {
            var seen: Set<Int64> = []
            for state in newestFirst where seen.count < count {
                if seen.insert(period(state.time)).inserted { kept.insert(state) }
            }
        }
        return kept
    }

    // MARK: Periods

    private static let second: Int64 = 1_000_000

    static func hour(_ time: Int64) -> Int64 { floor(time, 3600 * second) }
    static func day(_ time: Int64) -> Int64 { floor(time, 86400 * second) }
    /// 1970-01-01 was a Thursday.
    static func week(_ time: Int64) -> Int64 { floor(day(time) + 3, 7) }

    /// The number of the month, from year 0 on.
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    static func month(_ time: Int64) -> Int64 {
        let days = day(time) + 719_468, era = floor(days, 146_097), dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100), fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 2 : fromMarch - 10
        return (yearOfEra + era * 400 + (month < 2 ? 1 : 0)) * 12 + month
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 { value / divisor - (value % divisor < 0 ? 1 : 0) }
}
