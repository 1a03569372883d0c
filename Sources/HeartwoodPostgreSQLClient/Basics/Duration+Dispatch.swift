internal import Foundation

extension Duration {
    /// For Dispatch. A duration of more than a century counts as one.
    var dispatched: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        return .nanoseconds(Int(max(0, min(seconds, 3_000_000_000))) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
}
