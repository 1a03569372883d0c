import Foundation

/// What every save checks: required values, and relationships whose delete rule denies.
extension NSManagedObjectContext {
    /// - Throws: one error, or 1560 with all of them under `NSDetailedErrorsKey`.
    final func validateForSave() throws {
        var errors: [NSError] = []
        for object in listed {
            if object.isDeleted {
                collectDeniedDeletes(of: object, into: &errors)
            } else if object.runtime.hasRequired {
                collectMissing(in: object, into: &errors)
            }
        }
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        throw CoreDataError.make(
            NSValidationMultipleErrorsError, "\(errors.count) values are not allowed by the model; the first: \(first.localizedDescription)",
            [NSDetailedErrorsKey: errors])
    }

    private func collectMissing(in object: NSManagedObject, into errors: inout [NSError]) {
        guard let values = object.storage?.values, !values.isEmpty else { return }
        for index in object.runtime.required {
            let property = object.runtime.properties[index]
            let isMissing: Bool
            switch values[index] {
            case .unset: isMissing = object.isInserted
            case .toMany(let state): isMissing = state.isChanged && object.memberKeys(at: index).isEmpty
            case let value: isMissing = value.isNull && (property.kind != .toMany || object.isInserted)
            }
            guard isMissing else { continue }
            errors.append(CoreDataError.make(
                NSValidationMissingMandatoryPropertyError,
                "\(object.entity.name ?? "?").\(property.name) is a required value.",
                [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: property.name]))
        }
    }

    private func collectDeniedDeletes(of object: NSManagedObject, into errors: inout [NSError]) {
        for (index, property) in object.runtime.properties.enumerated() where property.deleteRule == .denyDeleteRule {
            guard property.kind.isRelationship else { continue }
            let remaining = property.kind == .toMany
                ? object.managedObjects(at: index) : object.managedObject(at: index).map { [$0] } ?? []
            guard remaining.contains(where: { !$0.isDeleted }) else { continue }
            errors.append(CoreDataError.make(
                NSValidationRelationshipDeniedDeleteError,
                "\(object.entity.name ?? "?") cannot be deleted while its \(property.name) is not empty.",
                [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: property.name]))
        }
    }
}
