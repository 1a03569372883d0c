import Foundation

/// The checks that a save makes of one object. Only properties with a declared constraint cost anything (`PropertyCheck`).
extension NSManagedObject {
    /// Like `validateValue(_:forKey:)`, for a value in a variable.
    public final func validateValue(_ value: inout AnyObject?, forKey key: String) throws {
        let slot = ValueSlot<AnyObject?>(value)
        try validateValue(AutoreleasingUnsafeMutablePointer(slot: slot), forKey: key)
        value = slot.value
    }

    /// Implements the default of `validateValue(_:forKey:)`.
    final func validateByModel(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        if let slot = value.slot.property, slot.owner === self, !slot.isReplaced, runtime.properties[slot.index].name == key {
            guard let check = runtime.checksByProperty[slot.index] else { return }
            return try ValidationErrors.throwing { validatePresent(check, into: &$0) }
        }
        guard let index = runtime.index(of: key) else { return }
        let object = value.pointee is NSNull ? nil : value.pointee
        guard let check = runtime.checksByProperty[index] else {
            let property = runtime.properties[index]
            let isAttribute = !property.kind.isRelationship && property.kind != .undefined && property.kind != .objectID
            guard isAttribute, ManagedValue(attributeObject: object, kind: property.kind) == nil else { return }
            throw ValidationErrors.mismatch(object, self, property)
        }
        try ValidationErrors.throwing { errors in
            if check.kind == .toMany {
                validate(count: NSManagedObject.members(of: object)?.count ?? 0, check, into: &errors)
                validate(object, check, into: &errors)
            } else if check.kind == .toOne {
                validate(object as? NSManagedObject, check, into: &errors)
            } else if let converted = ManagedValue(attributeObject: object, kind: check.kind) {
                validate(converted, check, into: &errors)
            } else {
                errors.append(ValidationErrors.mismatch(object, self, runtime.properties[index]))
            }
        }
    }

    /// Implements the default of `validateForInsert()` and `validateForUpdate()`.
    final func validateProperties() throws {
        try ValidationErrors.throwing { errors in
            guard !runtime.isPlainClass else { return validateByModel(into: &errors) }
            let slot = PropertySlot(owner: self)
            for index in runtime.properties.indices {
                slot.move(to: index)
                do {
                    try validateValue(AutoreleasingUnsafeMutablePointer(slot: slot), forKey: runtime.properties[index].name)
                    if slot.isReplaced { try setValue(slot.value, at: index) }
                } catch is ValueMismatch {
                    errors.append(ValidationErrors.mismatch(slot.value, self, runtime.properties[index]))
                } catch {
                    ValidationErrors.append(error, to: &errors)
                }
            }
            reportUnfit(into: &errors)
        }
    }

    /// Reports each number that its attribute cannot hold, unless its property has an error already.
    @inline(__always)
    final func reportUnfit(into errors: inout [any Error]) {
        if let storage, storage.mayHoldUnfit { reportUnfit(in: storage, into: &errors) }
    }

    @inline(never)
    private func reportUnfit(in storage: ObjectStorage, into errors: inout [any Error]) {
        for (index, value) in storage.values.enumerated() {
            guard case .object(let object) = value, let number = AttributeCoding.unfitNumber(object, runtime.properties[index].kind) else { continue }
            let isKnown = errors.contains { error in
                let info = (error as NSError).userInfo
                return info[NSValidationObjectErrorKey] as? NSManagedObject === self
                    && info[NSValidationKeyErrorKey] as? String == runtime.properties[index].name
            }
            if !isKnown { errors.append(ValidationErrors.mismatch(number, self, runtime.properties[index])) }
        }
    }

    /// Checks every value against the model, without overrides.
    final func validateByModel(into errors: inout [any Error]) {
        for check in runtime.checks { validatePresent(check, into: &errors) }
        reportUnfit(into: &errors)
    }

