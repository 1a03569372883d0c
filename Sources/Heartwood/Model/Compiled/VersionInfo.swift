import Foundation
internal import HeartwoodFileReading

/// The `VersionInfo.plist` of a `.momd`: what Xcode's compiler states of each version of the model.
package struct VersionInfo {
    package static let fileName = "VersionInfo.plist"
    static let currentKey = "NSManagedObjectModel_CurrentVersionName"
    private static let hashesKey = "NSManagedObjectModel_VersionHashes", checksumsKey = "NSManagedObjectModel_VersionChecksums"
    /// In bytes. A real file has a few kilobytes, or some hundred for a hundred versions.
    private static let sizeMax = 16 << 20
    /// The comment by which the build plugin and `heartwood compile` mark a file with Heartwood's own hashes. It is near the file's start.
    private static let mark = Data("<!-- The hashes are Heartwood's. -->".utf8)
    private static let markEnd = 512

    let current: String?
    /// By version, then by entity.
    let hashes: [String: [String: Data]]
    /// By version.
    package let checksums: [String: String]
    /// Whether the hashes are those that `entityVersionHashesByName` gives.
    let isOwn: Bool

    /// The file, if the directory has one with hashes of Core Data's. Of a file with Heartwood's hashes only the start is read: a model computes
    /// them itself, and a file of a hundred versions is long.
    static func ofCoreData(in directory: URL) -> VersionInfo? {
        guard let handle = try? FileHandle(forReadingFrom: directory.appendingPathComponent(fileName)) else { return nil }
        defer { try? handle.close() }
        guard let start = try? handle.read(upToCount: markEnd), start.range(of: mark) == nil else { return nil }
        return VersionInfo(in: directory)
    }

    /// - Returns: nil if the directory has no such file, or one that cannot be read.
    package init?(in directory: URL) {
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
        isOwn = data.prefix(Self.markEnd).range(of: Self.mark) != nil
    }
}
