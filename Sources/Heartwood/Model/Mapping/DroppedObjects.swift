import Foundation

/// The objects that a migration leaves out, because their entities have no counterpart in the new model.
package struct DroppedObjects {
    package struct Entity: Equatable, Sendable {
        package let name: String
        package let objects: Int
    }

    /// The dropped entities that have objects, by name.
    package let entities: [Entity]
    /// Whether the two models have no entity in common whose objects could go on. The store is probably of another program.
    let isBetweenUnrelatedModels: Bool
    private let models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)

    package var objects: Int { entities.reduce(0) { $0 + $1.objects } }
    /// Whether the store loses all its objects to a model that has nothing to do with its own.
    package var isEverything: Bool { isBetweenUnrelatedModels && objects > 0 }

    /// For an inferred migration.
    /// - Parameter count: gives the number of an entity's own objects; called for entities that are dropped.
    package init(_ comparison: ModelComparison, count: (NSEntityDescription) throws -> Int) rethrows {
        models = (comparison.source, comparison.destination)
        isBetweenUnrelatedModels = !comparison.pairs.contains { !$0.source.isAbstract && !$0.destination.isAbstract }
        entities = try Self.counted(comparison.removed, count)
    }

    /// For a migration by a mapping model. An entity is dropped if no mapping has it as its source.
    /// - Parameter configuration: of the source's model; nil for all its entities.
    package init(
        _ mapping: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, configuration: String?,
        count: (NSEntityDescription) throws -> Int
    ) rethrows {
        models = (source, destination)
        let mappings = (mapping.entityMappings ?? []).filter { $0.mappingType != .removeEntityMappingType }
        let sources = Set(mappings.compactMap(\.sourceEntityName))
        let all = source.entities(forConfigurationName: configuration) ?? source.entities
        isBetweenUnrelatedModels = !mappings.contains { mapping in
            mapping.destinationEntityName != nil && all.contains { $0.name == mapping.sourceEntityName && !$0.isAbstract }
        }
        entities = try Self.counted(all.filter { !sources.contains($0.name ?? "") }, count)
    }

    private static func counted(_ dropped: [NSEntityDescription], _ count: (NSEntityDescription) throws -> Int) rethrows -> [Entity] {
        try dropped.filter { !$0.isAbstract }.map { Entity(name: $0.name ?? "", objects: try count($0)) }
            .filter { $0.objects > 0 }.sorted { $0.name < $1.name }
    }

    /// "12 objects: 8 of Note, 4 of Tag".
    package var text: String { Self.text(entities) }

    package static func text(_ entities: [Entity]) -> String {
        let objects = entities.reduce(0) { $0 + $1.objects }
        let list = entities.map { "\($0.objects) of \($0.name)" }.joined(separator: ", ")
        return "\(objects) object\(objects == 1 ? "" : "s"): \(list)"
    }

    // MARK: Unrelated models

    /// - Throws: 134140 if the store would lose all its objects to an unrelated model.
    func refuseUnrelated(_ url: URL) throws {
        guard isEverything else { return }
        let cause = CoreDataError.make(
            NSInferredMappingModelError, "The two models have no entity in common.", ["reason": "Source and destination have no entity in common"])
        let info: [String: Any] = [
            "reason": "Can't find or automatically infer mapping model for migration", "sourceModel": models.source,
            "destinationModel": models.destination, NSUnderlyingErrorKey: cause, NSFilePathErrorKey: url.path,
            NSLocalizedRecoverySuggestionErrorKey: Self.advice,
        ]
        throw CoreDataError.make(
            NSMigrationMissingMappingModelError, "The store at \(url.path) was not migrated: \(refusal) \(Self.advice)", info)
    }

    /// The reason why a store is not migrated to an unrelated model, and the first remedy.
    package var refusal: String {
        "its model (\(Self.title(models.source))) and the new one (\(Self.title(models.destination))) have no entity in common, so nothing would "
            + "be left of its \(text). It is probably another program's store: then choose another path."
    }

    /// The other remedies, for a program.
    private static let advice = "If the new model is to replace the old one, set the description's shouldMigrateStoreToUnrelatedModel "
        + "(NSMigratePersistentStoresToUnrelatedModelsOption), or state the old names of entities (renamingIdentifier), or add a mapping model."

    /// The number of entities that a message names.
    private static let namesMax = 6

    private static func title(_ model: NSManagedObjectModel) -> String {
        let names = model.entities.compactMap(\.name).sorted(), versions = model.versionIdentifiers.map { "\($0)" }.sorted()
        let more = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
        let list = "\(names.count == 1 ? "entity" : "entities") \(names.prefix(namesMax).joined(separator: ", "))\(more)"
        return (versions.isEmpty ? "" : "version \(versions.joined(separator: ", ")), ") + list
    }

    // MARK: The log

    /// Writes a line to standard error if a migration has dropped objects.
    func log(_ url: URL) {
        guard !entities.isEmpty else { return }
        let line = "Heartwood: the migration of the store at \(url.path) removed \(text). The new model does not have "
            + "\(entities.count == 1 ? "this entity" : "these entities").\n"
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}

/// The rule by which a migration treats objects that it leaves out.
package enum DroppingRule {
    /// It refuses to leave out all objects for an unrelated model.
    case refusesUnrelated
    /// Somebody has asked for exactly this migration.
    case isAsked
    /// As `isAsked`, and its caller tells what was left out.
    case isTold

    package func check(_ dropped: DroppedObjects, _ url: URL) throws {
        if self == .refusesUnrelated { try dropped.refuseUnrelated(url) }
    }

    package func tell(_ dropped: DroppedObjects?, _ url: URL) {
        if self != .isTold { dropped?.log(url) }
    }
}