    /// Checks the current value. An unchanged value existed when it was saved, but the model's limits may be newer than it is. An unchanged
    /// relationship is not read.
    private final func validatePresent(_ check: PropertyCheck, into errors: inout [any Error]) {
        let value = storage.flatMap { $0.values.isEmpty ? nil : $0.values[check.index] } ?? .unset
        switch value {
        case .unset where isInserted, .null where check.kind == .toMany:
            if check.kind == .toMany { validate(count: 0, check, into: &errors) } else { validate(.null, check, into: &errors) }
        case .unset:
            guard !check.rules.isEmpty, !check.kind.isRelationship else { return }
            let committed = committedValue(check.index)
            if !committed.isNull { validate(committed, check, into: &errors) }
        case .toMany(let members):
            guard members.isChanged || isInserted else { return }
            if check.mustCount(members) { validate(count: memberKeys(at: check.index).count, check, into: &errors) }
            if !check.rules.isEmpty { validate(self.value(at: check.index), check, into: &errors) }
        case .reference(let key) where !key.isNone:
            if !check.rules.isEmpty { validate(self.value(at: check.index), check, into: &errors) }
        default: validate(value, check, into: &errors)
        }
    }

    /// Checks the current value, changed or not.
    final func validateWhole(_ check: PropertyCheck, into errors: inout [any Error]) {
        switch check.kind {
        case .toMany:
            validate(count: countOfManagedObjects(at: check.index), check, into: &errors)
            if !check.rules.isEmpty { validate(value(at: check.index), check, into: &errors) }
        case .toOne: validate(value(at: check.index), check, into: &errors)
        default: validate(managedValue(check.index), check, into: &errors)
        }
    }

    /// Checks an attribute's value, or null.
    private final func validate(_ value: ManagedValue, _ check: PropertyCheck, into errors: inout [any Error]) {
        guard !value.isNull else {
            guard check.isRequired else { return }
            return errors.append(ValidationErrors.make(NSValidationMissingMandatoryPropertyError, self, check, nil))
        }
        for rule in check.rules {
            let isValid = rule.test.holds(value) ?? rule.predicate.holds(
                AttributeCoding.object(value, property: entity.propertiesByIndex[check.index], kind: check.kind))
            if !isValid {
                let object = AttributeCoding.object(value, property: entity.propertiesByIndex[check.index], kind: check.kind)
                errors.append(ValidationErrors.make(rule, self, check, object))
            }
        }
    }

    /// Checks a relationship's destination or members against predicates, and requires a mandatory to-one destination.
    private final func validate(_ object: Any?, _ check: PropertyCheck, into errors: inout [any Error]) {
        guard let object else {
            if check.isRequired, check.kind == .toOne {
                errors.append(ValidationErrors.make(NSValidationMissingMandatoryPropertyError, self, check, nil))
            }
            return
        }
        for rule in check.rules where !rule.predicate.holds(object) { errors.append(ValidationErrors.make(rule, self, check, object)) }
    }

    private final func validate(count: Int, _ check: PropertyCheck, into errors: inout [any Error]) {
        guard let code = check.failure(ofCount: count) else { return }
        errors.append(ValidationErrors.make(code, self, check, value(at: check.index)))
    }

    /// Implements the default of `validateForDelete()`.
    final func validateDeleteRules() throws {
        guard !runtime.denyRelationships.isEmpty else { return }
        try ValidationErrors.throwing { validateDeleteRules(into: &$0) }
    }

    /// Reports relationships with a deny rule and a destination that stays.
    final func validateDeleteRules(into errors: inout [any Error]) {
        guard !state.contains(.inaccessible) else { return }
        for index in runtime.denyRelationships {
            let remaining = runtime.properties[index].kind == .toMany
                ? managedObjects(at: index) : managedObject(at: index).map { [$0] } ?? []
            guard remaining.contains(where: { !$0.isDeleted }) else { continue }
            errors.append(ValidationErrors.denied(self, runtime.properties[index].name, value(at: index)))
        }
    }
}

extension NSPredicate {
    /// Whether a value in memory satisfies the predicate; false if the predicate cannot be evaluated.
    fileprivate func holds(_ subject: Any?) -> Bool {
        (try? node.evaluate(subject)) ?? false
    }
}
