import Foundation

/// The versions of its model that a store has left, oldest first.
///
/// A store carries its model, so that a program can migrate it from a version that the program does not have. Without this an older program, run
/// beside a newer one, would migrate the newer one's store back by itself, and what the newer version has added would be lost.
enum FormerVersions {
    /// In a store's metadata: checksums.
    static let key = "HeartwoodFormerModelVersions"

    static func list(_ metadata: [String: Any]) -> [String] { metadata[key] as? [String] ?? [] }

    /// Notes that a store has gone on to another version.
    /// - Parameters:
    ///   - old: its metadata so far.
    ///   - new: those of the version that it has now. Going back to a version forgets those that came after it.
    static func note(_ old: [String: Any], in new: inout [String: Any]) {
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
