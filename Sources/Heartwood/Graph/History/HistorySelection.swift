import RecordLog

/// Which transactions of one history a request is about.
struct HistorySelection {
    /// A condition on their times, in seconds since 2001.
    enum Times {
        case any
        case after(Double)
        case before(Double)

        func holds(for time: Double) -> Bool {
            switch self {
            case .any: true
            case .after(let bound): time > bound
            case .before(let bound): time < bound
            }
        }
    }

    /// Rising; they may have more than is selected.
    private(set) var ranges: [Range<UInt64>]
    let times: Times

    init(_ ranges: [Range<UInt64>], _ times: Times) {
        self.ranges = ranges
        self.times = times
    }

    /// From a number on.
    init(from first: UInt64) { self.init([first..<UInt64.max], .any) }

    /// Those with lower numbers.
    init(before limit: UInt64) { self.init([0..<limit], .any) }

    /// Those of them from a number on.
    func from(_ first: UInt64) -> HistorySelection {
        HistorySelection(ranges.map { $0.clamped(to: first..<UInt64.max) }.filter { !$0.isEmpty }, times)
    }
}
