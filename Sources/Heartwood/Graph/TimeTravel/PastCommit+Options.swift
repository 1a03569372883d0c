import Foundation
import RecordLog

/// A store option: the commit of the past as of which a record log is added. An integer is the commit's number, a `Date` stands for the last
/// commit at or before it. The log must still have the commit: a compaction takes away those before it, and a backup may have them.
///
/// The store is read-only, and shows this one commit as long as it is added, whatever other coordinators and processes write: objects,
/// relationships, fetches, metadata, the transactions of the history up to then. An index that was made later is missing, and fetches scan.
/// Nothing is written, to the file or beside it. A save throws 513. A store that was migrated since then has its old version, and its model is
/// the old one: another model is the error 134100, and no option migrates the past. The metadata of then tell the version
/// (`NSPersistentStoreCoordinator.metadataForPersistentStore(ofType:at:options:)` with this option).
///
/// A coordinator takes a store once, so the present and the past of one store belong to two coordinators. Objects have the same URIs in both.
///
/// Adding the store throws 134080 where the log does not have the commit (the underlying `StoreError` has the code `noSuchCommit`, and the
/// message tells which commits there are), and where the value is neither a positive integer nor a date. It reads the log from the last
/// checkpoint before the commit, about 16 MiB, in about as much memory. A commit in front of the file's first checkpoint, as in the history
/// window that a compaction has kept, costs the file up to there. A date costs one pass over the commits behind it as well.
public let NSRecordLogAsOfOption = "NSRecordLogAsOfOption"

extension PastCommit {
    /// The value of `NSRecordLogAsOfOption`; nil without the option.
    /// - Throws: 134080 if the value is neither a positive integer nor a date.
    init?(_ options: [AnyHashable: Any]?, of url: URL?) throws {
        guard let value = options?[NSRecordLogAsOfOption] else { return nil }
        guard let past = PastCommit(value) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "NSRecordLogAsOfOption takes the number of a commit, from 1 on, or a Date, not \(value). `heartwood log` lists the commits.",
                url.map { [NSFilePathErrorKey: $0.path] } ?? [:])
        }
        self = past
    }

    private init?(_ value: Any) {
        switch value {
        case let date as Date: self.init(date)
        case let date as NSDate: self.init(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate))
        case let number as NSNumber:
            // A Boolean is a number to Foundation.
            guard ![UInt8(ascii: "c"), UInt8(ascii: "B")].contains(UInt8(bitPattern: number.objCType.pointee)), number.doubleValue >= 1
            else { return nil }
            self.init(number: UInt64(exactly: number))
        case is Bool: return nil
        case let number as any BinaryInteger: self.init(number: UInt64(exactly: number))
        default: return nil
        }
    }

    private init?(number: UInt64?) {
        guard let number, number > 0 else { return nil }
        self = .number(number)
    }

    private init?(_ date: Date) {
        // Commits have whole microseconds. A date that a commit's time was made of must find that commit.
        guard let time = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) else { return nil }
        self = .time(time)
    }
}

extension NSPersistentStore {
    /// The number of the commit that the store shows: of the newest one that it knows, or of the one that `NSRecordLogAsOfOption` has named.
    /// nil if the store is no record log in a file.
    public final var commitNumber: UInt64? { ownLog?.isInMemory == true ? nil : recordLog?.snapshot().sequence }

    /// Whether options name a commit of the past.
    static func showsPast(_ options: [AnyHashable: Any]?) -> Bool { options?[NSRecordLogAsOfOption] != nil }

    /// - Throws: 134080 for an option that only record logs in files have.
    static func checkPast(_ options: [AnyHashable: Any]?, for storeClass: NSPersistentStore.Type, _ url: URL?) throws {
        guard try PastCommit(options, of: url) != nil, (storeClass as? any FileStore.Type)?.keepsCommits != true else { return }
        throw CoreDataError.make(
            NSPersistentStoreOpenError,
            "NSRecordLogAsOfOption is for record logs in files, the only stores that keep their commits. Add the store without it.",
            url.map { [NSFilePathErrorKey: $0.path] } ?? [:])
    }
}
