import Foundation
import RecordLog

/// Objects that belong to no context any more. Their rows lie in memory that the context kept, which may be unmapped once it does
/// not: so such an object keeps that memory itself, or has no row.
extension NSManagedObject {
    /// Holds on to the memory of the row that the object has read, so that its values stay readable.
    final func keepRow(_ memory: [AnyObject]) {
        guard rowBody != nil else { return }
        ownStorage().memory = memory
    }

    /// Takes the object out of a context that is reset. Every property reads as nil.
    final func forgetEverything() {
        storage?.publisher?.send()
        state = [.detached, .inaccessible]
        forgetRow()
        storage = nil
    }

    /// Makes an object that was in a context before fit to be inserted: one that a save has deleted comes with the attributes that it
    /// had, one of before a reset with its entity's defaults; neither with its relationships.
    final func prepareForInsertion() {
        guard !key.isNone else { return }
        var values = runtime.initialValues
        for (index, property) in runtime.properties.enumerated() where !property.kind.isRelationship {
            if let value = override(index) {
                values[index] = value
            } else if rowBody != nil, property.hasColumn {
                values[index] = committedValue(index)
            }
        }
        forgetRow()
        let storage = ObjectStorage()
        storage.publisher = self.storage?.publisher
        storage.values = values
        self.storage = storage
    }
}

extension NSManagedObjectContext {
    /// After a save: objects that it has deleted keep their rows where somebody still holds them.
    final func keepRows(ofDeleted saved: inout [NSManagedObject], _ memory: [AnyObject]) {
        for index in saved.indices where saved[index].state.contains(.erased) {
            if !isKnownUniquelyReferenced(&saved[index]) { saved[index].keepRow(memory) }
        }
    }
}
