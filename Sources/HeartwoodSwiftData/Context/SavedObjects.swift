import Heartwood

/// The new and changed objects of a save, which have their lasting identities after it.
///
/// The objects are collected as the save calls them. To ask the context for them would make sets of all.
struct SavedObjects {
    /// That of the save; an object notes it, so that it is collected once.
    let number: UInt32
    var objects: [(object: ModelObject, isInserted: Bool)] = []

    /// - Parameters:
    ///   - deleted: the objects that have no row any more.
    ///   - changed: those that have got the unique values of others during the save.
    func changes(deleted: [NSManagedObject], changed: [ModelObject]) -> SavedChanges {
        var changes = SavedChanges()
        for (object, isInserted) in objects where !object.objectID.isTemporaryID {
            if isInserted { changes.inserted.insert(object.objectID) } else { changes.updated.insert(object.objectID) }
        }
        changes.deleted = Set(deleted.map(\.objectID).filter { !$0.isTemporaryID })
        changes.updated.formUnion(changed.map(\.objectID).filter { !$0.isTemporaryID })
        changes.updated.subtract(changes.inserted)
        changes.updated.subtract(changes.deleted)
        return changes
    }
}
