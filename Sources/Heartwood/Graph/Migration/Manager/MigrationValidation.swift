import Foundation

/// What the destination's model demands of all objects of the new store.
extension NSMigrationManager {
    /// An inferred mapping makes values that were valid, so that it is asked for required ones alone, as a change of a schema is; of any other
    /// mapping's objects all rules of the model are asked.
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
            throw MigrationErrors.missing(object.entity.frozenProperties[check.index], of: object.entity)
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
