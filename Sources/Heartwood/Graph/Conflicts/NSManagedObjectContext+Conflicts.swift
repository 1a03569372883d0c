import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Sets `mergePolicy`; the property's setter calls this.
    final func setPolicy(_ newValue: Any) {
        guard let new = newValue as? NSMergePolicy else {
            misuse("A context's merge policy is an NSMergePolicy, not \(type(of: newValue)).")
        }
        policy = new
    }

    /// Makes the next save check this object for conflicts, although this context does not change it: if another context or process has
    /// changed it since it was read, the merge policy decides.
    public final func detectConflicts(for object: NSManagedObject) {
        checkQueue()
        guard object.managedObjectContext === self, object.state.isDisjoint(with: [.inserted, .detached]) else { return }
        _ = object.row
        if !pending.checked.contains(where: { $0 === object }) { pending.checked.append(object) }
    }

    /// Gives every changed object to its store. Conflicts that the stores report go to the merge policy, and the save is repeated, up to
    /// `attemptsMax` times.
    final func saveToStores() throws {
        var attempts = 0
        var done: [NSPersistentStore] = []
        pending.derivedKeys = []
        while true {
            do {
                if attempts > 0 { try partFromDeleted() }
                try agreePairs()
                let batches = try makeBatches()
                try checkReferencesAcrossStores()
                try saveMetadata(besides: batches)
                try save(batches, done: &done)
                takeOwnCommits(batches)
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

    /// The number of attempts after which conflicts become an error. Each attempt can meet another commit, but not so many in a row: six
    /// writers that take turns at a slow store stay far below.
    static let attemptsMax = 500

    // MARK: Conflicts as the policies see them

    private func mergeConflicts(_ conflicts: VersionConflicts) throws -> [NSMergeConflict] {
        try conflicts.objects.map { object in
            guard let store = object.runtime.store else { throw CoreDataError.noStore(for: object.entity) }
            let old = try view(of: store).shownVersion(object.rowVersion, of: object.key)
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
