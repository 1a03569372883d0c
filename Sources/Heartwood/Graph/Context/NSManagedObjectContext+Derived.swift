import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Moves objects that the last save did not write to the rows in which it changed derived attributes, if they were bound to the rows
    /// before.
    final func adopt(_ derived: [SaveBatch.Derived]) {
        for row in derived {
            pending.derivedKeys.append(row.key)
            guard let object = identities[row.key], object.rowVersion == row.from else { continue }
            object.storage?.publisher?.send()
            object.rowBody = nil
            object.rowVersion = row.to
            noteEvent(.refreshed, object)
        }
    }

    /// The IDs of the objects of which the last save changed derived attributes only.
    final var derivedIDs: Set<NSManagedObjectID> { Set(pending.derivedKeys.map { objectID(for: $0) }) }
}
