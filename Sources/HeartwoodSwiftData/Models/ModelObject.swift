import Foundation
import Heartwood

/// The managed object behind a model in a context.
final class ModelObject: NSManagedObject {
    /// The model, while the program or this object holds it.
    weak var model: AnyObject?
    /// The model, from its insertion or its first change until the save or rollback: its transient values live as long as its changes.
    var kept: AnyObject?
    /// The identity of a new object during its save to a store of the program's own, which chooses the lasting one.
    var insertedIdentity: PersistentIdentifier?

    /// Where its entity has the properties of the model's classes.
    var mappedEntity: MappedEntity?

    var modelContext: ModelContext? { (managedObjectContext as? ModelObjectContext)?.owner }

    var mapped: MappedEntity {
        if let mappedEntity { return mappedEntity }
        let found = MappedModel.of(entity).entity(entity)
        mappedEntity = found
        return found
    }

    /// An undo, a merge and a refresh change values without a setter.
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        announce { _ in true }
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        if model != nil { announce { _ in true } }
    }

    /// Holds the model until the context is saved.
    func keep() {
        guard kept == nil, let model, let context = modelContext else { return }
        kept = model
        context.noteKept(self)
    }
}
