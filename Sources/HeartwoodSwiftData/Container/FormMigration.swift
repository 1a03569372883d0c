import Foundation
@_spi(GeneratedCode) import Heartwood

/// Carries values over to attributes that have another form in the container's version: a structure that was JSON and is a composite now, raw values
/// of another type, and their like.
///
/// The stack infers no such migration: it does not know the types. Each stored value becomes JSON (`StoredForm`), which the new type decodes. On a
/// copy of the store the old and the new attribute stand side by side while the values are converted.
struct FormMigration {
    let schema: Schema
    /// The stored entities whose forms the container's model takes.
    let stored: [String: NSEntityDescription]
    let source: NSManagedObjectModel
    /// The name of the store's configuration; nil for a store of all entities.
    let configuration: String?
    private let changes: [Change]

    /// An attribute of the new version, by the class that declares it.
    private struct Change {
        let entity: String
        let attribute: Schema.Attribute
        let former: NSAttributeDescription

        var formerName: String { "heartwood_former_\(attribute.name)" }
        /// No property of a model has it: a class's property has no such name.
        var newIdentifier: String { "heartwood new \(attribute.name)" }
    }

    /// - Parameter failure: the error with which the store was not migrated.
    /// - Returns: nil if the error has other causes than forms.
    init?(
        _ failure: any Error, schema: Schema, following stored: [String: NSEntityDescription], model: NSManagedObjectModel, configuration: String?
    ) {
        let failure = failure as NSError
        guard failure.code == NSMigrationMissingMappingModelError, let source = failure.userInfo["sourceModel"] as? NSManagedObjectModel else {
            return nil
        }
        self.schema = schema
        self.stored = stored
        self.source = source
        self.configuration = configuration
        let comparison = ModelComparison(comparing: source, with: model, configuration: configuration)
        var changes: [ObjectIdentifier: Change] = [:]
        for pair in comparison.pairs {
            for match in pair.matches where !ModelComparison.takesOver(match.source, match.destination) {
                guard let former = match.source as? NSAttributeDescription, let owner = match.destination.entity.name,
                    let attribute = schema.entitiesByName[owner]?.attributesByName[match.destination.name]
                else { continue }
                changes[ObjectIdentifier(match.destination)] = Change(entity: owner, attribute: attribute, former: former)
            }
        }
        guard !changes.isEmpty, comparison.obstacles.allSatisfy({ $0.property.map { changes[ObjectIdentifier($0)] != nil } ?? false }) else {
            return nil
        }
        self.changes = changes.values.sorted { ($0.entity, $0.attribute.name) < ($1.entity, $1.attribute.name) }
    }

    /// - Throws: `SwiftDataError.loadIssueModelContainer`, which names the class and the property, for a value that the new type does not decode;
    ///   the errors of the store. The store stays as it was then.
    func migrate(_ url: URL) throws {
        try StoreCopy.replacing(url) { copy in
            let both = try model { entity, change in
                guard let former = change.former.copy() as? NSAttributeDescription else { return }
                former.name = change.formerName
                former.renamingIdentifier = change.former.renamingIdentifier
                former.isOptional = true
                former.defaultValue = nil
                entity.properties.append(former)
                entity.attributesByName[change.attribute.name]?.isOptional = true
                Self.leaveOutKeys(of: change.attribute.name, entity)
            }
            try open(copy, both, convert)
            try open(copy, try model { _, _ in }) { _ in }
        }
    }

    /// The new version's model, in which the attributes of new forms are found by identifiers of their own.
    private func model(_ change: (NSEntityDescription, Change) -> Void) throws -> NSManagedObjectModel {
        let model = try ManagedModelMaker.model(schema, following: stored)
        for entity in model.entities { entity.managedObjectClassName = NSEntityDescription().managedObjectClassName }
        for item in changes {
            guard let entity = model.entitiesByName[item.entity], let attribute = entity.attributesByName[item.attribute.name] else { continue }
            attribute.renamingIdentifier = item.newIdentifier
            change(entity, item)
        }
        return model
    }

    /// Takes out the constraints and indexes over an attribute that has no values yet, in a class and its subclasses.
    private static func leaveOutKeys(of name: String, _ entity: NSEntityDescription) {
        for member in [entity] + entity.subentities {
            member.uniquenessConstraints.removeAll { $0.contains { ($0 as? String)?.split(separator: ".").first.map(String.init) == name } }
            member.indexes.removeAll { index in index.elements.contains { $0.property?.name == name } }
            if member !== entity { leaveOutKeys(of: name, member) }
        }
    }

    private func open(_ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true, NSPersistentHistoryTrackingKey: true,
        ]
        let store = try coordinator.addPersistentStore(type: .recordLog, configuration: configuration, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    // MARK: Values

    private func convert(_ context: NSManagedObjectContext) throws {
        for (entity, changes) in Dictionary(grouping: changes, by: \.entity).sorted(by: { $0.key < $1.key }) {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            request.resultType = .managedObjectIDResultType
            for (count, id) in try context.fetch(request).enumerated() {
                let object = try context.existingObject(with: id)
                for change in changes { try convert(change, of: object) }
                guard count % Self.objectsPerSave == Self.objectsPerSave - 1 else { continue }
                try context.save()
                context.reset()
            }
            try context.save()
            context.reset()
        }
    }

    private static let objectsPerSave = 1000

    private func convert(_ change: Change, of object: NSManagedObject) throws {
        let attribute = change.attribute
        guard let coding = AttributeCodings.coding(of: attribute.valueType, attribute),
            let place = MappedEntity.attributePlace(attribute.name, in: object.entity)
        else { return }
        guard let stored = object.value(forKey: change.formerName) else {
            if change.attribute.isOptional { return object.setManagedAttribute(nil, at: place.index) }
            guard object.managedAttribute(at: place.index) == nil else { return }
            throw fault(change, "A model has no value for it. Give the property a default value, or make it an optional.", nil)
        }
        let form = StoredForm(attribute: change.former, name: change.former.name)
        var failure: (any Error)?
        for meaning in form.meanings(stored) {
            do {
                return try coding.write(meaning, to: object, at: place)
            } catch {
                failure = failure ?? error
            }
        }
        throw fault(
            change,
            "A value that is stored as \(form.description) cannot become a \(change.attribute.valueType). Keep the property as it was, and give the "
                + "new one another name, which a stage of a migration plan fills.", failure)
    }

    private func fault(_ change: Change, _ text: String, _ cause: (any Error)?) -> SwiftDataError {
        .loadIssueModelContainer.because("\(change.entity).\(change.attribute.name): \(text)\(cause.map { " \($0)" } ?? "")", underlying: cause)
    }
}

extension AttributeCoding {
    /// - Throws: the error of the value's `init(from:)` or `encode(to:)`.
    fileprivate func write(_ json: JSONValue, to object: NSManagedObject, at place: AttributePlace) throws {
        guard let type = Value.self as? any Decodable.Type, let value = try JSONForm.decode(type, from: JSONForm.encode(json)) as? Value else {
            throw DecodingError.typeMismatch(Value.self, .init(codingPath: [], debugDescription: "The type is not Decodable."))
        }
        try write(value, to: object, at: place)
    }
}
