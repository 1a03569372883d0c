import Foundation
import RecordLog

/// A store's class as the stack uses it: it works on the files of stores that are not loaded.
package protocol FileStore: NSPersistentStore {
    /// Whether a store is one file, which is made beside its URL and takes it once it is complete.
    static var isOneFile: Bool { get }

    /// Whether a store is brought to another version of its model when it is added.
    static var isMigratedWhenAdded: Bool { get }

    /// Whether a store can be opened as of a commit of the past.
    static var keepsCommits: Bool { get }

    static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]

    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes the store's file; does nothing if there is none.
    static func destroy(at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes a file that was made just now, and became no store of a coordinator.
    static func discard(at url: URL, options: [AnyHashable: Any]?) throws

    /// Removes the store's contents. The class decides whether a file remains that opens as a new store.
    static func empty(at url: URL, options: [AnyHashable: Any]?) throws

    /// Replaces the store at `url` by a copy of the store at `source`, atomically.
    static func replace(at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?) throws

    /// Runs `body` while no other handle or process changes the store at `url`, as far as its type can prevent that, and atomically
    /// replaces the store's file by the file that `body` has made.
    /// - Parameter body: makes the new file beside the store's and returns its URL; nil for none.
    /// - Throws: the error that `body` throws; an error if the store is open for writing elsewhere. The store is then unchanged.
    static func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws

    /// Makes a store that takes the place of the one at `url`, atomically, while no other handle or process changes that one.
    /// - Parameter body: writes the new store to the URL that it gets; returns false for none.
    /// - Throws: as `exchange`; an error if another process makes one already. The store is then unchanged.
    static func remake(at url: URL, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool) throws

    /// The model with which the store at `url` was made, if the file has it.
    static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel?

    /// Migrates the store at `url` to another version of its model in its own file, atomically; objects keep their IDs.
    /// - Parameters:
    ///   - comparison: from the store's model to the new one.
    ///   - dropping: applied to the objects whose entities the new model lacks.
    /// - Returns: false if stores of this class cannot do that; nothing has happened then.
    /// - Throws: 134110 if the store's contents do not fit the new model (with `reason`, `entity` and `property`), 134111 if they violate
    ///   its uniqueness constraints. The store is then unchanged.
    static func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool

    /// Makes a record log of the store at `source`, with its identity, if the file is of this class and can become one.
    /// - Parameter url: of the record log; nil for the store's own URL, where the old file gets another name.
    /// - Returns: false if not; nothing has happened then.
    static func makeRecordLog(of source: MigrationEnd, at url: URL?, for model: NSManagedObjectModel) throws -> Bool
}

/// The defaults: one file that any program may copy.
extension FileStore {
    package static var isOneFile: Bool { true }

    package static var isMigratedWhenAdded: Bool { isOneFile }

    package static var keepsCommits: Bool { false }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] { try metadataForPersistentStore(with: url) }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try setMetadata(metadata, forPersistentStoreAt: url)
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws { try StoreFiles.removeFile(at: url) }

    package static func discard(at url: URL, options: [AnyHashable: Any]?) throws { try destroy(at: url, options: options) }

    package static func empty(at url: URL, options: [AnyHashable: Any]?) throws { try destroy(at: url, options: options) }

    package static func replace(at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?) throws {
        _ = try metadata(at: source, options: sourceOptions)
        try StoreFiles.replaceFile(at: url, with: source)
    }

    package static func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        try StoreFiles.exchange(at: url, body)
    }

    package static func remake(at url: URL, options: [AnyHashable: Any]?, _ body: (URL) throws -> Bool) throws {
        let folder = try MigrationFolder.claimed(besides: url.resolvingSymlinksInPath())
        // After the exchange it contains only the marker.
        defer { folder.abandon() }
        try exchange(at: url, options: options) { try body(folder.file) ? folder.file : nil }
    }

    package static func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }

    package static func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool { false }

    package static func makeRecordLog(of source: MigrationEnd, at url: URL?, for model: NSManagedObjectModel) throws -> Bool { false }
}
