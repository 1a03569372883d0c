import Foundation

/// The associations of objects, and the values of new objects.
extension NSMigrationManager {
    /// Implements `associate(sourceInstance:withDestinationInstance:for:)`.
    final func note(_ destinationInstance: NSManagedObject, madeOf sourceInstance: NSManagedObject, by entityMapping: NSEntityMapping) {
        demand(
            reader != nil && sourceInstance.managedObjectContext === reader
                && destinationInstance.managedObjectContext === writer,
            "Objects are associated that are not of the migration's contexts.")
        guard let step = step(of: entityMapping) else { return }
        step.associations.add(sourceInstance.key, destinationInstance.key)
        if destinationInstance.key.isTemporary { unsaved.append((step, destinationInstance.key, destinationInstance)) }
    }

    final func made(byMappingNamed mappingName: String, of sourceInstances: [NSManagedObject]?) -> [NSManagedObject] {
        guard let mapping = mapping(named: mappingName), let step = step(of: mapping) else { return [] }
        guard let sourceInstances else {
            adoptSavedKeys()
            return step.associations.destinations.compactMap { writer.object(for: $0) }
        }
        return destinations(of: mapping, sourceInstances)
    }

    final func origins(byMappingNamed mappingName: String, of destinationInstances: [NSManagedObject]?) -> [NSManagedObject] {
        guard let mapping = mapping(named: mappingName), let step = step(of: mapping) else { return [] }
        guard let destinationInstances else { return step.associations.sources.compactMap { reader.object(for: $0) } }
        return sources(of: mapping, destinationInstances)
    }

    /// - Parameter mapping: nil for all mappings.
    final func destinations(of mapping: NSEntityMapping?, _ objects: [NSManagedObject]) -> [NSManagedObject] {
        adoptSavedKeys()
        let step = mapping.flatMap { self.step(of: $0) }
        var found: [NSManagedObject] = []
        for object in objects { found += destinationKeys(of: object.key, step).compactMap { writer.object(for: $0) } }
        return found
    }

    private func destinationKeys(of source: ObjectKey, _ step: MigrationStep?) -> [ObjectKey] {
        if let step { return step.associations.destinations(of: source) }
        guard let steps = stepsBySlot[source.slot] else { return [] }
        if steps.count == 1 { return steps[0].associations.destinations(of: source) }
        return steps.flatMap { $0.associations.destinations(of: source) }
    }

    final func sources(of mapping: NSEntityMapping, _ objects: [NSManagedObject]) -> [NSManagedObject] {
        adoptSavedKeys()
        guard let step = step(of: mapping) else { return [] }
        var found: [NSManagedObject] = []
        for object in objects { found += step.associations.sources(of: object.key).compactMap { reader.object(for: $0) } }
        return found
    }

    // MARK: Values

    /// The default policy's setting of attributes.
    final func setAttributes(
        of object: NSManagedObject, from source: NSManagedObject, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy
    ) throws {
        guard let step = step(of: mapping) else { return }
        for setter in step.attributes {
            switch setter.rule {
            case .copy(let index, let conversion, let kind, let given):
                let value = source.managedValue(index)
                guard !value.isNull else {
                    object.setManagedValue(given, at: setter.index)
                    continue
                }
                guard let converted = conversion.apply(value, to: kind) else {
                    let what = AttributeCoding.object(
                        value, property: source.entity.propertiesByIndex[index], kind: source.runtime.properties[index].kind)
                    throw MigrationErrors.value("\(what ?? "a value") does not fit", mapping, setter.name)
                }
                object.setManagedValue(converted, at: setter.index)
            case .evaluate(let property, let expression):
                let value = try evaluate(expression.node, mapping, setter.name, variables(step, property, source: source, destination: object))
                try set(value.object, of: object, at: setter.index, mapping, setter.name)
            }
        }
    }

    /// The default policy's setting of relationships.
    final func setRelationships(of object: NSManagedObject, _ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        guard let step = step(of: mapping), !step.relationships.isEmpty else { return }
        adoptSavedKeys()
        let sources = step.associations.sources(of: object.key).compactMap { reader.object(for: $0) }
        for setter in step.relationships {
            let made: [NSManagedObject]
            switch setter.rule {
            case .copy(let index, let isToMany):
                let keys = sources.flatMap { source in isToMany ? source.memberKeys(at: index) : [source.reference(at: index)] }
                made = keys.flatMap { $0.isNone ? [] : destinationKeys(of: $0, nil) }.compactMap { writer.object(for: $0) }
                    .filter { $0.entity.isKindOf(entity: setter.destination ?? $0.entity) }
            case .evaluate(let property, let expression):
                let value = try evaluate(
                    expression.node, mapping, setter.name, variables(step, property, source: sources.first, destination: object))
                guard let objects = Self.managedObjects(value) else {
                    throw MigrationErrors.value("it gives \(value.object ?? "nothing"), not managed objects", mapping, setter.name)
                }
                made = objects
            }
            if setter.isToMany {
                try set(NSOrderedSet(array: made), of: object, at: setter.index, mapping, setter.name)
            } else {
                try set(made.first, of: object, at: setter.index, mapping, setter.name)
            }
        }
    }

    private func set(_ value: Any?, of object: NSManagedObject, at index: Int, _ mapping: NSEntityMapping, _ name: String) throws {
        do {
            try object.setValue(value, at: index)
        } catch {
            throw MigrationErrors.value(error.message, mapping, name)
        }
    }

    private static func managedObjects(_ value: PredicateValue) -> [NSManagedObject]? {
        switch value {
        case .null: return []
        case .object: return value.managedObject.map { [$0] }
        case .collection(let members):
            let lists = members.map(managedObjects)
            return lists.contains { $0 == nil } ? nil : lists.flatMap { $0 ?? [] }
        default: return nil
        }
    }

    // MARK: Expressions

    /// The values of `$manager` and the other variables.
    final func variables(
        _ step: MigrationStep, _ property: NSPropertyMapping?, source: NSManagedObject? = nil, destination: NSManagedObject? = nil
    ) -> [String: Any] {
        var variables: [String: Any] = [
            NSMigrationManagerKey: self, NSMigrationEntityMappingKey: step.mapping, NSMigrationEntityPolicyKey: step.policy,
        ]
        variables[NSMigrationPropertyMappingKey] = property
        variables[NSMigrationSourceObjectKey] = source
        variables[NSMigrationDestinationObjectKey] = destination
        return variables
    }

    /// - Throws: 134110 for an expression that cannot be evaluated; the errors of a policy's functions.
    final func evaluate(
        _ node: ExpressionNode, _ mapping: NSEntityMapping, _ property: String, _ variables: [String: Any]
    ) throws -> PredicateValue {
        let value: PredicateValue
        do {
            value = try node.value(PredicateScope(subject: variables[NSMigrationSourceObjectKey], variables: variables))
        } catch let error where error is PredicateFault || error is PredicateFormatError {
            throw MigrationErrors.expression(error, mapping, property)
        }
        if let key = reader.making.unknownKey ?? writer.making.unknownKey {
            throw MigrationErrors.expression(PredicateFault(reason: "there is no property \(key)"), mapping, property)
        }
        return value
    }
}
