import Foundation

/// Maps Heartwood's version hashes of entities to Core Data's. Only Core Data computes the latter. Xcode writes them into the
/// `VersionInfo.plist` beside a compiled model, Core Data writes them into a store's metadata, and compiled mapping models name versions by
/// them.
package struct CoreDataHashes {
    private struct Version: Hashable {
        let name: String
        let hash: Data
    }

    /// One version here may be several of Core Data's.
    private var list: [Version: Set<Data>] = [:]

    package var isEmpty: Bool { list.isEmpty }

    package subscript(entity: NSEntityDescription) -> Set<Data>? {
        list.isEmpty ? nil : list[Version(name: entity.name ?? "", hash: entity.versionHash)]
    }

    mutating func add(_ other: CoreDataHashes) { list.merge(other.list) { $0.union($1) } }

    // MARK: Reading

    init() {}

    /// The hashes beside a `.mom` from which the model was read; none for another file.
    init(of model: NSManagedObjectModel, readFrom path: String) {
        let url = URL(fileURLWithPath: path), version = url.deletingPathExtension().lastPathComponent
        let info = path.hasSuffix(".mom") ? VersionInfo.ofCoreData(in: url.deletingLastPathComponent()) : nil
        self.init(of: model, info?.hashes[version] ?? [:])
    }

    /// - Parameter hashes: Core Data's, by the names of entities.
    init(of model: NSManagedObjectModel, _ hashes: [String: Data]) {
        for entity in model.entities {
            guard let name = entity.name, let theirs = hashes[name] else { continue }
            // Earlier forms of `heartwood compile` wrote Heartwood's own hashes into the file without a mark.
            let ours = entity.versionHash
            if theirs != ours { list[Version(name: name, hash: ours), default: []].insert(theirs) }
        }
    }
}
