import Foundation

/// What stores say about themselves, without a coordinator, a model, or loading them.
extension NSPersistentStoreCoordinator {
    /// The metadata of the store at `url`: its identity, type and version hashes, and what clients have set. Nothing is written.
    /// - Throws: 134000 for a type without a class; 134080 where there is no such store, or it cannot be read.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreClasses.fileClass(for: storeType).metadata(at: url, options: options)
    }

    /// The same of a store whose type is not known: a record log is looked for, then a binary store.
    /// - Throws: as the other does; where the store is of neither type, what the record log's reading throws.
    @available(*, deprecated, message: "Use metadataForPersistentStore(type:at:options:).")
    public class func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String: Any] {
        try StoreClasses.fileClass(for: storeType, at: url).metadata(at: url, options: nil)
    }

    /// The same, with the modern spelling.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
    }

    /// Replaces the client's part of the metadata of the store at `url`. Identity, type and version hashes stay what they are; those who
    /// have the store loaded see the change when they load it anew.
    /// - Throws: as the reading of metadata does; 134030 where the store cannot be written. Nothing is changed then.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreClasses.fileClass(for: storeType).setMetadata(metadata, at: url, options: options)
    }

    /// The same of a store whose type is not known: a record log is looked for, then a binary store.
    @available(*, deprecated, message: "Use setMetadata(_:type:at:options:).")
    public class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL) throws {
        try StoreClasses.fileClass(for: storeType, at: url).setMetadata(metadata, at: url, options: nil)
    }

    /// The same, with the modern spelling.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
    }
}

extension StoreClasses {
    /// The class of a type; where that is nil, of what is at `url`.
    /// - Throws: as the other; without a type what the reading of a record log's metadata throws, where there is no binary store either.
    fileprivate static func fileClass(for type: String?, at url: URL) throws -> NSPersistentStore.Type {
        if let type { return try fileClass(for: type) }
        let recordLog = try fileClass(for: NSRecordLogStoreType)
        do {
            _ = try recordLog.metadata(at: url, options: nil)
            return recordLog
        } catch {
            let binary = try fileClass(for: NSBinaryStoreType)
            guard (try? binary.metadata(at: url, options: nil)) != nil else { throw error }
            return binary
        }
    }

    /// - Throws: 134000 for a type without a class, or one without files.
    static func fileClass(for type: String) throws -> NSPersistentStore.Type {
        guard let found = storeClass(for: type) else { throw unknownType(type) }
        guard type != NSInMemoryStoreType else {
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "An in-memory store has no file. Load it, and use its coordinator's instance methods.")
        }
        return found
    }
}
