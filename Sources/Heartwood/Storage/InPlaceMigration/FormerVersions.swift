import Foundation

/// The versions of its model that a store has migrated from, oldest first.
///
/// A store contains its model, so that a program can migrate it from a version that the program does not have. Without this list an older program
/// that runs beside a newer one would automatically migrate the store back, and the data that the newer version added would be lost.
package enum FormerVersions {
    /// The key in a store's metadata; its value is a list of checksums.
    static let key = "HeartwoodFormerModelVersions"

    static func list(_ metadata: [String: Any]) -> [String] { metadata[key] as? [String] ?? [] }

    /// Records that a store has migrated to another version.
    /// - Parameters:
    ///   - old: the store's metadata before.
    ///   - new: the metadata of the new version. A return to a former version removes it and all later versions from the list.
    package static func note(_ old: [String: Any], in new: inout [String: Any]) {
        var versions = list(old)
        if let left = RecordLogMetadata.versionChecksum(old), let reached = RecordLogMetadata.versionChecksum(new), left != reached {
            versions.append(left)
            if let index = versions.firstIndex(of: reached) { versions.removeSubrange(index...) }
        }
        new[key] = versions.isEmpty ? nil : versions
    }

    static func contain(_ model: NSManagedObjectModel, configuration: String?, _ metadata: [String: Any]) -> Bool {
        list(metadata).contains(NSManagedObjectModel.checksum(of: RecordLogMetadata.hashes(of: model, configuration: configuration)))
    }
}
