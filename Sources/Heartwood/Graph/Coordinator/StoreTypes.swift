import Foundation

/// The default: one file, an append-only record log with its indexes. Files end in `.heartwood` by habit.
public let NSRecordLogStoreType = "RecordLog"
/// A store in memory, gone with its coordinator.
public let NSInMemoryStoreType = "InMemory"
/// One file that is read whole when it is added and written whole at each save: for small graphs, and for files that other programs
/// replace or copy.
public let NSBinaryStoreType = "Binary"
/// Apple's default. Adding a store of this type fails and says what to use instead, unless a class was registered for it.
public let NSSQLiteStoreType = "SQLite"

extension NSPersistentStore {
    /// A kind of store, as `addPersistentStore(type:configuration:at:options:)` takes it.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        public var rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let recordLog = StoreType(rawValue: NSRecordLogStoreType)
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    }
}

/// Adds the store for reading alone; the file and its directory are not written.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// For the destruction of a record log (`NSPersistentStoreCoordinator.destroyPersistentStore`): true removes it though it is open for
/// writing elsewhere. Whoever has it open can save to it no more.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreforcedestroyoption
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// How long, in seconds, a save waits for another process that is writing.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// What a save promises once it has returned: a `RecordLogDurability` or its raw value. The default is full.
public let NSRecordLogDurabilityOption = "NSRecordLogDurabilityOption"
/// Whether a record log that is written to compacts itself, on a thread of its own, beside readers and writers. The default is
/// true.
public let NSRecordLogAutomaticCompactionOption = "NSRecordLogAutomaticCompactionOption"
/// How much of the log must be of no use to the newest state before that happens: a number from 0 to 1. The default is 0.5.
public let NSRecordLogCompactionDeadRatioOption = "NSRecordLogCompactionDeadRatioOption"
/// Smaller logs are left alone: a number of bytes. The default is 64 MiB.
public let NSRecordLogCompactionMinimumBytesOption = "NSRecordLogCompactionMinimumBytesOption"
/// A Boolean; the default is true. false: the store's file is read in place of being mapped into memory. For removable media and
/// network file systems, where the loss of a mapped file ends the process, and that of one that is read is an error. What was read
/// stays in memory as long as the store or anything read from it does: at most the file's size.
public let NSRecordLogMemoryMappingOption = "NSRecordLogMemoryMappingOption"
/// How many bytes of the entries of each of its indexes a record log gathers in memory for a save or a batch request: a number. The default is
/// 16 MiB. What is more goes to a file beside the store that has no name, until a checkpoint has taken it into the store's own.
public let NSRecordLogIndexMemoryOption = "NSRecordLogIndexMemoryOption"

/// A Boolean; the default is false, with which a store whose committed bytes are damaged cannot be added (259, see `NSRecordLogOffsetErrorKey`).
/// true: such a store is added as of the commit before the damage, where `NSReadOnlyPersistentStoreOption` is true as well;
/// `NSPersistentStore.damage` then says what is damaged. Damage that a read meets is an error with either.
public let NSRecordLogAcceptsDamageOption = "NSRecordLogAcceptsDamageOption"

/// What a save to a record log promises once it has returned.
public enum RecordLogDurability: String, Sendable {
    /// It survives a crash of the machine: each save waits for the disk.
    case full
    /// It survives a crash of the process. A crash of the machine may lose the last saves, and never damages earlier ones.
    case relaxed
    /// Nothing; for tests and for imports that can be run again.
    case none
}
