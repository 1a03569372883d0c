import Foundation

/// Follows the context: turns its changes into a new list, and reports the difference to the delegate.
extension AnyFetchedResultsController {
    /// With more changed objects than this, one query is cheaper; it makes none of the objects.
    private static let candidateMax = 64

    /// Called when the context reports changes. Reports that arrive while the delegate handles another one wait for its end.
    final func follow(_ event: ResultsEvent) {
        guard let query, query.kind != .dictionaries else { return }
        guard delegate != nil else { return stopFollowing() }
        if case .reset = event { backlog = [] }
        backlog.append(event)
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while !backlog.isEmpty {
            let next = backlog.removeFirst()
            adoptKeys()
            switch next {
            case .changes(let events): take(events)
            case .saved(let objects): takeSave(of: objects)
            case .reset: takeReset()
            }
        }
    }

    /// Drops the order's values, since objects may have changed unnoticed. The next change that is followed fetches again.
    private func stopFollowing() { list.order = nil }

    private func takeSave(of objects: [NSManagedObject]) {
        guard let query else { return }
        guard !query.fetch.includesPendingChanges else { return takePush(of: objects, query) }
        let saved = unsaved
        unsaved = []
        refetch(query) { saved.contains($0) }
    }

    /// The relationships that a child saves to its parent are merged there with the changes of others.
    private func takePush(of objects: [NSManagedObject], _ query: ResultsQuery) {
        guard managedObjectContext.parentContext != nil else { return }
        var saved: [ObjectKey: NSManagedObject] = [:]
        for object in objects where query.family.contains(ObjectIdentifier(object.entity)) { saved[object.key] = object }
        guard !saved.isEmpty, !apply(Set(saved.keys), saved, query, isChanged: false) else { return }
        refetch(query, saved) { _ in false }
    }

    /// All objects are new after a reset. The delegate is not notified, as on Apple's platforms: the list stays, and the next change fetches again
    /// and compares.
    private func takeReset() {
        unsaved = []
        stopFollowing()
        list.renewObjects { managedObjectContext.object(for: $0) }
    }

    /// Adopts the permanent keys that objects have got, and notifies delegates that use IDs.
    private func adoptKeys() {
        guard list.hasTemporaryKeys else { return }
        let old = list
        let renamed = list.adoptKeys(keepsObjects: query?.keepsObjects ?? true)
        guard !renamed.isEmpty, !offerSnapshot(updated: []), sectionNameKeyPath == nil else { return }
        offerDifference(from: old, removed: renamed, inserted: renamed, pairs: [])
    }

    // MARK: Finding changes

    private func take(_ events: ChangeEvents) {
        guard let query else { return }
        var objects: [ObjectKey: NSManagedObject] = [:]
        for set in [events.inserted, events.updated, events.deleted, events.refreshed] {
            for object in set where query.family.contains(ObjectIdentifier(object.entity)) { objects[object.key] = object }
        }
        let isTouched = query.surroundings.areTouched(by: events)
        var unregistered: [ObjectKey] = []
        if !query.family.isDisjoint(with: events.unregistered.entities) {
            unregistered = events.unregistered.changed.union(events.unregistered.deleted).filter { isOfFamily($0, query) }
        }
        guard isTouched || events.unregistered.isUnknown || !objects.isEmpty || !unregistered.isEmpty else { return }
        var keys = Set(objects.keys).union(unregistered)
        if !query.fetch.includesPendingChanges {
            let waiting = keys.filter { objects[$0]?.hasChanges ?? false }
            unsaved.formUnion(waiting)
            keys.subtract(waiting)
        }
        guard !isTouched, !events.unregistered.isUnknown, apply(keys, objects, gone: events.unregistered.deleted, query) else {
            return refetch(query, objects) { keys.contains($0) }
        }
    }

    private func isOfFamily(_ key: ObjectKey, _ query: ResultsQuery) -> Bool {
        managedObjectContext.runtime(slot: key.slot).map { query.family.contains(ObjectIdentifier($0.entity)) } ?? false
    }

    /// Evaluates only the changed objects.
    /// - Returns: false if a new fetch is needed.
    private func apply(
        _ keys: Set<ObjectKey>, _ objects: [ObjectKey: NSManagedObject], gone: Set<ObjectKey> = [], _ query: ResultsQuery, isChanged: Bool = true
    ) -> Bool {
        guard query.isIncremental, keys.count <= Self.candidateMax, list.order != nil else { return false }
        let old = list
        do {
            let candidates = try keys.compactMap { key in
                gone.contains(key) ? nil : try (objects[key] ?? managedObjectContext.object(for: key)).flatMap(query.candidate)
            }.sorted(by: query.isBefore)
            let removed = old.indices(of: keys)
            guard !removed.isEmpty || !candidates.isEmpty else { return true }
            let (new, added) = try old.replacing(removed, with: candidates, query)
            var oldIndexes: [ObjectKey: Int] = [:]
            for index in removed { oldIndexes[old.entries[index].key] = index }
            var touched: [ResultsChange.Pair] = [], inserted: [Int] = []
            for position in added {
                if let before = oldIndexes.removeValue(forKey: new.entries[position].key) {
                    touched.append((before, position))
                } else {
                    inserted.append(position)
                }
            }
            let change = ResultsChange(
                from: old, to: new, deleted: oldIndexes.values.sorted(), inserted: inserted, touched: touched, isChanged: { _ in isChanged })
            deliver(change, new, objects, query)
            return true
        } catch {
            return false
        }
    }

