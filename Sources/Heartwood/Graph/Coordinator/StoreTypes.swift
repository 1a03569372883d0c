import Foundation

/// The default: one file, an append-only record log with its indexes. File names end in `.heartwood` by convention.
public let NSRecordLogStoreType = "RecordLog"
/// A store in memory; its contents are lost with its coordinator.
public let NSInMemoryStoreType = "InMemory"
/// One file that is read completely when the store is added, and written completely at each save: for small graphs, and for files that
/// other programs replace or copy.
public let NSBinaryStoreType = "Binary"
/// A file of Core Data's or SwiftData's own, which is read in place and never changed. `migratePersistentStore` and `heartwood export`
/// write new ones.
public let NSSQLiteStoreType = "SQLite"
/// Tables in a PostgreSQL database, at a URL such as `postgresql://host/database?schema=name`: for graphs that many machines share.
public let NSPostgreSQLStoreType = "PostgreSQL"

extension NSPersistentStore {
    /// A store type, as `addPersistentStore(type:configuration:at:options:)` takes it.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let recordLog = StoreType(rawValue: NSRecordLogStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        public static let postgreSQL = StoreType(rawValue: NSPostgreSQLStoreType)
    }
}

/// Adds the store read-only; its file and directory are not written.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// For destroying a record log (`NSPersistentStoreCoordinator.destroyPersistentStore`): true removes it even if it is open for writing
/// elsewhere; saves to it then fail.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreforcedestroyoption
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// The number of seconds for which a save waits while another process writes.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// The guarantee of a save that has returned: a `RecordLogDurability` or its raw value. The default is full.
public let NSRecordLogDurabilityOption = "NSRecordLogDurabilityOption"
/// Whether a record log with a writer compacts itself, on its own thread, while it is read and written. The default is true.
public let NSRecordLogAutomaticCompactionOption = "NSRecordLogAutomaticCompactionOption"
/// The share of the log that the newest state does not need, above which compaction starts: a number from 0 to 1. The default is 0.5.
public let NSRecordLogCompactionDeadRatioOption = "NSRecordLogCompactionDeadRatioOption"
/// The size in bytes below which a log is not compacted. The default is 64 MiB.
public let NSRecordLogCompactionMinimumBytesOption = "NSRecordLogCompactionMinimumBytesOption"
/// A Boolean; the default is true. false reads the store's file instead of mapping it into memory. Use this for removable media and network
/// file systems: losing a mapped file ends the process, but losing a file that is read is an error. Bytes that were read stay in memory as
/// long as the store or anything read from it: at most the file's size.
public let NSRecordLogMemoryMappingOption = "NSRecordLogMemoryMappingOption"
/// The number of bytes of each index's entries that a save or a batch request keeps in memory. The default is 16 MiB. Further entries go to
/// an unnamed file beside the store, until a checkpoint writes them to the store's own file.
public let NSRecordLogIndexMemoryOption = "NSRecordLogIndexMemoryOption"
/// A Boolean; the default is false: a change of an object's to-many members gives the object no new version, so two contexts' changes merge. With
/// true the object gets a new version, as on Apple's platforms: another context that has read it, and then changes it or its members, meets
/// error 133020 or its merge policy. Each such save writes the object's row. For a record log and for a store in memory; set it alike for
/// all programs that write the store.
public let NSRecordLogOwnerVersionsOption = "NSRecordLogOwnerVersionsOption"

/// A Boolean; the default is false: a store whose committed bytes are damaged cannot be added (259, see `NSRecordLogOffsetErrorKey`). true
/// adds such a store in the state of the commit before the damage, provided that `NSReadOnlyPersistentStoreOption` is true as well;
/// `NSPersistentStore.damage` then describes the damage. In both cases a read that finds damage throws.
public let NSRecordLogAcceptsDamageOption = "NSRecordLogAcceptsDamageOption"

/// The guarantee of a save to a record log that has returned.
public enum RecordLogDurability: String, Sendable {
    /// The save survives a crash of the machine: each save waits for the disk.
    case full
    /// The save survives a crash of the process. A crash of the machine may lose the last saves, but never damages earlier ones.
    case relaxed
    /// No guarantee; for tests, and for imports that can be repeated.
    case none
}
