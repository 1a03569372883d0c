import Foundation
internal import FileReading

/// The `VersionInfo.plist` of a `.momd`: what Xcode's compiler states of each version of the model.
struct VersionInfo {
    static let fileName = "VersionInfo.plist"
    static let currentKey = "NSManagedObjectModel_CurrentVersionName"
    private static let hashesKey = "NSManagedObjectModel_VersionHashes", checksumsKey = "NSManagedObjectModel_VersionChecksums"
    /// In bytes. A real file has a few kilobytes.
    private static let sizeMax = 16 << 20

    let current: String?
    /// By version, then by entity.
    let hashes: [String: [String: Data]]
    /// By version.
    let checksums: [String: String]

    /// - Returns: nil if the directory has no such file, or one that cannot be read.
    init?(in directory: URL) {
        let file = directory.appendingPathComponent(Self.fileName)
        guard let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize, size <= Self.sizeMax,
            let data = FileManager.default.contents(atPath: file.path), let leaves = PropertyListLeaves.read(data)
        else { return nil }
        var current: String?, hashes: [String: [String: Data]] = [:], checksums: [String: String] = [:]
        for (keys, leaf) in leaves {
            switch (keys.first, keys.count, leaf) {
            case (Self.currentKey, 1, .text(let name)): current = name
            case (Self.hashesKey, 3, .data(let hash)): hashes[keys[1], default: [:]][keys[2]] = hash
            case (Self.checksumsKey, 2, .text(let checksum)): checksums[keys[1]] = checksum
            default: break
            }
        }
        self.current = current
        self.hashes = hashes
        self.checksums = checksums
    }
}
