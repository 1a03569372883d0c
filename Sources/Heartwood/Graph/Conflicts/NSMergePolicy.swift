import Foundation

/// The way in which a merge policy resolves conflicts.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// Decides, during a save, about objects that another context or process has changed in the meantime, and about values that must be unique.
///
/// A subclass overrides `resolve(optimisticLockingConflicts:)` or `resolve(constraintConflicts:)`, changes the objects, and calls `super`,
/// which prepares them for the repeated save. If the override throws, the save throws that error.
/// Source: https://developer.apple.com/documentation/coredata/nsmergepolicy
open class NSMergePolicy: NSObject {
    open private(set) var mergeType: NSMergePolicyType

    public init(merge type: NSMergePolicyType) {
        mergeType = type
        super.init()
    }

    /// The save fails with 133020, or 133021 for uniqueness, and lists the conflicts under `NSPersistentStoreSaveConflictsErrorKey`.
    public class var error: NSMergePolicy { Shared.error }
    /// Property by property, the store's changes win over the context's.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { Shared.mergeByPropertyStoreTrump }
    /// Property by property, the context's changes win over the store's.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { Shared.mergeByPropertyObjectTrump }
    /// The save writes the whole object as the context has it, including unchanged properties.
    public class var overwrite: NSMergePolicy { Shared.overwrite }
    /// The context drops its changes of the object.
    public class var rollback: NSMergePolicy { Shared.rollback }

    private enum Shared {
        // Unchecked: the built-in policies do not change.
        nonisolated(unsafe) static let error = NSMergePolicy(merge: .errorMergePolicyType)
        nonisolated(unsafe) static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        nonisolated(unsafe) static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        nonisolated(unsafe) static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
        nonisolated(unsafe) static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    }

    /// Resolves conflicts of both kinds.
    /// - Parameter list: `NSMergeConflict`s and `NSConstraintConflict`s.
    /// - Throws: an error that makes the save fail; the save rethrows it, and the context keeps its changes.
    open func resolve(mergeConflicts list: [Any]) throws {
        try resolveVersions(list.compactMap { $0 as? NSMergeConflict })
        try resolveConstraints(list.compactMap { $0 as? NSConstraintConflict })
    }

    /// Resolves conflicts between versions of an object; a save calls this.
    /// - Throws: as `resolve(mergeConflicts:)`, which the default calls.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try resolve(mergeConflicts: list)
    }

    /// Resolves breaches of uniqueness constraints; a save calls this.
    /// - Throws: as `resolve(mergeConflicts:)`.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try resolveConstraints(list)
    }

    private func resolveVersions(_ list: [NSMergeConflict]) throws {
        guard let first = list.first else { return }
        guard mergeType != .errorMergePolicyType else {
            let uri = first.sourceObject.objectID.uriRepresentation().absoluteString
            throw CoreDataError.make(
                NSManagedObjectMergeError,
                list.count == 1
                    ? "\(uri) was changed in the store since it was read. Refresh it and save again, or set a merge policy."
                    : "\(list.count) objects were changed in the store since they were read, the first of them \(uri). Refresh them and save "
                        + "again, or set a merge policy.",
                [NSPersistentStoreSaveConflictsErrorKey: list, NSAffectedObjectsErrorKey: list.map(\.sourceObject)])
        }
        for conflict in list { try VersionResolution(conflict.sourceObject, mergeType)?.run() }
    }

    private func resolveConstraints(_ list: [NSConstraintConflict]) throws {
        guard let first = list.first else { return }
        guard mergeType != .errorMergePolicyType else {
            let values = first.constraint.map { "\(first.constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError,
                "Another \(first.conflictingObjects.first?.entity.name ?? "?") has the same \(first.constraint.joined(separator: ", ")): "
                    + "\(values). The model says that it is unique.",
                [
                    NSPersistentStoreSaveConflictsErrorKey: list, NSAffectedObjectsErrorKey: list.flatMap(\.conflictingObjects),
                ])
        }
        for conflict in list { ConstraintResolution(conflict, mergeType).run() }
    }
}

/// Same as `NSMergePolicy.error`.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// Same as `NSMergePolicy.mergeByPropertyStoreTrump`.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
/// Same as `NSMergePolicy.mergeByPropertyObjectTrump`.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// Same as `NSMergePolicy.overwrite`.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// Same as `NSMergePolicy.rollback`.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
