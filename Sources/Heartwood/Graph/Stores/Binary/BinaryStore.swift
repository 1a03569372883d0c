import Foundation
import RecordLog

/// The binary store: an archive that is read whole when the store is added and written whole at each save.
///
/// The archive's contents are held in a record log in memory. A save takes the archive's lock and reads the archive again if another process or
/// coordinator has replaced it. Rows that others have changed are then newer than this coordinator's objects, so the merge policy decides about
/// them. Then it writes the new archive beside the old one, before the corresponding commit in memory. If that fails, nothing is saved.
class BinaryStore: NSPersistentStore, GraphStore, FileStore, BackedStore, @unchecked Sendable {
    // Unchecked: everything but the log, which has locks of its own, is set when the store is loaded and used under `turn`.

    private var archive: ArchiveFile?
    private let turn = NSLock()

    override var type: String { NSBinaryStoreType }
    override final package var seam: any GraphStore { self }

    /// The options that open the archive.
    var archiveOptions: StoreOptions { commonOptions }

    // MARK: Loading

    package func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        let archive = ArchiveFile(path: try filePath(), options: archiveOptions)
        let log = BackingLog.make(for: self, saves: self)
        slotBase = UInt64(firstSlot) << 48
        do {
            let found = try contents(of: archive, model)
            if found == nil, isReadOnly {
                let isThere = FileManager.default.fileExists(atPath: archive.path)
                throw CoreDataError.make(
                    isThere ? NSPersistentStoreOpenError : CocoaError.Code.fileReadNoSuchFile.rawValue,
                    "There is no archive at \(archive.path), or an empty file, and it was opened read-only; open it for writing once.",
                    [NSFilePathErrorKey: archive.path])
            }
            let runtimes = try log.load(model: model, firstSlot: firstSlot)
            if let found {
                try log.fill(isOpening: true) { transaction, _ in try found.apply(to: transaction) }
            } else {
                try archive.withLock(isCreating: true) {
                    // Another process may have made it meanwhile.
                    let made = try contents(of: archive, model)
                    try log.fill(isOpening: true) { transaction, _ in
                        guard let made else { return try archive.replace { try TableArchiveWriter.write(transaction, to: $0) } }
                        try made.apply(to: transaction)
                    }
                }
            }
            try log.rereadMetadata()
            backing = log
            self.archive = archive
            identifier = log.metadata[NSStoreUUIDKey] as? String ?? ""
            return runtimes
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error, opening: true)
        }
    }

    /// The reader of an archive, which checks whether it is of this model; nil if there is no archive.
    private func contents(of archive: ArchiveFile, _ model: NSManagedObjectModel) throws -> TableArchiveReader? {
        guard let bytes = try archive.read() else { return nil }
        let reader = try TableArchiveReader(bytes, path: archive.path)
        let metadata = try Self.metadata(of: reader, path: archive.path)
        guard ignoresVersion || model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) else {
            throw RecordLogMetadata.mismatch(path: archive.path, model: model, configuration: configuration, metadata: metadata)
        }
        return reader
    }

    private static func metadata(of reader: TableArchiveReader, path: String) throws -> [String: Any] {
        guard let bytes = reader.systemValues[RecordLogSystemRow.metadata], let metadata = try? RecordLogMetadata.decode(Data(bytes)) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "\(path): the archive's metadata are missing or malformed. Restore a backup.",
                [NSFilePathErrorKey: path])
        }
        return metadata
    }

    package func unload() throws {
        turn.lock()
        defer { turn.unlock() }
        archive = nil
        try backing?.unload()
    }

    // MARK: Saving

    /// Runs a change of the archive, after merging the saves of others.
    private func change<Result>(_ body: (BackingLog) throws -> Result) throws -> Result {
        var isReloaded = false
        // Announced after `turn` is unlocked: observers may save.
        defer { if isReloaded { announceRemoteChange() } }
        turn.lock()
        defer { turn.unlock() }
        guard let archive, let backing else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        do {
            return try archive.withLock {
                if try archive.isStale() {
                    try reload(archive, backing)
                    isReloaded = true
                }
                return try body(backing)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    package func save(_ batch: SaveBatch) throws { try change { try $0.save(batch) } }

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        try change { try $0.reserveRows(for: objects) }
    }

    package func begin(_ transaction: Transaction, _ batch: SaveBatch) throws {}

    package func finish(_ transaction: Transaction, _ batch: SaveBatch?, hasWritten: Bool) throws {
        guard hasWritten, !putsOffWriting, let archive else { return }
        try archive.replace { try TableArchiveWriter.write(transaction, to: $0) }
    }

    /// Merges the saves of others.
    private func reload(_ archive: ArchiveFile, _ backing: BackingLog) throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel, let found = try contents(of: archive, model) else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "The archive at \(archive.path) was emptied while it was open. Put it back, or remove the store and add it again.",
                [NSFilePathErrorKey: archive.path])
        }
        do {
            let identifier = try Self.metadata(of: found, path: archive.path)[NSStoreUUIDKey] as? String
            guard identifier == self.identifier else {
                throw CoreDataError.make(
                    NSPersistentStoreOperationError,
                    "Another store has replaced the archive at \(archive.path) while it was open; nothing was saved to it. "
                        + "Remove the store from its coordinator and add it again.",
                    [NSFilePathErrorKey: archive.path])
            }
            try backing.fill(isOpening: false) { transaction, _ in try found.apply(to: transaction) }
            try backing.rereadMetadata()
        } catch {
            // The read failed, so the archive must be read again.
            archive.forget()
            throw error
        }
    }

    /// A fetch checks with one call whether the archive was replaced. Read errors other than damage are left to the next save.
    package func follow() throws {
        var isReloaded = false
        defer { if isReloaded { announceRemoteChange() } }
        guard turn.try() else { return }
        defer { turn.unlock() }
        guard let archive, let backing, archive.isReplaced else { return }
        do {
            try reload(archive, backing)
            isReloaded = true
        } catch let error as StoreError where error.code == .corrupt {
            throw RecordLogErrors.wrap(error, opening: true)
        } catch {}
    }

    // MARK: Metadata

    override var metadata: [String: Any]! {
        get { backing?.metadata ?? [:] }
        set { backing?.metadata = newValue }
    }

    package func setMetadata(_ metadata: [String: Any]) throws { try change { try $0.setMetadata(metadata) } }

    package var hasNewMetadata: Bool { backing?.hasNewMetadata ?? false }

    package func writeMetadata() throws { try change { try $0.writeMetadata() } }

    package func takeOver(_ metadata: [String: Any]) throws { try change { try $0.takeOver(metadata) } }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try read(url) { try metadata(of: $0, path: url.path) }
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }

    /// Writes the archive again with new metadata, under its lock. Processes that have it loaded merge it like any other save.
    package class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        // Throws first if the archive cannot be read.
        _ = try metadataForPersistentStore(with: url)
        let store = BinaryStore(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: options)
        var storeOptions = store.archiveOptions
        storeOptions.isReadOnly = false
        let archive = ArchiveFile(path: try store.filePath(), options: storeOptions)
        do {
            try archive.withLock {
                guard let bytes = try archive.read() else { throw missing(url) }
                let reader = try TableArchiveReader(bytes, path: url.path), known = try self.metadata(of: reader, path: url.path)
                let new = try RecordLogMetadata.encode(RecordLogMetadata.keepingOwn(known, in: metadata ?? [:]))
                try archive.replace { try reader.copy(to: $0, replacing: [RecordLogSystemRow.metadata: new]) }
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    private static func missing(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "There is no archive at \(url.path), or an empty file.", [NSFilePathErrorKey: url.path])
    }

    package class func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try read(url) { reader in
            try reader.systemValues[RecordLogSystemRow.model].map { bytes in
                try bytes.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
            }
        }
    }

    package class func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        let store = BinaryStore(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: options)
        do {
            try ArchiveFile(path: try store.filePath(), options: store.archiveOptions).withLock {
                try StoreFiles.exchange(at: url, body)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
    }

    private class func read<Result>(_ url: URL, _ body: (TableArchiveReader) throws -> Result) throws -> Result {
        var options = StoreOptions()
        options.isReadOnly = true
        do {
            guard let bytes = try ArchiveFile(path: try path(of: url), options: options).read() else { throw missing(url) }
            return try body(try TableArchiveReader(bytes, path: url.path))
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error, opening: true)
        }
    }

    private class func path(of url: URL) throws -> String {
        try BinaryStore(persistentStoreCoordinator: nil, configurationName: nil, at: url).filePath()
    }

    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        do {
            try ArchiveFile.remove(path: try path(of: url), options: StoreOptions())
        } catch let error as StoreError {
            throw RecordLogErrors.wrapRemoval(error)
        }
    }
}
