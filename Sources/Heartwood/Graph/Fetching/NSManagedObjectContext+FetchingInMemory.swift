import Foundation
import RecordLog

/// Fetches that the stores cannot answer by themselves: they depend on this context's changes, or rows do not suffice.
///
/// Changed objects are evaluated in this context. All others are evaluated as the stores have them: by rows or, where rows do not suffice,
/// by objects of a reader, a second context. This context's own objects may be older than their rows.
extension NSManagedObjectContext {
    /// Returns the matches in the stores without this context's changed objects, and the changed objects that match now; sorts and applies
    /// offset and limit here.
    final func fetchInMemory(_ fetch: FetchSpecification, families: [Family], pending: [NSManagedObject]) throws -> [NSManagedObject] {
        queries.lastQueryWasInMemory = true
        let reader = StoreReader(of: self), isChanged = isChangedAlong(fetch)
        var objects = try parentContext == nil
            ? families.flatMap { try matches(fetch, $0, isChanged, reader) } : inheritedMatches(fetch, isChanged)
        objects += try pending.filter { try !$0.isDeleted && fetch.holds($0) }
        objects = Array(try sorted(objects, fetch, isOwn: parentContext != nil || isChanged, reader).dropFirst(fetch.offset))
        return fetch.limit == 0 ? objects : Array(objects.prefix(fetch.limit))
    }

    /// The parent's matches. If an object along a key path is changed here, the predicate is evaluated in this context.
    private func inheritedMatches(_ fetch: FetchSpecification, _ isChanged: Bool) throws -> [NSManagedObject] {
        var all = fetch
        (all.limit, all.offset, all.sort) = (0, 0, [])
        if isChanged { all.predicate = nil }
        return try fetchFromParent(all).filter { object in
            try (!fetch.includesPendingChanges || !object.hasChanges) && (!isChanged || fetch.holds(object))
        }
    }

    /// One store's matches, without changed objects if the fetch includes pending changes.
    /// - Parameter isChanged: whether an object along the fetch's key paths is changed.
    private func matches(_ fetch: FetchSpecification, _ family: Family, _ isChanged: Bool, _ reader: StoreReader) throws -> [NSManagedObject] {
        let query = family.value(fetch, limit: nil, offset: 0, isSorted: false).query
        var all = query
        all.condition = nil
        let found = try storedMatches(fetch, query, among: all, of: family.store, reader)
        guard fetch.includesPendingChanges else { return found }
        guard isChanged else { return found.filter { !$0.hasChanges } }
        // An object whose predicate reads a changed object is evaluated in this context.
        let stored = Set(found.map(\.key))
        var objects: [NSManagedObject] = []
        _ = try run(all, on: family.store) { object in
            queries.hasMetChange = false
            let holds = try !object.hasChanges && fetch.holds(object)
            if !object.hasChanges, queries.hasMetChange ? holds : stored.contains(object.key) { objects.append(object) } else { sweepIfNeeded() }
        }
        return objects
    }

    /// The matches in a store.
    /// - Parameter all: a query for every object, used if rows do not suffice.
    private func storedMatches(
        _ fetch: FetchSpecification, _ query: StoreQuery, among all: StoreQuery, of store: NSPersistentStore, _ reader: StoreReader
    ) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        if try run(query, on: store, { found.append($0) }) != nil { return found }
        let context = reader.context, view = try view(of: store)
        _ = try context.run(all, on: store) { object in
            guard try fetch.holds(object) else { return context.sweepIfNeeded() }
            if let own = own(object, view) { found.append(own) }
        }
        readState.memory.addFiles(of: context.readState.memory)
        try reader.check()
        lastQuery = context.lastQuery
        return found
    }

    /// This context's object for one that a reader has found, bound to its row if it is a fault.
    private func own(_ found: NSManagedObject, _ view: any StoreView) -> NSManagedObject? {
        guard let object = object(for: found.key) else { return nil }
        if object.isFault, object.storage?.values.isEmpty ?? true, let row = found.sharedRow { object.bind(view.adopted(row, object.key)) }
        return object
    }

    /// Sorts objects in the request's order. Unchanged objects are compared by the store's values.
    /// - Parameter isOwn: whether all objects are compared by this context's values.
    final func sorted(
        _ objects: [NSManagedObject], _ fetch: FetchSpecification, isOwn: Bool = false, _ reader: StoreReader
    ) throws -> [NSManagedObject] {
        if let relevance = fetch.relevance { return try sorted(objects, by: relevance, fetch, isOwn: isOwn, reader) }
        guard !fetch.sort.isEmpty else { return objects }
        let evaluated = try objects.enumerated().map { index, object in
            (index: index, object: object, source: isOwn ? object : try reader.stored(object, withChanges: fetch.includesPendingChanges))
        }
        let sorted = evaluated.sorted { a, b in
            for key in fetch.sort {
                switch key.compare(a.source, b.source) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a.index < b.index
        }
        try reader.check()
        return sorted.map(\.object)
    }
}

/// Reads the stores' state through objects of a second context, which has no changes and is made when needed.
final class StoreReader {
    private let owner: NSManagedObjectContext
    private var made: NSManagedObjectContext?

    init(of owner: NSManagedObjectContext) {
        self.owner = owner
    }

    var context: NSManagedObjectContext {
        let context = made ?? owner.newReader()
        made = context
        return context
    }

    /// Returns the object that has the store's values of `object`.
    /// - Parameter withChanges: whether a changed object is compared by its own values.
    func stored(_ object: NSManagedObject, withChanges: Bool) throws -> NSManagedObject {
        guard try object.hasChanges ? !withChanges : owner.isOutdated(object) else { return object }
        return context.object(for: object.key) ?? object
    }

    /// - Throws: the failure of reading an object of the second context.
    func check() throws {
        if let failure = made?.readingFailure { throw failure }
    }
}

extension NSManagedObjectContext {
    /// Whether an unchanged object has been read and the store has another version of its row.
    fileprivate final func isOutdated(_ object: NSManagedObject) throws -> Bool {
        guard !object.isFault, object.rowVersion != 0, let store = object.runtime.store, store.traits.contains(.rereadsRows) else { return false }
        return try view(of: store).row(object.key)?.version != object.rowVersion
    }
}
