import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Has objects that a save did not write show the derived attributes that followed from it, where they showed the row before it.
    final func adopt(_ derived: [SaveBatch.Derived]) {
        for row in derived {
            derivedKeys.append(row.key)
            guard let object = identities[row.key], object.rowVersion == row.from else { continue }
            object.storage?.publisher?.send()
            object.rowBody = nil
            object.rowVersion = row.to
            noteEvent(.refreshed, object)
        }
    }

    /// The IDs of the objects whose derived attributes alone the last save has changed.
    final var derivedIDs: Set<NSManagedObjectID> { Set(derivedKeys.map { objectID(for: $0) }) }
}
