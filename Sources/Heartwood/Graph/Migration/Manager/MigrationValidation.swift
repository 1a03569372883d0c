import Foundation

/// The checks of the new store's objects against the destination's model.
extension NSMigrationManager {
    /// An inferred mapping keeps values valid, so its objects are checked only for required values, as after a change of the schema. Objects of any
    /// other mapping are checked against all rules of the model.
    final func validate() throws {
        let asksAll = !ownMappingModel.isInferred
        let entities = NSEntityDescription.concrete(among: destinationModel.entities)
        for entity in entities {
            let runtime = writer.runtime(for: entity)
            let checks = runtime.checks.filter { check in
                !runtime.properties[check.index].isTransient && (asksAll || check.isRequired && check.kind != .toMany)
            }
            guard runtime.store != nil, !checks.isEmpty else { continue }
            for key in try writer.keys(for: try sourceRequest(entity.name ?? "", where: nil)) {
                try checkCancellation()
                guard let object = writer.object(for: key) else { continue }
                if asksAll { try validate(object, checks) } else { try demandValues(of: object, checks) }
            }
            if let failure = writer.readingFailure { throw MigrationErrors.ofSave(failure) }
        }
    }

    private func demandValues(of object: NSManagedObject, _ checks: [PropertyCheck]) throws {
        for check in checks where object.managedValue(check.index).isNull {
            throw MigrationErrors.missing(object.entity.propertiesByIndex[check.index], of: object.entity)
        }
    }

    private func validate(_ object: NSManagedObject, _ checks: [PropertyCheck]) throws {
        do {
            try ValidationErrors.throwing { errors in
                for check in checks { object.validateWhole(check, into: &errors) }
            }
        } catch {
            throw MigrationErrors.withoutObjects(error)
        }
    }
}
