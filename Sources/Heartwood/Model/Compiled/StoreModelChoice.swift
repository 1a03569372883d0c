import Foundation

/// The model of a store of Core Data's, and its origin: the store's cache, else a compiled model.
package struct StoreModelChoice {
    package enum Origin: Equatable {
        case cache
        /// The `.momd` or the `.mom` with the store's version.
        case compiled(URL)
    }

    package let model: NSManagedObjectModel
    package let origin: Origin

    /// - Parameters:
    ///   - cache: `Z_MODELCACHE.Z_CONTENT`. Stores that were made before OS X 10.10 have none, and it may be empty.
    ///   - metadata: the property list in `Z_METADATA`.
    ///   - path: the store's path, for errors.
    ///   - bundle: a compiled model, for a store without a cache that can be read.
    /// - Throws: the cache's error if no bundle is given; the bundle's error if no version in it is the store's.
    package init(cache: [UInt8]?, metadata: [String: Any], path: String, bundle: URL? = nil) throws {
        let hashes = (metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? Data }
        do {
            guard let cache, !cache.isEmpty else { throw ModelFile.failure("\(path): has no model cache; give the model's file.") }
            model = try ModelCache.model(from: cache, path: path, hashes: hashes)
            origin = .cache
        } catch {
            guard let bundle else { throw error }
            model = try StoreModelVersion.model(forStoreWith: metadata, in: bundle)
            origin = .compiled(bundle)
        }
    }
}
