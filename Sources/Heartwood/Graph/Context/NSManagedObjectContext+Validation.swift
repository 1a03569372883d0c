import Foundation

extension NSManagedObjectContext {
    /// Validates every object that the next save writes.
    /// - Throws: one error, or 1560 with all errors under `NSDetailedErrorsKey`.
    final func validateForSave() throws {
        if let unfulfilled = pending.unfulfilled { throw unfulfilled }
        try ValidationErrors.throwing { errors in
            for object in pending.listed { validate(object, into: &errors) }
            guard pending.listed.contains(where: \.isDeleted) else { return }
            for object in pending.listed where !object.isDeleted { object.validateReferences(into: &errors) }
        }
    }

    /// Validates those of `objects` that the next save writes.
    final func validate(_ objects: [NSManagedObject]) throws {
        guard !making.skipsValidation else { return }
        try ValidationErrors.throwing { errors in
            for object in objects where object.hasChanges && !object.state.contains(.detached) { validate(object, into: &errors) }
        }
    }

    @inline(__always)
    private func validate(_ object: NSManagedObject, into errors: inout [any Error]) {
        guard !object.runtime.isPlainClass else {
            if object.isDeleted {
                object.validateDeleteRules(into: &errors)
            } else {
                object.validateByModel(into: &errors)
            }
            return
        }
        do {
            if object.isDeleted {
                try object.validateForDelete()
            } else if object.isInserted {
                try object.validateForInsert()
            } else {
                try object.validateForUpdate()
            }
        } catch {
            ValidationErrors.append(error, to: &errors)
        }
        // An override need not call `super`.
        if !object.isDeleted { object.reportUnfit(into: &errors) }
    }
}
