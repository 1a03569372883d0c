import Foundation
import RecordLog

/// Brings objects of a store's past into the store as it is now, through a context and in one save.
///
/// An object that was deleted since gets its old row number again, and so its old URI: a row number is never given to another object of the same
/// line of commits. An object that another line has made after the two parted is a new one here, and gets a number of its own
/// (`CommonCommit`). An object that is there and has other values is a conflict. Relationships to objects that are there, or that come along, are
/// kept.
/// Memory: O(objects that match).
package final class CherryPick {
    /// The treatment of conflicts.
    package enum Policy: String, CaseIterable {
        /// Nothing is saved.
        case refuse
        /// Present values and objects stay, and the rest is saved.
        case keep
        /// As `keep`, and changed objects get their old values.
        case overwrite
    }

    private let source: NSManagedObjectContext
    private let target: NSManagedObjectContext
    private let store: RecordLogStore
    private let common: CommonCommit
    private let comparison: ModelComparison
    private let policy: Policy
    private var report = CherryPickReport()
    /// The objects of today for those of the past that come along.
    private var picked: [NSManagedObjectID: NSManagedObject] = [:]
    private var coming: Set<ObjectIdentifier> = []
    /// Those of them that get their old values, in the order of the fetch.
    private var written: [(past: NSManagedObject, now: NSManagedObject)] = []

    /// - Parameters:
    ///   - source: a context over one store, as of a past commit.
    ///   - target: a context over the same store as it is now, without changes.
    ///   - origins: the lines of commits that a backup knows, by identity, each with the line that it left.
    /// - Throws: 134070 if the two are not of one identity, and if it is not known up to which commit they are the same.
    package init(
        from source: NSManagedObjectContext, into target: NSManagedObjectContext, _ policy: Policy, origins: [StoredUUID: Lineage] = [:]
    ) throws {
        guard let past = source.persistentStoreCoordinator, let now = target.persistentStoreCoordinator,
            let before = past.persistentStores.first?.ownLog, let store = now.persistentStores.first?.ownLog
        else { throw CoreDataError.unsupported("A cherry-pick goes from a record log to a record log.") }
        guard before.identifier == store.identifier else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "\(before.url?.path ?? "?") and \(store.url?.path ?? "?") are different stores. Objects come back from a past commit, a copy "
                    + "or a backup of the same store.")
        }
        (self.source, self.target, self.store, self.policy) = (source, target, store, policy)
        common = try CommonCommit(of: before, store, origins: origins)
        comparison = ModelComparison(comparing: past.managedObjectModel, with: now.managedObjectModel)
    }

    /// - Parameters:
    ///   - objects: of the past, from the context `source`.
    ///   - isDry: whether to report only.
    /// - Throws: the errors of reading and of the save; nothing is saved then. With the policy `refuse` conflicts are no error, and nothing is
    ///   saved.
    package func run(_ objects: [NSManagedObject], isDry: Bool) throws -> CherryPickReport {
        report.found = objects.count
        for past in objects { try pick(past) }
        // All at once: each adoption looks at every object.
        target.adoptKeys()
        target.tree.dropIfAlone()
        coming = Set(picked.values.map(ObjectIdentifier.init))
        for (past, now) in written { try copyAttributes(past, now) }
        try dropThoseNotUnique()
        for (past, now) in written { try copyRelationships(past, now) }
        validate()
        if let failure = source.readingFailure ?? target.readingFailure { throw failure }
        let isRefused = policy == .refuse && !report.conflicts.isEmpty
        guard !isDry, !isRefused, target.hasChanges else { return report }
        try target.save()
        report.isSaved = true
        return report
    }

    // MARK: Objects

    private func uri(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().absoluteString }

    private func note(_ reason: CherryPickReport.Conflict.Reason, _ object: NSManagedObject, _ detail: String) {
        report.conflicts.append(.init(reason: reason, object: uri(object), detail: detail))
    }

    private func pick(_ past: NSManagedObject) throws {
        guard let entity = comparison.pair(from: past.entity)?.destination, !entity.isAbstract else {
            return note(.invalid, past, "the store has no entity \(past.entity.name ?? "?") any more")
        }
        guard let known = try present(past, entity) else {
            let made = insert(past, entity)
            picked[past.objectID] = made
            return written.append((past, made))
        }
        picked[past.objectID] = known
        let changed = try changes(past, known)
        guard !changed.isEmpty else { return }
        if policy == .overwrite {
            report.updated.append((uri(known), changed))
            written.append((past, known))
        } else {
            note(.changedSince, known, "changed since: \(changed.joined(separator: ", "))")
        }
    }

    /// The object of today; nil if it was deleted.
    private func present(_ past: NSManagedObject, _ entity: NSEntityDescription) throws -> NSManagedObject? {
        guard let key = key(past, entity) else { return nil }
        // The context must not come to know a key that has no row: an object may come back under it.
        guard try target.view(of: store).row(key) != nil else { return nil }
        return try target.existingObject(with: NSManagedObjectID(entity: entity, key: key, store: store, contextToken: 0))
    }

    /// The key that an object of the past has today, if it has one. Its number may be another object's in the store's line.
    private func key(_ past: NSManagedObject, _ entity: NSEntityDescription) -> ObjectKey? {
        guard let row = past.objectID.rowReference?.row else { return nil }
        let key = ObjectKey(slot: target.runtime(for: entity).slot, row: row)
        return common.isShared(store.rowReference(key)) ? key : nil
    }

    private func insert(_ past: NSManagedObject, _ entity: NSEntityDescription) -> NSManagedObject {
        let made = target.objectClass(of: entity).init(entity: entity, insertInto: target)
        // A number that was not given yet is another object's later: the past is of another line of commits then.
        if let key = key(past, entity), let snapshot = store.log?.snapshot(), key.row < snapshot.rowLimit(store.rowReference(key).table) {
            target.tree.rename(made.key, to: key)
        } else {
            report.renumbered.append(uri(past))
        }
        report.inserted.append(uri(past))
        return made
    }

    // MARK: Values

    /// The properties that both versions of the model have, and that are set: derived attributes follow from others.
    private func pairs(_ past: NSManagedObject, _ now: NSManagedObject) -> [(old: NSPropertyDescription, new: NSPropertyDescription)] {
        let matches = comparison.pair(to: now.entity)?.matches ?? []
        return now.entity.orderedProperties.compactMap { new in
            guard !new.isTransient, !(new is NSDerivedAttributeDescription) else { return nil }
            let name = matches.first { $0.destination === new }?.source.name ?? new.name
            guard let index = past.runtime.index(of: name) else { return nil }
            let old = past.entity.propertiesByIndex[index]
            guard !old.isTransient, (old is NSAttributeDescription) == (new is NSAttributeDescription) else { return nil }
            return (old, new)
        }
    }

    private func changes(_ past: NSManagedObject, _ now: NSManagedObject) throws -> [String] {
        try pairs(past, now).filter { try !isEqual($0.old, past, $0.new, now) }.map(\.new.name)
    }

    private func isEqual(
        _ old: NSPropertyDescription, _ past: NSManagedObject, _ new: NSPropertyDescription, _ now: NSManagedObject
    ) throws -> Bool {
        guard let from = old as? NSRelationshipDescription, let to = new as? NSRelationshipDescription else {
            let a = past.managedValue(old.index), b = now.managedValue(new.index)
            return a.isEqual(to: b) || past.runtime.properties[old.index].kind != now.runtime.properties[new.index].kind
                && (past.managedAttribute(at: old.index) as? NSObject)?.isEqual(now.managedAttribute(at: new.index)) == true
        }
        let before = try past.destinations(of: from).map { try present($0) }, after = now.destinations(of: to)
        guard before.allSatisfy({ $0 != nil }), before.count == after.count else { return false }
        return to.isOrdered ? zip(before, after).allSatisfy { $0 === $1 } : Set(before.compactMap(\.self)) == Set(after)
    }

    private func copyAttributes(_ past: NSManagedObject, _ now: NSManagedObject) throws {
        for case let (old, new as NSAttributeDescription) in pairs(past, now) {
            guard !(try isEqual(old, past, new, now)) else { continue }
            do {
                if case .data(let bytes) = past.managedValue(old.index), new.attributeType == .transformableAttributeType {
                    now.setStoredData(bytes, of: new)
                } else {
                    try now.assign(past.managedAttribute(at: old.index), to: new)
                }
            } catch {
                note(.invalid, now, "\(new.name): \((error as NSError).localizedDescription)")
            }
        }
    }

    // MARK: Uniqueness

    private func dropThoseNotUnique() throws {
        for (past, now) in written {
            guard let (constraint, other) = try breach(now) else { continue }
            let values = constraint.map { "\($0) = \(ValueText.of(now.value(forKey: $0)))" }.joined(separator: ", ")
            note(.notUnique, past, "\(uri(other)) has \(values) now")
            picked[past.objectID] = now.isInserted ? nil : now
            report.inserted.removeAll { $0 == uri(past) }
            report.updated.removeAll { $0.object == uri(now) }
            written.removeAll { $0.now === now }
            if now.isInserted { target.delete(now) } else { target.refresh(now, mergeChanges: false) }
        }
    }

    /// A constraint that the object would break, and the object of the store that has its values.
    private func breach(_ object: NSManagedObject) throws -> (constraint: [String], other: NSManagedObject)? {
        for constraint in object.entity.allUniquenessConstraints {
            let values = constraint.compactMap { name in object.value(forKey: name).map { (name, $0) } }
            guard values.count == constraint.count else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: object.entity.owner(ofConstraint: constraint).name ?? "")
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: values.map { name, value in
                NSPredicate(format: "%K == %@", argumentArray: [name, (value as? NSManagedObject)?.objectID ?? value])
            })
            request.includesPendingChanges = false
            if let other = try target.fetch(request).first(where: { $0 !== object }) { return (constraint, other) }
        }
        return nil
    }

    // MARK: Relationships

    /// The object of today for a destination of the past; nil if it is gone and does not come along.
    private func present(_ destination: NSManagedObject) throws -> NSManagedObject? {
        if let known = picked[destination.objectID] { return known }
        guard let entity = comparison.pair(from: destination.entity)?.destination, !entity.isAbstract else { return nil }
        return try present(destination, entity)
    }

    private func copyRelationships(_ past: NSManagedObject, _ now: NSManagedObject) throws {
        for case let (old as NSRelationshipDescription, new as NSRelationshipDescription) in pairs(past, now) {
            guard !(try isEqual(old, past, new, now)) else { continue }
            let wanted = try past.destinations(of: old).compactMap { try destination($0, new, now) }
            if new.isToMany {
                try now.assign(new.isOrdered ? NSOrderedSet(array: wanted) : NSSet(array: wanted), to: new)
            } else {
                try now.assign(wanted.first, to: new)
            }
        }
    }

    /// - Returns: nil if the relationship cannot lead to the destination any more.
    private func destination(
        _ past: NSManagedObject, _ relationship: NSRelationshipDescription, _ owner: NSManagedObject
    ) throws -> NSManagedObject? {
        guard let found = try present(past) else {
            note(.missingTarget, owner, "\(relationship.name): \(uri(past)) is gone")
            return nil
        }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany, !coming.contains(ObjectIdentifier(found)),
            let holder = found.managedObject(at: inverse.index), holder !== owner
        {
            note(.takenTarget, owner, "\(relationship.name): \(uri(found)) has \(uri(holder)) as its \(inverse.name) now")
            return nil
        }
        return found
    }

    private func validate() {
        for (_, now) in written {
            do {
                if now.isInserted { try now.validateForInsert() } else { try now.validateForUpdate() }
            } catch {
                note(.invalid, now, (error as NSError).localizedDescription)
            }
        }
    }
}
