import Foundation
internal import HeartwoodFileReading

/// The model that Core Data keeps in a store, in the column `Z_CONTENT` of the table `Z_MODELCACHE`.
package enum ModelCache {
    /// Reads a model cache. An index, a rule, a request, a default or a derivation that is not known here does not keep a store from being
    /// read: the model then has none of these, and its `warnings` say why.
    /// - Parameters:
    ///   - bytes: the column's bytes.
    ///   - path: the store's path, for errors.
    ///   - hashes: `NSStoreModelVersionHashes` of the store's metadata. Only Core Data can compute them, and no cache has them.
    /// - Throws: `NSPersistentStoreOpenError` if the bytes are no archived model, `NSPersistentStoreIncompatibleSchemaError` if the model
    ///   contradicts itself. The description names the path.
    package static func model(from bytes: [UInt8], path: String, hashes: [String: Data] = [:]) throws -> NSManagedObjectModel {
        let location = "\(path) (model cache)"
        let archive: [UInt8]
        do {
            archive = try ArchivedModel.archive(inCache: bytes)
        } catch {
            throw ModelFile.failure("\(location): the compressed bytes \(error.text). Give the model's file instead.")
        }
        let model = try model(archive, location)
        model.coreDataHashes = CoreDataHashes(of: model, hashes)
        return model
    }

    private static func model(_ archive: [UInt8], _ location: String) throws -> NSManagedObjectModel {
        func build(forRowsOnly: Bool) throws -> NSManagedObjectModel {
            try ModelBuilder(try CompiledModelReader(archive, path: location, isForRowsOnly: forRowsOnly).read()).build(into: nil)
        }
        do {
            return try build(forRowsOnly: false)
        } catch let unknown {
            guard let model = try? build(forRowsOnly: true) else { throw unknown }
            let reason = (unknown as NSError).localizedDescription
            model.warnings.append(ModelWarnings.Warning(
                element: "model cache", text: "is read without its defaults, rules, indexes, requests and derivations: \(reason)"))
            return model
        }
    }
}
