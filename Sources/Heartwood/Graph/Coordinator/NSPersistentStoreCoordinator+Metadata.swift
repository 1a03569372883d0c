import Foundation

/// The metadata of stores, without a coordinator or a model, and without loading the stores.
extension NSPersistentStoreCoordinator {
    /// Returns the metadata of the store at `url`: identity, type, version hashes, and the client's keys. Writes nothing.
    /// - Throws: 134000 for a type without a class; 134080 if the store does not exist or cannot be read, also at `/dev/null`, where stores are
    ///   in memory.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreClasses.metadataClass(for: storeType, at: url).metadata(at: url, options: options)
    }

    /// Returns the metadata of a store whose type may be unknown: tries a record log, then a binary store, then an SQLite store.
    /// - Throws: as `metadataForPersistentStore(ofType:at:options:)`; the error of reading a record log if the store is of no such type.
    @available(*, deprecated, message: "Use metadataForPersistentStore(type:at:options:).")
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try StoreClasses.metadataClass(for: storeType, at: url).metadata(at: url, options: nil)
    }

    /// The modern spelling.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    /// Replaces the client's part of the metadata of the store at `url`. Identity, type and version hashes stay unchanged. Coordinators
    /// that have the store loaded see the change when they load it again.
    /// - Throws: as reading the metadata; 134030 if the store cannot be written. Nothing has changed then.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreClasses.metadataClass(for: storeType, at: url).setMetadata(metadata, at: url, options: options)
    }

    /// Replaces the client's part of the metadata of a store whose type may be unknown: tries a record log, then a binary store, then an SQLite
    /// store, which is only read, so that throws.
    @available(*, deprecated, message: "Use setMetadata(_:type:at:options:).")
    public class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL) throws {
        try StoreClasses.metadataClass(for: storeType, at: url).setMetadata(metadata, at: url, options: nil)
    }

    /// The modern spelling.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }
}

extension StoreClasses {
    /// The class for a type; if the type is nil, for the file at `url`.
    /// - Throws: 134000 as `fileClass(for:)`; 134080 for a URL whose stores are in memory; without a type, the error of reading a record log
    ///   if the file is of no other type either.
    fileprivate static func metadataClass(for type: String?, at url: URL) throws -> any FileStore.Type {
        guard self.type(type ?? NSRecordLogStoreType, at: url) != NSInMemoryStoreType || type == NSInMemoryStoreType else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "A store at \(url.path) is in memory and has no file. Its coordinator has its metadata: metadata(for:), setMetadata(_:for:).",
                [NSFilePathErrorKey: url.path])
        }
        if let type { return try fileClass(for: type) }
        let recordLog = try fileClass(for: NSRecordLogStoreType)
        do {
            _ = try recordLog.metadata(at: url, options: nil)
            return recordLog
        } catch {
            for type in [NSBinaryStoreType, NSSQLiteStoreType] {
                // The program may have no class for the type.
                if let other = try? fileClass(for: type), (try? other.metadata(at: url, options: nil)) != nil { return other }
            }
            throw error
        }
    }
}
