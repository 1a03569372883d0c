import Foundation
import RecordLog

/// Objects that belong to no context any more. Their rows lie in memory that the context kept, which may be unmapped once it does
/// not: so such an object has a copy of its row, or no row.
extension NSManagedObject {
    /// Has the object read from a copy of the row that it has read, so that its values stay readable.
    final func keepRow(in copies: KeptRows) {
        moveRows(copies.copy)
        if boundRow ?? storage?.base?.row != nil { ownStorage().rowCopies = copies }
    }

    /// Has the object, and what its parent said of it, name rows at their new places.
    final func moveRows(_ move: (RowView) -> RowView) {
        if let row = boundRow { bind(move(row)) }
        guard let base = storage?.base, let row = base.row else { return }
        storage?.base = CommittedState(values: base.values, row: move(row))
    }

    /// Takes the object out of a context that is reset. Every property reads as nil.
    final func forgetEverything() {
        storage?.publisher?.send()
        state = [.detached, .inaccessible, .fault]
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
    final func keepRows(ofDeleted saved: inout [NSManagedObject]) {
        let copies = KeptRows()
        for index in saved.indices where saved[index].state.contains(.erased) {
            if !isKnownUniquelyReferenced(&saved[index]) { saved[index].keepRow(in: copies) }
        }
    }
}
