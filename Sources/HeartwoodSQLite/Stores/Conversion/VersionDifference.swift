import Foundation
import Heartwood

/// The differences between the version of a store's model and the one that it is migrated to, by entity.
package struct VersionDifference: Equatable, Sendable {
    package private(set) var changed: [String] = []
    package private(set) var added: [String] = []
    /// Entities whose objects are left out.
    package private(set) var removed: [String] = []
    /// By the old name.
    package private(set) var renamed: [String: String] = [:]

    init(from old: [String: Data], to version: NSManagedObjectModel) {
        for entity in version.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let name = entity.name else { continue }
            if let hash = old[name] {
                if hash != entity.versionHash { changed.append(name) }
            } else if let former = entity.renamingIdentifier, former != name, old[former] != nil {
                renamed[former] = name
            } else {
                added.append(name)
            }
        }
        removed = old.keys.filter { version.entitiesByName[$0] == nil && renamed[$0] == nil }.sorted()
    }
}
