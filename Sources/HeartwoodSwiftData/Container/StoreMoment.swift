import Foundation

/// A past state of a store in a file. Its log has it until a compaction takes it away; see the guide "Time travel".
public enum StoreMoment: Hashable, Sendable {
    /// The state after the commit of this number; see `ModelContainer.commitNumber(forConfigurationNamed:)`.
    case commit(UInt64)
    /// The state after the last commit at or before this time.
    case date(Date)

    var option: NSObject {
        switch self {
        case .commit(let number): number as NSNumber
        case .date(let date): date as NSDate
        }
    }
}
