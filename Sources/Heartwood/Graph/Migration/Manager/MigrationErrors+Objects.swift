import Foundation

/// The errors of the saves that a migration makes.
extension MigrationErrors {
    /// 134111 for the violation of a uniqueness constraint; other errors unchanged.
    static func ofSave(_ error: any Error) -> any Error {
        guard CoreDataError.isCode(NSManagedObjectConstraintMergeError, error) else { return error }
        return CoreDataError.make(
            NSMigrationConstraintViolationError,
            "The store was not migrated: objects would break a uniqueness constraint of the new model. \(error.localizedDescription)",
            [NSUnderlyingErrorKey: withoutObjects(error), "reason": "constraint violation during attempted migration"])
    }

    /// An error of validation or of a save, with entities instead of objects: the objects' context is released with the migration.
    static func withoutObjects(_ error: any Error) -> NSError {
        let known = error as NSError
        var info = known.userInfo
        if let object = info.removeValue(forKey: NSValidationObjectErrorKey) as? NSManagedObject { info["entity"] = object.entity.name }
        if info[NSValidationValueErrorKey] is NSManagedObject { info[NSValidationValueErrorKey] = nil }
        for key in [NSAffectedObjectsErrorKey, NSPersistentStoreSaveConflictsErrorKey] { info[key] = nil }
        if let all = info[NSDetailedErrorsKey] as? [any Error] { info[NSDetailedErrorsKey] = all.map { withoutObjects($0) } }
        return known.domain == NSCocoaErrorDomain
            ? CoreDataError.make(known.code, known.localizedDescription, info) : NSError(domain: known.domain, code: known.code, userInfo: info)
    }
}
