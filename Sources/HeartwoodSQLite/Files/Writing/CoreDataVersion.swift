import Foundation
import Heartwood

/// Core Data's own statements about the version of a model, which Heartwood cannot compute.
struct CoreDataVersion {
    /// Keys of a store's metadata: `NSStoreModelVersionHashes` and others.
    let values: [String: Any]
    /// The model cache of a store with this version.
    let cache: [UInt8]?
    /// The join tables of a store with this version.
    let joins: KnownJoinTables?

    private init(hashes: [String: Data], checksum: String? = nil) {
        var values: [String: Any] = [NSStoreModelVersionHashesKey: hashes]
        values[StoreModelVersion.checksumKey] = checksum
        self.values = values
        (cache, joins) = (nil, nil)
    }

    /// From a model that was read from a compiled file or from a store's cache.
    /// - Returns: nil if the model does not know the hashes of all entities.
    init?(_ entities: [NSEntityDescription], knownTo model: NSManagedObjectModel) {
        guard let hashes = Self.hashes(of: entities, model) else { return nil }
        self.init(hashes: hashes)
    }

    private static func hashes(of entities: [NSEntityDescription], _ model: NSManagedObjectModel) -> [String: Data]? {
        var hashes: [String: Data] = [:]
        for entity in entities {
            // Versions that differ only in what Heartwood does not hash have several; any of them is Core Data's.
            guard let found = model.coreDataHashes[entity]?.min(by: { $0.lexicographicallyPrecedes($1) }) else { return nil }
            hashes[entity.name ?? ""] = found
        }
        return hashes
    }

    /// - Parameters:
    ///   - file: a `.momd` or a `.mom` beside its `VersionInfo.plist`, or a store of Core Data's with the same model.
    ///   - entities: of the model that is written.
    /// - Throws: 134100 if no version in the file is that of the entities.
    init(in file: URL, of entities: [NSEntityDescription]) throws {
        switch file.pathExtension {
        case "mom", "momd": try self.init(compiled: file, entities)
        case "xcdatamodel", "xcdatamodeld":
            throw Self.failure("\(file.path): a model's source has no hashes of Core Data's. Give the `.momd` that Xcode compiled, or a store.")
        default: try self.init(store: file, entities)
        }
    }

    private static func failure(_ message: String) -> NSError { CoreDataError.make(NSPersistentStoreIncompatibleVersionHashError, message) }

    private init(compiled file: URL, _ entities: [NSEntityDescription]) throws {
        let isBundle = file.pathExtension == "momd"
        guard let info = VersionInfo(in: isBundle ? file : file.deletingLastPathComponent()) else {
            throw Self.failure(
                "\(file.path): has no \(VersionInfo.fileName) that can be read, and only that has the hashes; compile the model again.")
        }
        let versions = ModelFile.versions(of: file)
        for version in versions {
            let model = try NSManagedObjectModel.load(contentsOf: version)
            guard let hashes = Self.hashes(of: entities, model) else { continue }
            self.init(hashes: hashes, checksum: info.checksums[version.deletingPathExtension().lastPathComponent])
            return
        }
        let names = versions.map { $0.deletingPathExtension().lastPathComponent }.joined(separator: ", ")
        throw Self.failure("\(file.path): no version of the model is that of the store, or its hashes are missing. It has \(names).")
    }

    /// The cache or the tables of a store tell whether its model is the same.
    private init(store file: URL, _ entities: [NSEntityDescription]) throws {
        let path = file.path
        do {
            let contents = try CoreDataContents.open(path).contents
            guard try Self.isStore(contents, path, of: entities) else {
                throw Self.failure("\(path): the store was made with another version of the model.")
            }
            // A digest of the version belongs to the framework that computed it.
            let keys = CoreDataFileMetadata.versionKeys + [CoreDataFileMetadata.frameworkVersionKey]
            values = contents.metadata.filter { keys.contains($0.key) }
            cache = contents.cache
            joins = KnownJoinTables(entities, contents, path: path)
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }

    private static func isStore(_ contents: CoreDataContents, _ path: String, of entities: [NSEntityDescription]) throws -> Bool {
        guard let cache = contents.cache, let model = try? ModelCache.model(from: cache, path: path) else {
            return try CoreDataLayout(entities, contents.numbers, contents.schema, path: path).differences.isEmpty
        }
        return entities.allSatisfy { model.entitiesByName[$0.name ?? ""]?.versionHash == $0.versionHash }
    }
}
