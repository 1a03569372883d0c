import Foundation
internal import FileReading

/// Maps Heartwood's version hashes of entities to Core Data's. Only Core Data computes the latter. Xcode writes them into the
/// `VersionInfo.plist` beside a compiled model, and compiled mapping models name versions by them.
struct CoreDataHashes {
    private struct Version: Hashable {
        let name: String
        let hash: Data
    }

    /// One version here may be several of Core Data's.
    private var list: [Version: Set<Data>] = [:]

    subscript(entity: NSEntityDescription) -> Set<Data>? {
        list.isEmpty ? nil : list[Version(name: entity.name ?? "", hash: entity.versionHash)]
    }

    mutating func add(_ other: CoreDataHashes) { list.merge(other.list) { $0.union($1) } }

    // MARK: Reading

    init() {}

    /// The hashes beside a `.mom` from which the model was read; none for another file.
    init(of model: NSManagedObjectModel, readFrom path: String) {
        guard path.hasSuffix(".mom") else { return }
        let url = URL(fileURLWithPath: path)
        let hashes = Self.hashes(of: url.deletingPathExtension().lastPathComponent, in: url.deletingLastPathComponent())
        for entity in model.entities {
            guard let name = entity.name, let theirs = hashes[name] else { continue }
            // `heartwood compile` writes Heartwood's own hashes into the file; these are skipped.
            let ours = entity.versionHash
            if theirs != ours { list[Version(name: name, hash: ours), default: []].insert(theirs) }
        }
    }

    static let fileName = "VersionInfo.plist"
    static let key = "NSManagedObjectModel_VersionHashes"
    /// In bytes. A real file has a few kilobytes.
    private static let sizeMax = 16 << 20

    /// By the names of entities.
    private static func hashes(of version: String, in directory: URL) -> [String: Data] {
        let file = directory.appendingPathComponent(fileName)
        guard let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize, size <= sizeMax,
            let bytes = FileManager.default.contents(atPath: file.path), let list = try? BinaryPropertyList(Array(bytes))
        else { return [:] }
        let hashes = try? entry(key, of: list.root, list).flatMap { try entry(version, of: $0, list) }
        guard let number = hashes ?? nil, case .dictionary(let pairs)? = try? list.object(number) else { return [:] }
        var result: [String: Data] = [:]
        for pair in pairs {
            guard case .text(let name)? = try? list.object(pair.key), case .data(let hash)? = try? list.object(pair.value) else { continue }
            result[name] = hash
        }
        return result
    }

    private static func entry(_ key: String, of dictionary: Int, _ list: BinaryPropertyList) throws -> Int? {
        guard case .dictionary(let pairs) = try list.object(dictionary) else { return nil }
        for pair in pairs {
            if case .text(let text) = try list.object(pair.key), text == key { return pair.value }
        }
        return nil
    }
}
