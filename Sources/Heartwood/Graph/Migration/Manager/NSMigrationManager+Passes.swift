import Foundation

/// The three passes, and the saves between them.
extension NSMigrationManager {
    /// Makes the destination's objects from the source's.
    final func goThrough() throws {
        try makeSteps()
        nextSaveAt = portion
        try pass(0) { try makeInstances(of: $0, report: $1) }
        try save(isLast: true)
        try pass(1) { try makeRelationships(of: $0, report: $1) }
        try save(isLast: true)
        try pass(2) { step, _ in try step.policy.performCustomValidation(forMapping: step.mapping, manager: self) }
        try save(isLast: true)
        try validate()
        for step in steps {
            currentMapping = step.mapping
            try step.policy.end(step.mapping, manager: self)
        }
        try save(isLast: true)
    }

    /// - Parameter body: reports through its second argument which fraction of the step is done.
    private func pass(_ number: Int, _ body: (MigrationStep, _ report: (Double) -> Void) throws -> Void) throws {
        for (index, step) in steps.enumerated() {
            try checkCancellation()
            currentMapping = step.mapping
            let report = { (part: Double) in
                self.setProgress(Float((Double(number) + (Double(index) + part) / Double(self.steps.count)) / 3))
            }
            try body(step, report)
            report(1)
        }
        currentMapping = nil
    }

    // MARK: Steps

    private func makeSteps() throws {
        steps = try (ownMappingModel.entityMappings ?? []).map { mapping in
            let source = try entity(mapping.sourceEntityName, in: sourceModel, mapping, isSource: true, mapping.sourceEntityVersionHash)
            let destination = try entity(
                mapping.destinationEntityName, in: destinationModel, mapping, isSource: false, mapping.destinationEntityVersionHash)
            if let destination { try check(mapping, destination) }
            return MigrationStep(mapping, try policy(of: mapping), source, destination)
        }
        for step in steps { step.leaveOutInverses(among: steps) }
        for step in steps where step.asksSource {
            guard let source = step.source else { continue }
            stepsBySlot[reader.runtime(for: source).slot, default: []].append(step)
        }
    }

    private func entity(
        _ name: String?, in model: NSManagedObjectModel, _ mapping: NSEntityMapping, isSource: Bool, _ hash: Data?
    ) throws -> NSEntityDescription? {
        guard let name, !name.isEmpty else { return nil }
        guard let entity = model.entitiesByName[name] else { throw MigrationErrors.noEntity(name, mapping, isSource: isSource) }
        if let hash, hash != entity.versionHash { throw MigrationErrors.otherVersion(mapping, entity) }
        return entity
    }

    private func check(_ mapping: NSEntityMapping, _ entity: NSEntityDescription) throws {
        for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
            guard let name = property.name, entity.propertiesByName[name] == nil else { continue }
            throw MigrationErrors.make(
                "A property of the mapping model is not in the models", ["entity": entity.name ?? "", "property": name],
                "the mapping \(mapping.name ?? "?") names the property \(name), which the entity \(entity.name ?? "?") has not")
        }
    }

    private func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy() }
        guard let found = ManagedObjectClasses.find(name, as: NSEntityMigrationPolicy.self) else { throw MigrationErrors.noPolicy(name, mapping) }
        return found.init()
    }

    final func mapping(named name: String) -> NSEntityMapping? { steps.first { $0.mapping.name == name }?.mapping }

    final func step(of mapping: NSEntityMapping) -> MigrationStep? { steps.first { $0.mapping === mapping } }

    // MARK: Passes

    private func makeInstances(of step: MigrationStep, report: (Double) -> Void) throws {
        try step.policy.begin(step.mapping, with: self)
        if step.asksSource {
            let keys = try sourceKeys(of: step)
            for (index, key) in keys.enumerated() {
                try checkCancellation()
                guard let object = reader.object(for: key) else { continue }
                try step.policy.createDestinationInstances(forSource: object, in: step.mapping, manager: self)
                if try saveIfDue() { report(Double(index) / Double(keys.count)) }
            }
        }
        try step.policy.endInstanceCreation(forMapping: step.mapping, manager: self)
    }

    private func makeRelationships(of step: MigrationStep, report: (Double) -> Void) throws {
        let count = step.associations.count
        if !step.policy.isPlain || !step.relationships.isEmpty {
            for index in 0..<count {
                try checkCancellation()
                let key = step.associations.destinations[index]
                guard step.associations.isFirst(index), let object = writer.object(for: key) else { continue }
                // A policy may have deleted it.
                object.fireFault()
                guard !object.isDeleted else { continue }
                try step.policy.createRelationships(forDestination: object, in: step.mapping, manager: self)
                if try saveIfDue() { report(Double(index) / Double(count)) }
            }
        }
        try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: self)
    }

    /// The keys of the source's objects that a mapping selects.
    private func sourceKeys(of step: MigrationStep) throws -> [ObjectKey] {
        guard let source = step.source, reader.runtime(for: source).store != nil else { return [] }
        guard let expression = step.mapping.sourceExpression else {
            return try reader.keys(for: try sourceRequest(source.name ?? "", where: nil))
        }
        var node = expression.node
        // Evaluates only the request: its results are then read one by one, not all at once.
        if case .block(let block, let arguments) = node, case .fetch? = block.invocation, let request = arguments.first { node = request }
        let value = try evaluate(node, step.mapping, "the source's objects", variables(step, nil))
        if case .other(let object) = value, let request = object as? any ExecutableRequest, let keys = try request.keys(in: reader) {
            return keys
        }
        func keys(_ value: PredicateValue) throws -> [ObjectKey] {
            switch value {
            case .null: return []
            case .object(let object) where value.managedObject?.managedObjectContext === reader: return [object.key]
            case .collection(let members): return try members.flatMap(keys)
            default:
                throw MigrationErrors.expression(
                    PredicateFault(reason: "it gives neither a fetch request nor objects of the source"), step.mapping, "the source's objects")
            }
        }
        return try keys(value)
    }

    // MARK: Saving

    /// - Returns: whether it has saved.
    private func saveIfDue() throws -> Bool {
        guard writer.pending.listed.count >= nextSaveAt else { return false }
        try save(isLast: false)
        return true
    }

    private func save(isLast: Bool) throws {
        // Getters cannot throw. A failed read is remembered, and ends the migration, which would otherwise lose the value.
        if let failure = reader.readingFailure { throw MigrationErrors.ofSave(failure) }
        do {
            if writer.hasChanges { try writer.save() }
            nextSaveAt = portion
        } catch {
            // A policy may still remove the duplicates.
            guard !isLast, CoreDataError.isCode(NSManagedObjectConstraintMergeError, error) else { throw MigrationErrors.ofSave(error) }
            nextSaveAt = writer.pending.listed.count * 2
        }
        adoptSavedKeys()
    }

    /// Replaces temporary keys in the associations after a save. Policies may save as well.
    final func adoptSavedKeys() {
        guard let first = unsaved.first, first.key != first.object.key || writer.hasChanges == false else { return }
        unsaved.removeAll { step, key, object in
            guard object.key != key else { return !object.isInserted }
            step.associations.rename(key, to: object.key)
            return true
        }
    }
}
