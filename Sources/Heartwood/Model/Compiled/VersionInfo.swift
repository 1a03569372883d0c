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
        guard let list = Self.list(directory.appendingPathComponent(Self.fileName)) else { return nil }
        current = list[Self.currentKey] as? String
        hashes = (list[Self.hashesKey] as? [String: Any] ?? [:]).compactMapValues { version in
            (version as? [String: Any])?.compactMapValues { $0 as? Data }
        }
        checksums = (list[Self.checksumsKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? String }
    }

    private static func list(_ file: URL) -> [String: Any]? {
        guard let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize, size <= sizeMax,
            let data = FileManager.default.contents(atPath: file.path), isReadable(data)
        else { return nil }
        return (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [String: Any]
    }

    /// Whether Foundation's reader, which recurses, may get the list.
    private static func isReadable(_ data: Data) -> Bool {
        guard data.starts(with: BinaryPropertyList.magic) else {
            return (try? XMLCheck.check(data, kind: "property lists", mayHaveType: true)) != nil
        }
        return (try? BinaryPropertyList(Array(data)).checkShape()) != nil
    }
}
