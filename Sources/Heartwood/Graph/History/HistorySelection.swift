import RecordLog

/// The transactions of one history that a request selects.
package struct HistorySelection {
    /// A condition on their times, in seconds since 2001.
    package enum Times {
        case any
        case after(Double)
        case before(Double)

        package func holds(for time: Double) -> Bool {
            switch self {
            case .any: true
            case .after(let bound): time > bound
            case .before(let bound): time < bound
            }
        }
    }

    /// In ascending order. They may contain more transactions than the times select.
    package private(set) var ranges: [Range<UInt64>]
    package let times: Times

    package init(_ ranges: [Range<UInt64>], _ times: Times) {
        self.ranges = ranges
        self.times = times
    }

    /// All transactions from a number on.
    init(from first: UInt64) { self.init([first..<UInt64.max], .any) }

    /// All transactions with lower numbers.
    init(before limit: UInt64) { self.init([0..<limit], .any) }

    /// Whether a transaction's number is in one of the ranges.
    package func holds(_ number: UInt64) -> Bool { ranges.contains { $0.contains(number) } }

    /// The part of the selection from a number on.
    func from(_ first: UInt64) -> HistorySelection {
        HistorySelection(ranges.map { $0.clamped(to: first..<UInt64.max) }.filter { !$0.isEmpty }, times)
    }
}
