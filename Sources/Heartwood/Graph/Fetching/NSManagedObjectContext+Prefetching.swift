import Foundation
import RecordLog

/// The steps after a fetch has found its objects: refreshing them, reading their rows, and prefetching relationships.
extension NSManagedObjectContext {
    /// Prepares the result of a fetch, or its first batch.
    final func ready(_ objects: [NSManagedObject], _ fetch: FetchSpecification) throws -> [NSManagedObject] {
        let readiness = fetch.readiness
        if readiness.refreshes { try refreshStale(objects) }
        if !readiness.bindsRows { for object in objects where object.isFault { object.forgetRow() } }
        guard !fetch.returnsObjectsAsFaults || !readiness.paths.isEmpty else { return objects }
        guard readiness.batchSize > 0, readiness.batchSize < objects.count else {
            try prepare(objects, fetch)
            return objects
        }
        try prepare(Array(objects.prefix(readiness.batchSize)), fetch)
        queries.laterBatches.append(LaterBatches(objects, fetch))
        if queries.laterBatches.count > Self.laterBatchesMax { queries.laterBatches.removeFirst() }
        return objects
    }

    /// A context is not notified when a result is released, so it remembers only this many results with a batch size.
    private static let laterBatchesMax = 16

    /// Prepares the batches of an object whose fault has fired.
    @inline(never)
    final func openBatch(of object: NSManagedObject) {
        for later in queries.laterBatches {
            guard let keys = later.open(object.key) else { continue }
            do {
                try prepare(keys.compactMap { self.object(for: $0) }, later.fetch)
            } catch {
                readingFailure = readingFailure ?? error
            }
        }
        queries.laterBatches.removeAll(where: \.isDone)
    }

    private func prepare(_ objects: [NSManagedObject], _ fetch: FetchSpecification) throws {
        if !fetch.returnsObjectsAsFaults {
            try bring(objects.map(\.key))
            for object in objects where object.isFault { object.fireFault() }
        }
        for path in fetch.readiness.paths {
            var owners = objects
            for name in path { owners = try prefetch(name, of: owners) }
        }
    }

    /// Refreshes objects that were read before to their newest rows.
    private func refreshStale(_ objects: [NSManagedObject]) throws {
        for object in objects where !object.isFault && !object.isInserted && !object.isDeleted {
            if parentContext == nil, try view(of: store(of: object.runtime)).row(object.key)?.version == object.rowVersion {
                object.forgetMembers()
            } else {
                performRefresh(of: object, mergeChanges: true)
            }
        }
    }

    // MARK: Relationships

    /// Reads one relationship of many objects, and the rows of its destinations, without firing faults.
    /// - Returns: the destinations, each once.
    private func prefetch(_ name: String, of owners: [NSManagedObject]) throws -> [NSManagedObject] {
        var keys: Set<ObjectKey> = []
        var byEntity: [ObjectIdentifier: [NSManagedObject]] = [:]
        for owner in owners where !owner.isDeleted { byEntity[ObjectIdentifier(owner.runtime), default: []].append(owner) }
        for group in byEntity.values {
            // Some entities of a family may not have the relationship.
            guard let runtime = group.first?.runtime, let index = runtime.index(of: name) else { continue }
            if runtime.properties[index].kind == .toOne {
                try bring(group.map(\.key))
                for owner in group { keys.insert(owner.knownReference(index)) }
            } else {
                try readMembers(of: group, runtime, index)
                for owner in group { keys.formUnion(owner.touchedToManyState(index)?.members ?? []) }
            }
        }
        let wanted = keys.filter { !$0.isNone }.sorted { $0.rawValue < $1.rawValue }
        try bring(wanted)
        return wanted.compactMap { object(for: $0) }
    }

    /// Reads a to-many relationship of objects of one entity, unless it was read already.
    private func readMembers(of owners: [NSManagedObject], _ runtime: EntityRuntime, _ index: Int) throws {
        let unread = owners.filter { !$0.isInserted && $0.touchedToManyState(index)?.isFired != true }
            .sorted { $0.key.rawValue < $1.key.rawValue }
        guard !unread.isEmpty else { return }
        guard parentContext == nil else {
            for owner in unread { owner.take(members: try committedMembers(of: owner, property: index), at: index) }
            return
        }
        let members = try view(of: store(of: runtime)).members(ofEach: unread.map(\.key), runtime: runtime, property: index)
        for (owner, members) in zip(unread, members) { owner.take(members: members, at: index) }
    }

    /// Binds objects to their rows; reads missing rows in groups. Fires no fault.
    final func bring(_ keys: [ObjectKey]) throws {
        guard parentContext == nil else {
            identities.makeRoom(for: keys.reduce(0) { identities[$1] == nil ? $0 + 1 : $0 })
            for key in keys { if let object = object(for: key) { _ = try fulfil(object) } }
            return
        }
        var byStore: [ObjectIdentifier: (store: NSPersistentStore, keys: [ObjectKey])] = [:]
        for key in keys where !key.isTemporary {
            guard !isAtHand(key) else { continue }
            guard let store = runtime(slot: key.slot)?.store else { continue }
            byStore[ObjectIdentifier(store), default: (store, [])].keys.append(key)
        }
        // Until the caller refers to the new objects, only the map does; this delays the sweep.
        identities.makeRoom(for: byStore.values.reduce(0) { $0 + $1.keys.count })
        for (store, keys) in byStore.values {
            let view = try view(of: store)
            try usingRows {
                try view.rows(keys) { key, row in
                    guard let row, let object = object(for: key) else { return }
                    // An object that was saved here shows the version that was saved.
                    if object.rowVersion == 0 || object.rowVersion == row.version { object.bind(row) }
                }
            }
        }
    }
}

extension NSManagedObject {
    /// A to-one destination, if it has been read; fires no fault.
    final func knownReference(_ index: Int) -> ObjectKey {
        if let value = override(index) { return value.destination }
        guard let boundRow else { return inheritedValue(index).destination }
        return committedValue(index, in: boundRow).destination
    }

    /// Sets the members that the store lists; unsaved changes stay on top.
    fileprivate final func take(members: [ObjectKey], at index: Int) {
        let state = touchedToManyState(index) ?? ToManyState(base: nil, isOrdered: runtime.properties[index].isOrdered)
        state.fire(members)
        changeStorage().values[index] = .toMany(state)
    }
}
