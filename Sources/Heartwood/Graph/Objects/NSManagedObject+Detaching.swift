import Foundation
import RecordLog

/// Objects that belong to no context any more. The memory of their rows may be unmapped once the context does not hold it, so such an object has a
/// copy of its row, or no row.
extension NSManagedObject {
    /// Copies the row that the object has read, so that its values stay readable.
    final func keepRow(in copies: KeptRows) {
        moveRows(copies.copy)
        if boundRow ?? storage?.base?.row != nil { ownStorage().rowCopies = copies }
    }

    /// Moves the row references of the object, and of the state it got from its parent context, to new addresses.
    final func moveRows(_ move: (UnsafeRowView) -> UnsafeRowView) {
        if let row = boundRow { bind(move(row)) }
        guard let base = storage?.base, let row = base.row else { return }
        storage?.base = CommittedState(values: base.values, row: move(row))
    }

    /// Takes the object out of a context that is being reset. Every property then reads as nil.
    final func forgetEverything() {
        storage?.publisher?.send()
        state = [.detached, .inaccessible, .fault]
        forgetRow()
        storage = nil
    }

    /// Prepares an object that was in a context before for insertion. An object that a save has deleted keeps its attributes; one from before a
    /// reset gets its entity's defaults. Neither keeps its relationships.
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
    /// Copies the rows of objects that a save has deleted and that are referenced elsewhere.
    final func keepRows(ofDeleted saved: inout [NSManagedObject]) {
        let copies = KeptRows()
        for index in saved.indices where saved[index].state.contains(.erased) {
            if !isKnownUniquelyReferenced(&saved[index]) { saved[index].keepRow(in: copies) }
        }
    }
}
