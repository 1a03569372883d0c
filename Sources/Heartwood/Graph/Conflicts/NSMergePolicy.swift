import Foundation

/// What a merge policy does.
public enum NSMergePolicyType: UInt, Sendable {
    case errorMergePolicyType = 0
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    case overwriteMergePolicyType = 3
    case rollbackMergePolicyType = 4
}

/// Decides what a save does about objects that somebody else has changed meanwhile, and about values that must be unique.
///
/// A subclass overrides `resolve(optimisticLockingConflicts:)` or `resolve(constraintConflicts:)`, changes the objects as it
/// likes, and calls `super`, which makes them fit for the save that follows; or throws, and the save throws that.
/// Source: https://developer.apple.com/documentation/coredata/nsmergepolicy
open class NSMergePolicy: NSObject {
    open private(set) var mergeType: NSMergePolicyType

    public init(merge type: NSMergePolicyType) {
        mergeType = type
        super.init()
    }

    /// The save fails: 133020, or 133021 for uniqueness, with the conflicts under `NSPersistentStoreSaveConflictsErrorKey`.
    public class var error: NSMergePolicy { Shared.error }
    /// Property by property, the store's changes win over the context's.
    public class var mergeByPropertyStoreTrump: NSMergePolicy { Shared.mergeByPropertyStoreTrump }
    /// Property by property, the context's changes win over the store's.
    public class var mergeByPropertyObjectTrump: NSMergePolicy { Shared.mergeByPropertyObjectTrump }
    /// The whole object goes to the store as the context has it, properties that it did not change included.
    public class var overwrite: NSMergePolicy { Shared.overwrite }
    /// The context's changes of the object are dropped.
    public class var rollback: NSMergePolicy { Shared.rollback }

    private enum Shared {
        // The policies have nothing that changes.
        nonisolated(unsafe) static let error = NSMergePolicy(merge: .errorMergePolicyType)
        nonisolated(unsafe) static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        nonisolated(unsafe) static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        nonisolated(unsafe) static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
        nonisolated(unsafe) static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    }

    /// Resolves conflicts of both kinds.
    /// - Parameter list: `NSMergeConflict`s and `NSConstraintConflict`s.
    /// - Throws: where the policy is to throw; the save throws it on, and the context keeps its changes.
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
            throw CoreDataError.make(
                NSManagedObjectMergeError,
                "\(list.count) objects were changed in the store since they were read, the first of them "
                    + "\(first.sourceObject.objectID.uriRepresentation().absoluteString). Refresh them and save again, "
                    + "or set a merge policy.",
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

/// As `NSMergePolicy.error`.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// As `NSMergePolicy.mergeByPropertyStoreTrump`.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
/// As `NSMergePolicy.mergeByPropertyObjectTrump`.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// As `NSMergePolicy.overwrite`.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// As `NSMergePolicy.rollback`.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
