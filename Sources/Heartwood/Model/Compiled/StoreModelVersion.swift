import Foundation

/// The version of a compiled model that a store of Core Data's was made with. The hashes in the store's metadata name it.
package struct StoreModelVersion {
    /// `NSStoreModelVersionChecksumKey` of a store's metadata, since macOS 14.
    package static let checksumKey = "NSStoreModelVersionChecksumKey"

    /// By entity. A store of one configuration has the entities of that one.
    private let hashes: [String: Data]
    private let checksum: String?
    private let bundle: URL

    /// - Parameters:
    ///   - metadata: the property list in the store's `Z_METADATA`.
    ///   - bundle: a `.momd`, or a `.mom`.
    /// - Throws: `NSPersistentStoreIncompatibleVersionHashError` if no version is the store's. The description lists the versions, and the
    ///   entities in which each differs.
    package static func model(forStoreWith metadata: [String: Any], in bundle: URL) throws -> NSManagedObjectModel {
        guard let stated = metadata[NSStoreModelVersionHashesKey] as? [String: Any] else {
            throw failure("The store's metadata has no version hashes, so no version of \(bundle.path) can be chosen; give the version's file.")
        }
        let version = StoreModelVersion(
            hashes: stated.compactMapValues { $0 as? Data }, checksum: metadata[checksumKey] as? String, bundle: bundle)
        return try version.model()
    }

    private static func failure(_ message: String) -> NSError { CoreDataError.make(NSPersistentStoreIncompatibleVersionHashError, message) }

    private func model() throws -> NSManagedObjectModel {
        guard ModelFile.isThere(bundle) else { throw Self.failure("\(bundle.path): there is no such model; check the path.") }
        let isFile = bundle.pathExtension == "mom"
        let folder = isFile ? bundle.deletingLastPathComponent() : bundle
        let name = bundle.deletingPathExtension().lastPathComponent
        guard let info = VersionInfo(in: folder), !isFile || info.hashes[name] != nil else {
            guard isFile else { throw Self.failure("\(bundle.path): has no \(VersionInfo.fileName) that can be read; give the version's file.") }
            return try modelWithoutHashes()
        }
        let versions = info.hashes.filter { !isFile || $0.key == name }
        if let found = choice(among: versions.filter { $0.value == hashes }.map(\.key), info) { return try load(found, in: folder) }
        if let found = try configured(versions, info, in: folder) { return found }
        throw Self.failure(message(versions))
    }

    /// Versions may have equal hashes. Then the checksum tells them apart, and else the current version is right.
    private func choice(among names: [String], _ info: VersionInfo) -> String? {
        names.first { checksum != nil && info.checksums[$0] == checksum } ?? names.first { $0 == info.current } ?? names.min()
    }

    private func load(_ version: String, in folder: URL) throws -> NSManagedObjectModel {
        let file = folder.appendingPathComponent(version + ".mom")
        guard ModelFile.isThere(file) else {
            throw Self.failure("\(folder.path): the store's version is \(version), and there is no \(version).mom; compile the model again.")
        }
        return try NSManagedObjectModel.load(contentsOf: file)
    }

    /// A version that has all the store's entities, and more, if one of its configurations has exactly these.
    private func configured(_ versions: [String: [String: Data]], _ info: VersionInfo, in folder: URL) throws -> NSManagedObjectModel? {
        guard !hashes.isEmpty else { return nil }
        let names = versions.filter { version in hashes.allSatisfy { version.value[$0.key] == $0.value } }.map(\.key).sorted()
        for name in names {
            let model = try load(name, in: folder)
            let isConfigured = model.configurations.contains { configuration in
                Set((model.entities(forConfigurationName: configuration) ?? []).compactMap(\.name)) == Set(hashes.keys)
            }
            if isConfigured { return model }
        }
        return nil
    }

    /// A `.mom` has no hashes inside. Without a list beside it, it is the store's if its entities have the same names.
    private func modelWithoutHashes() throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel.load(contentsOf: bundle)
        let names = Set(model.entities.compactMap(\.name))
        guard names == Set(hashes.keys) else {
            throw Self.failure("\(bundle.path): \(difference(names.sorted()) { _ in true }); give the model of the store's version.")
        }
        return model
    }

    // MARK: Messages

    private func message(_ versions: [String: [String: Data]]) -> String {
        let list = versions.sorted { $0.key < $1.key }.map { name, theirs in
            "\(name) \(difference(theirs.keys.sorted()) { theirs[$0] == hashes[$0] })"
        }
        let shown = list.isEmpty ? "It has none." : list.map { "\n  " + $0 }.joined()
        return "\(bundle.path): no version of the model is that of the store.\(list.isEmpty ? " " : "")\(shown)"
    }

    /// - Parameter isSame: whether an entity of both is the same in both.
    private func difference(_ names: [String], _ isSame: (String) -> Bool) -> String {
        let changed = names.filter { hashes[$0] != nil && !isSame($0) }, more = names.filter { hashes[$0] == nil }
        let missing = hashes.keys.filter { !names.contains($0) }.sorted()
        let parts = [("differs in", changed), ("has besides", more), ("lacks", missing)].filter { !$0.1.isEmpty }
        return parts.isEmpty ? "has the same entities" : parts.map { "\($0.0) \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
    }
}
