import Foundation
import Heartwood

/// Describes a model, with what a store says of each entity.
struct ReportModelGathering {
    /// What the store says, by entity and by index.
    struct Figures {
        var objects: [String: Int] = [:]
        var bytes: [String: UInt64] = [:]
        /// By the entity and the index's name, with a space between them.
        var indexes: [String: (entries: UInt64, bytes: UInt64)] = [:]
    }

    let loaded: LoadedModel
    let figures: Figures
    /// By entity: whether attributes without a value in the sample have one beyond it.
    var isUsed: [String: [String: Bool]] = [:]

    func model() -> ReportModel {
        let identifiers = loaded.model.versionIdentifiers.compactMap { $0 as? String }.filter { !$0.isEmpty }.sorted()
        return ReportModel(
            name: loaded.name, version: identifiers.isEmpty ? nil : identifiers.joined(separator: ", "), entities: loaded.entities.map(entity),
            warnings: ModelCheck.warnings(loaded).map(\.line))
    }

    private func entity(_ entity: NSEntityDescription) -> ReportModel.Entity {
        let own = entity.ownProperties
        return ReportModel.Entity(
            name: entity.title, isAbstract: entity.isAbstract, parent: entity.superentity?.title, className: className(entity),
            objects: figures.objects[entity.title], bytes: figures.bytes[entity.title],
            attributes: own.compactMap { $0 as? NSAttributeDescription }.map { attribute in
                ReportModel.Attribute(
                    name: attribute.name, type: attribute.typeTitle, isOptional: attribute.isOptional,
                    remarks: ModelTable.remarks(attribute).filter { $0 != "required" }.joined(separator: ", "),
                    isUsed: isUsed[entity.title]?[attribute.name])
            },
            relationships: entity.ownRelationships.map { relationship in
                ReportModel.Relationship(
                    name: relationship.name, destination: relationship.destinationEntity?.title ?? "?", multiplicity: relationship.multiplicity,
                    inverse: relationship.inverseRelationship?.name, rule: relationship.ruleTitle, isOrdered: relationship.isOrdered)
            },
            unique: entity.constraintNames.map { $0.joined(separator: ", ") }, indexes: indexes(entity))
    }

    private func className(_ entity: NSEntityDescription) -> String? {
        guard let name = entity.managedObjectClassName, name != entity.name, !["", "NSManagedObject"].contains(name) else { return nil }
        return name
    }

    /// Those of the model, and those that the store has beside them.
    private func indexes(_ entity: NSEntityDescription) -> [ReportModel.Index] {
        var found = figures.indexes.filter { $0.key.hasPrefix(entity.title + " ") }
        var indexes = entity.indexes.map { index in
            let name = "index:\(index.name)", figure = found.removeValue(forKey: "\(entity.title) \(name)")
            return ReportModel.Index(name: index.name, elements: index.elementTitles, entries: figure?.entries, bytes: figure?.bytes)
        }
        for (key, figure) in found.sorted(by: { $0.key < $1.key }) {
            let name = String(key.dropFirst(entity.title.count + 1))
            indexes.append(ReportModel.Index(name: name, elements: "", entries: figure.entries, bytes: figure.bytes))
        }
        return indexes
    }
}
