import Foundation
import Heartwood

/// The managed object context of a model context.
///
/// Models hold it, so that a model can be read as long as the program has it, even after its model context has gone. What the model context holds
/// for the sake of changes goes with the model context.
final class ModelObjectContext: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked, as its superclass.

    weak var owner: ModelContext?
    let mapped: MappedModel
    /// The entity of the model found last: most fetches find models of one.
    private var lastEntity: MappedEntity?

    init(_ type: NSManagedObjectContextConcurrencyType, _ mapped: MappedModel) {
        self.mapped = mapped
        super.init(concurrencyType: type)
        mayOverride = false
    }

    /// The model of an object of this context: the one that the program holds, or a new one.
    func model(of object: ModelObject) -> (any PersistentModel)? {
        if let model = object.model { return model as? any PersistentModel }
        let entity = entity(of: object)
        guard let type = entity.type, entity.unreadable(object) == nil else { return nil }
        return make(type.type, object)
    }

    /// The models of objects, each of the class or of one below it.
    ///
    /// The class's `init(backingData:)` copies what it is given, so one carrier serves all models, unless a class written by hand keeps it.
    /// - Throws: `SwiftDataError.modelValidationFailure` where the store has no readable value for a property that must have one.
    func models<Model: PersistentModel>(of objects: [ModelObject], as type: Model.Type) throws -> [Model] {
        var models: [Model] = []
        models.reserveCapacity(objects.count)
        var carrier = DefaultBackingData<Model>()
        for object in objects {
            if let known = object.model {
                if let model = known as? Model { models.append(model) }
                continue
            }
            let entity = entity(of: object)
            if let property = entity.unreadable(object) { throw SwiftDataError.unreadable(property, of: object) }
            guard let found = entity.type, found.type == type else {
                if let model = model(of: object) as? Model { models.append(model) }
                continue
            }
            carrier.attach(object, self, entity.places(of: found))
            let model = Model(backingData: carrier)
            object.model = model
            models.append(model)
            if !isKnownUniquelyReferenced(&carrier) { carrier = DefaultBackingData<Model>() }
        }
        return models
    }

    private func entity(of object: ModelObject) -> MappedEntity {
        let entity = object.entity
        let found: MappedEntity
        if let lastEntity, lastEntity.entity === entity { found = lastEntity } else { found = mapped.entity(entity) }
        lastEntity = found
        object.mappedEntity = found
        return found
    }

    private func make(_ type: any PersistentModel.Type, _ object: ModelObject) -> any PersistentModel {
        func make<Model: PersistentModel>(_ type: Model.Type) -> any PersistentModel {
            let model = Model(backingData: backingData(of: object, type))
            object.model = model
            return model
        }
        return make(type)
    }

    /// Backing data that reads and writes an object of this context.
    func backingData<Model: PersistentModel>(of object: ModelObject, _: Model.Type) -> DefaultBackingData<Model> {
        let data = DefaultBackingData<Model>()
        data.attach(object, self, object.mapped.places(of: data.modelType))
        return data
    }
}
