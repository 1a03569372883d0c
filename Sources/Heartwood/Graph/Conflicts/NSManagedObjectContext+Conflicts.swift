import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Sets `mergePolicy`; the property's setter calls this.
    final func setPolicy(_ newValue: Any) {
        guard let new = newValue as? NSMergePolicy else {
            preconditionFailure("A context's merge policy is an NSMergePolicy, not \(type(of: newValue)).")
        }
        policy = new
    }

    /// Lets the next save fail, as the merge policy says, where somebody else has changed this object meanwhile, although this
    /// context does not change it.
    public final func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        guard object.managedObjectContext === self, object.state.isDisjoint(with: [.inserted, .detached]) else { return }
        _ = object.row
        if !checked.contains(where: { $0 === object }) { checked.append(object) }
    }

    /// Gives every changed object to its store. What the stores refuse for a conflict goes to the merge policy, and is tried
    /// again; a policy that changes nothing about it is not asked forever.
    final func saveToStores() throws {
        var attempts = 0
        var done: [NSPersistentStore] = []
        derivedKeys = []
        while true {
            do {
                try agreePairs()
                let batches = try makeBatches()
                try checkReferencesAcrossStores()
                try saveMetadata(besides: batches)
                try save(batches, done: &done)
                return advanceGeneration()
            } catch let conflicts as VersionConflicts {
                let policy = attempts < Self.attemptsMax ? policy : .error
                try readingNewest { try policy.resolve(optimisticLockingConflicts: try mergeConflicts(conflicts)) }
            } catch let violations as ConstraintViolations {
                let policy = attempts < Self.attemptsMax ? policy : .error
                try callWillSave { try readingNewest { try policy.resolve(constraintConflicts: try constraintConflicts(violations)) } }
            }
            attempts += 1
            compactListed()
        }
    }

    /// Each attempt can meet a commit of somebody else; so many in a row no lively neighbours make, not even six of them that take
    /// turns at a store whose saves are slow.
    static let attemptsMax = 500

    // MARK: Conflicts as the policies see them

    private func mergeConflicts(_ conflicts: VersionConflicts) throws -> [NSMergeConflict] {
        try conflicts.objects.map { object in
            guard let store = object.runtime.store else { throw CoreDataError.noStore(for: object.entity) }
            let old = try (view(of: store) as? IncrementalView)?.named(object.rowVersion, of: object.key) ?? object.rowVersion
            let known = try (conflicts.known ?? view(of: store)).row(object.key)
            let newest = try view(of: store).row(object.key)
            let isKnown = known?.version == newest?.version
            return NSMergeConflict(
                source: object, newVersion: Int(newest?.version ?? 0), oldVersion: Int(old),
                cachedSnapshot: known.map { object.snapshot(of: $0) },
                persistedSnapshot: isKnown ? nil : newest.map { object.snapshot(of: $0) })
        }
    }

    private func constraintConflicts(_ violations: ConstraintViolations) throws -> [NSConstraintConflict] {
        try violations.list.map { violation in
            var holder: NSManagedObject?
            var snapshot: [String: Any]?
            if let key = violation.holder, let found = object(for: key), let store = found.runtime.store {
                holder = found
                snapshot = try view(of: store).row(key).map { found.snapshot(of: $0) }
            }
            return NSConstraintConflict(
                constraint: violation.attributes, database: holder, databaseSnapshot: snapshot,
                conflicting: violation.objects, conflictingSnapshots: violation.objects.map { $0.committedSnapshot ?? [:] })
        }
    }
}
