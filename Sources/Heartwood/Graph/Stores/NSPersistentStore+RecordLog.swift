import Foundation
import RecordLog

extension NSPersistentStore {
    /// The engine's handle, for what only a record log has; nil for other stores, and once removed.
    package var recordLog: LogStore? { (self as? RecordLogStore)?.log }

    /// Why a store that was added with `NSRecordLogAcceptsDamageOption` shows what comes before its damage, and no more; nil for one that is
    /// whole as far as adding it tells. The error is the one that adding it without the option would have thrown.
    public final var damage: NSError? { recordLog?.damage.map { RecordLogErrors.wrap($0, opening: true) } }
}
