import Foundation
import Heartwood
import HeartwoodModelCode
import HeartwoodSQLite

/// The model of a store, for code generation.
///
/// HeartwoodModelCode has no stack, so that the build plugin is compiled in seconds. The stack reads the model here, and hands over names and types.
enum StoreCodeModel {
    /// - Throws: `CodeError` for a name that code cannot have, and errors of the store.
    static func read(_ path: String, modelFile: String?) throws -> CodeModel {
        guard CoreDataStore.isOne(path) else { return try model(of: LoadedModel(path: path).model, path) }
        let found = try CoreDataStore.model(path, given: modelFile, isShown: true)
        // A model's source also says which code is wanted.
        if case .source(let file) = found.origin { return try CodeModelReader.read(file.path) }
        return try model(of: found.model, path)
    }

    private static func model(of model: NSManagedObjectModel, _ path: String) throws -> CodeModel {
        try CodeModel(path: path, model.entities.map { entity in
            let stated = entity.managedObjectClassName.flatMap { ["", "NSManagedObject"].contains($0) ? nil : $0 }
            return CodeModel.Declaration(
                name: entity.title, className: stated, parent: entity.superentity?.name, properties: entity.ownProperties.compactMap(property))
        })
    }

    private static func property(_ property: NSPropertyDescription) -> CodeModel.Property? {
        switch property {
        // An element of a composite has its composite's name before its own.
        case _ where property.name.contains("."): nil
        case let attribute as NSAttributeDescription:
            .attribute(
                name: attribute.name, type: attribute.attributeType == .undefinedAttributeType ? nil : attribute.attributeType.modelFileName,
                customClass: attribute.attributeType == .transformableAttributeType ? attribute.attributeValueClassName : nil)
        case let relationship as NSRelationshipDescription:
            .relationship(
                name: relationship.name, destination: relationship.destinationEntity?.name ?? "", isToMany: relationship.isToMany,
                isOrdered: relationship.isOrdered)
        case is NSFetchedPropertyDescription: .fetched(name: property.name)
        default: nil
        }
    }
}
