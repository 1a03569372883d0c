import Foundation
import Heartwood

/// The managed object context of a model context.
///
/// Models hold it, so that a model can be read as long as the program has it, even after its model context has gone. Its objects let go of their
/// models then.
final class ModelObjectContext: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked, as its superclass.

    weak var owner: ModelContext?
    let mapped: MappedModel
    /// The entity of the model found last: most fetches find models of one.
    @exclusivity(unchecked) private var lastEntity: MappedEntity?
    /// Those found before, by the entity's description and by the class.
    private var entities: [ObjectIdentifier: MappedEntity] = [:]

    // The state of `ModelObjectContext+Models.swift`.

    /// The objects that hold models which were made since the last use of the model context, one by one and by the fetches that found them.
    @exclusivity(unchecked) var recent: [ModelObject] = []
    @exclusivity(unchecked) var recentLists: [[ModelObject]] = []
    @exclusivity(unchecked) var recentCount = 0
    /// The objects that hold their models until the save.
    @exclusivity(unchecked) var kept: [ModelObject] = []
    /// The objects that hold models which the program had when they were looked at last, and the place of the next look.
    @exclusivity(unchecked) var lasting: [ModelObject] = []
    @exclusivity(unchecked) var nextLasting = 0
    var isLooking = false
    /// Whether objects hold their models: as long as the model context lives.
    @exclusivity(unchecked) var keeps = true
    /// Whether a kept model may have an identity that the program was told before the insertion.
    @exclusivity(unchecked) var hasUnsavedIdentities = false
    /// The objects of the save in progress.
    @exclusivity(unchecked) var saved = SavedObjects(number: 0)
    /// Called at each change of a model that is not kept yet; nil unless the model context saves by itself.
    var onChange: ((ModelObjectContext) -> Void)?

    init(_ type: NSManagedObjectContextConcurrencyType, _ mapped: MappedModel) {
        self.mapped = mapped
        super.init(concurrencyType: type)
        mayOverride = false
    }

    // MARK: Models

    /// The model of an object of this context: the one that the program holds, or a new one.
    func model(of object: ModelObject) -> (any PersistentModel)? {
        if let model = object.model { return model as? any PersistentModel }
        let entity = entity(of: object)
        guard let type = entity.type, entity.unreadable(object) == nil else { return nil }
        return make(type.type, object)
    }

    /// The same for an object whose model is of the class or of one below it; nil for another one.
    func model<Model: PersistentModel>(of object: ModelObject, as type: Model.Type) -> Model? {
        if let known: Model? = object.known() { return known }
        let entity = entity(of: object)
        guard entity.type?.type == type else { return model(of: object) as? Model }
        guard entity.unreadable(object) == nil else { return nil }
        let model = Model(backingData: backingData(of: object, type))
        register(model, of: object)
        return model
    }

    /// The models of objects, each of the class or of one below it.
    /// - Throws: `SwiftDataError.modelValidationFailure` where the store has no readable value for a property that must have one.
    func models<Model: PersistentModel>(of objects: [ModelObject], as type: Model.Type) throws -> [Model] {
        var maker = ModelMaker<Model>(self)
        let isHeld = mayHold(objects.count)
        // Where an object is unreadable, those before it have models.
        defer { if isHeld { recentLists.append(objects) } }
        return try [Model](unsafeUninitializedCapacity: objects.count) { models, count in
            guard let start = models.baseAddress else { return }
            for object in objects {
                guard let model = try maker.model(of: object, isHeld) else { continue }
                (start + count).initialize(to: model)
                count += 1
            }
        }
    }

    // MARK: Entities

    func entity(of object: ModelObject) -> MappedEntity {
        let entity = object.entity
        if let lastEntity, lastEntity.entity === entity { return lastEntity }
        return find(ObjectIdentifier(entity)) { mapped.entity(entity) } ?? mapped.entity(entity)
    }

    private func find(_ key: ObjectIdentifier, _ make: () -> MappedEntity?) -> MappedEntity? {
        if let known = entities[key] {
            lastEntity = known
            return known
        }
        let found = make()
        entities[key] = found
        lastEntity = found ?? lastEntity
        return found
    }

    /// The entity of a class; nil for a class that the schema does not have.
    func entity(of type: any PersistentModel.Type) -> MappedEntity? {
        if let lastEntity, let known = lastEntity.type, known.type == type { return lastEntity }
        return find(ObjectIdentifier(type)) { mapped.entity(of: ModelType.of(type)).map(mapped.entity) }
    }

    private func make(_ type: any PersistentModel.Type, _ object: ModelObject) -> any PersistentModel {
        func make<Model: PersistentModel>(_ type: Model.Type) -> any PersistentModel {
            let model = Model(backingData: backingData(of: object, type))
            register(model, of: object)
            return model
        }
        return make(type)
    }

    /// Backing data that reads and writes an object of this context.
    func backingData<Model: PersistentModel>(of object: ModelObject, _: Model.Type) -> DefaultBackingData<Model> {
        let data = DefaultBackingData<Model>()
        data.attach(object, self, entity(of: object).places(of: data.modelType))
        return data
    }
}