    /// Fetches again and compares. After a failure everything stays as it is, and the next change retries.
    private func refetch(_ query: ResultsQuery, _ objects: [ObjectKey: NSManagedObject] = [:], isChanged: (ObjectKey) -> Bool) {
        guard let new = try? query.list(isFollowed: true, cacheName: nil) else { return stopFollowing() }
        let old = list
        var oldIndexes = Dictionary(old.entries.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        var touched: [ResultsChange.Pair] = [], inserted: [Int] = []
        for (index, entry) in new.entries.enumerated() {
            if let before = oldIndexes.removeValue(forKey: entry.key) { touched.append((before, index)) } else { inserted.append(index) }
        }
        let change = ResultsChange(from: old, to: new, deleted: oldIndexes.values.sorted(), inserted: inserted, touched: touched) {
            isChanged(new.entries[$0].key)
        }
        deliver(change, new, objects, query)
    }

    // MARK: Reporting changes

    private func deliver(_ change: ResultsChange, _ new: ResultsList, _ objects: [ObjectKey: NSManagedObject], _ query: ResultsQuery) {
        let old = list
        guard !change.isEmpty else {
            list = new
            return
        }
        if !declined.contains(.snapshots) {
            list = new
            if offerSnapshot(updated: change.updated.map(\.new)) { return }
        }
        if sectionNameKeyPath == nil, !declined.contains(.differences) {
            list = new
            let pairs = change.moved + change.updated
            let removed = change.deleted + pairs.map(\.old), inserted = change.inserted + pairs.map(\.new)
            if offerDifference(from: old, removed: removed, inserted: inserted, pairs: pairs) { return }
        }
        // The delegate has not seen the new results yet.
        list = old
        let fetches = fetches
        delegate?.controllerWillChangeContent(erased)
        if fetches == self.fetches {
            list = new
            reportChanges(change, old, new, objects, query)
        }
        delegate?.controllerDidChangeContent(erased)
    }

    /// - Returns: whether the delegate takes snapshots.
    @discardableResult
    final func offerSnapshot(updated: [Int]) -> Bool {
        guard let delegate, let query, query.kind != .dictionaries, !declined.contains(.snapshots) else { return false }
        delegate.controller(erased, didChangeContentWith: NSDiffableDataSourceSnapshotReference(list, updated: updated, managedObjectContext))
        return !declined.contains(.snapshots)
    }

    /// - Returns: whether the delegate takes differences.
    @discardableResult
    private func offerDifference(from old: ResultsList, removed: [Int], inserted: [Int], pairs: [ResultsChange.Pair]) -> Bool {
        guard let delegate, !declined.contains(.differences) else { return false }
        let context = managedObjectContext
        let oldToNew = Dictionary(pairs.map { ($0.old, $0.new) }, uniquingKeysWith: { first, _ in first })
        let newToOld = Dictionary(pairs.map { ($0.new, $0.old) }, uniquingKeysWith: { first, _ in first })
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = removed.map {
            .remove(offset: $0, element: context.objectID(for: old.entries[$0].key), associatedWith: oldToNew[$0])
        }
        changes += inserted.map {
            .insert(offset: $0, element: context.objectID(for: list.entries[$0].key), associatedWith: newToOld[$0])
        }
        guard let difference = CollectionDifference(changes) else { return false }
        delegate.controller(erased, didChangeContentWith: difference)
        return !declined.contains(.differences)
    }

    /// The object of a deleted entry that the context did not know. If its row is gone, the object leaves the context, as a merged deletion does.
    private func missed(_ entry: ResultsList.Entry, _ query: ResultsQuery) -> NSManagedObject {
        let object = query.object(of: entry)
        if object.state.isDisjoint(with: .changed), (try? managedObjectContext.fulfil(object)) == false {
            managedObjectContext.forget(gone: object)
        }
        return object
    }

    /// Reports each section and object, until the delegate performs the fetch again.
    private func reportChanges(
        _ change: ResultsChange, _ old: ResultsList, _ new: ResultsList, _ objects: [ObjectKey: NSManagedObject], _ query: ResultsQuery
    ) {
        let fetches = fetches, controller = erased
        func report(_ body: (any NSFetchedResultsControllerDelegate) -> Void) {
            if fetches == self.fetches, let delegate { body(delegate) }
        }
        for index in change.deletedSections.reversed() {
            let section = FetchedResultsSection(index, of: old, query, self, isGone: true)
            report { $0.controller(controller, didChange: section, atSectionIndex: index, for: .delete) }
        }
        for index in change.insertedSections {
            let section = FetchedResultsSection(index, of: new, query, self)
            report { $0.controller(controller, didChange: section, atSectionIndex: index, for: .insert) }
        }
        for index in change.deleted.reversed() {
            let entry = old.entries[index]
            let element: Any = query.kind == .objects ? entry.object ?? objects[entry.key] ?? missed(entry, query) : query.element(index, of: old)
            report { $0.controller(controller, didChange: element, at: old.indexPath(of: index), for: .delete, newIndexPath: nil) }
        }
        for index in change.inserted {
            let element = query.element(index, of: new)
            report { $0.controller(controller, didChange: element, at: nil, for: .insert, newIndexPath: new.indexPath(of: index)) }
        }
        for (pairs, type) in [(change.moved, NSFetchedResultsChangeType.move), (change.updated, .update)] {
            for (before, after) in pairs {
                let element = query.element(after, of: new)
                report {
                    $0.controller(
                        controller, didChange: element, at: old.indexPath(of: before), for: type, newIndexPath: new.indexPath(of: after))
                }
            }
        }
    }
}
