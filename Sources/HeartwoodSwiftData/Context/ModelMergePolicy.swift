import Heartwood

/// Lets a model that is saved with the unique values of another one change that one, and remembers what has become of the two during the save.
final class ModelMergePolicy: NSMergePolicy {
    /// New objects that have left the context, each with the object that has their values now.
    private(set) var merged: [(gone: ModelObject, other: ModelObject)] = []
    /// The objects that stay.
    private(set) var changed: [ModelObject] = []
    /// Saved objects that had to make room for others, and what their models keep.
    private(set) var deleted: [(object: ModelObject, farewell: Farewell?)] = []

    init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try super.resolve(constraintConflicts: list)
        for conflict in list {
            let all = (conflict.conflictingObjects + [conflict.databaseObject]).compactMap { $0 as? ModelObject }
            guard let other = all.first(where: { $0.managedObjectContext != nil && !$0.isDeleted }) else { continue }
            changed.append(other)
            for object in all where object !== other {
                if object.managedObjectContext == nil {
                    merged.append((object, other))
                } else if object.isDeleted {
                    deleted.append((object, Farewell(object)))
                }
            }
        }
    }

    /// Lets the models of objects that have left the context read and write those that have their values.
    func joinModels(_ home: ModelObjectContext) {
        for (gone, first) in merged {
            guard let model = gone.model as? any PersistentModel else { continue }
            var other = first
            while let next = merged.first(where: { $0.gone === other })?.other { other = next }
            let entity = home.entity(of: other)
            for storage in model._$storages() { storage.attach(other, home, entity.places(of: storage.modelType)) }
            model.rootStorage?.identity = nil
            gone.forgetModel()
            other.letGoOfUnusedModel()
            guard other.model == nil else { continue }
            home.register(model, of: other)
            // After a save that has failed, the model has changes.
            if other.hasChanges { other.keep() }
        }
    }

    func forget() { (merged, changed, deleted) = ([], [], []) }
}
