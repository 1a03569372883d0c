import Foundation
import RecordLog

/// Fetches that no store answers alone: something that this context has changed matters, or rows cannot tell what is asked.
///
/// This context says what it has changed, and the stores say everything else: by their rows, or where these cannot tell by objects of a
/// reader, a context beside this one. An object that was read here may be older than its row.
extension NSManagedObjectContext {
    /// What the stores have found less what this context has changed, and of that what matches as it is now; sorted and cut here.
    final func fetchInMemory(_ fetch: FetchSpecification, families: [Family], pending: [NSManagedObject]) throws -> [NSManagedObject] {
        lastQueryWasInMemory = true
        let reader = StoreReader(of: self), isChanged = isChangedAlong(fetch)
        var objects = try parentContext == nil
            ? families.flatMap { try matches(fetch, $0, isChanged, reader) } : inheritedMatches(fetch, isChanged)
        objects += try pending.filter { try !$0.isDeleted && fetch.holds($0) }
        objects = Array(try sorted(objects, fetch, isOwn: parentContext != nil || isChanged, reader).dropFirst(fetch.offset))
        return fetch.limit == 0 ? objects : Array(objects.prefix(fetch.limit))
    }

    /// A parent's objects; what is asked of those behind a changed path is asked here.
    private func inheritedMatches(_ fetch: FetchSpecification, _ isChanged: Bool) throws -> [NSManagedObject] {
        var all = fetch
        (all.limit, all.offset, all.sort) = (0, 0, [])
        if isChanged { all.predicate = nil }
        return try fetchFromParent(all).filter { object in
            try (!fetch.includesPendingChanges || !object.hasChanges) && (!isChanged || fetch.holds(object))
        }
    }

    /// One store's matches, changed objects left out where this context has the say about them.
    /// - Parameter isChanged: whether something along the fetch's paths is.
    private func matches(_ fetch: FetchSpecification, _ family: Family, _ isChanged: Bool, _ reader: StoreReader) throws -> [NSManagedObject] {
        let query = family.value(fetch, limit: nil, offset: 0, isSorted: false).query
        var all = query
        all.predicate = nil
        let found = try storedMatches(fetch, query, among: all, of: family.store, reader)
        guard fetch.includesPendingChanges else { return found }
        guard isChanged else { return found.filter { !$0.hasChanges } }
        // Whoever is asked something of a changed object is judged by this context.
        let stored = Set(found.map(\.key))
        var objects: [NSManagedObject] = []
        _ = try run(all, on: family.store) { object in
            hasMetChange = false
            let holds = try !object.hasChanges && fetch.holds(object)
            if !object.hasChanges, hasMetChange ? holds : stored.contains(object.key) { objects.append(object) } else { sweepIfWanted() }
        }
        return objects
    }

    /// What a store says that matches.
    /// - Parameter all: asks for every object, for those that rows cannot tell of.
    private func storedMatches(
        _ fetch: FetchSpecification, _ query: StoreQuery, among all: StoreQuery, of store: NSPersistentStore, _ reader: StoreReader
    ) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        if try run(query, on: store, { found.append($0) }) != nil { return found }
        let context = reader.context
        _ = try context.run(all, on: store) { object in
            guard try fetch.holds(object) else { return context.sweepIfWanted() }
            if let own = own(object) { found.append(own) }
        }
        memory.add(context.memory)
        try reader.check()
        lastQuery = context.lastQuery
        return found
    }

    /// This context's object of one that a reader has found, with its row where it is a fault.
    private func own(_ found: NSManagedObject) -> NSManagedObject? {
        guard let object = object(for: found.key) else { return nil }
        if object.isFault, object.storage?.values.isEmpty ?? true, let row = found.sharedRow { object.bind(row) }
        return object
    }

    /// In the request's order, by what the stores have of objects that this context has not changed.
    /// - Parameter isOwn: whether this context has the say about all of them.
    final func sorted(
        _ objects: [NSManagedObject], _ fetch: FetchSpecification, isOwn: Bool = false, _ reader: StoreReader
    ) throws -> [NSManagedObject] {
        guard !fetch.sort.isEmpty else { return objects }
        let judged = try objects.enumerated().map { place, object in
            (place: place, object: object, says: isOwn ? object : try reader.stored(object, withChanges: fetch.includesPendingChanges))
        }
        let sorted = judged.sorted { a, b in
            for key in fetch.sort {
                switch key.compare(a.says, b.says) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a.place < b.place
        }
        try reader.check()
        return sorted.map(\.object)
    }
}

/// A context's look at what the stores have, by objects of another that has changed nothing; made where it is needed.
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

    /// Who says what the store has of an object.
    /// - Parameter withChanges: whether one that was changed speaks for itself.
    func stored(_ object: NSManagedObject, withChanges: Bool) throws -> NSManagedObject {
        guard try object.hasChanges ? !withChanges : owner.isOutdated(object) else { return object }
        return context.object(for: object.key) ?? object
    }

    /// - Throws: what an object of the reader's could not be read for.
    func check() throws {
        if let failure = made?.readingFailure { throw failure }
    }
}

extension NSManagedObjectContext {
    /// Whether an unchanged object has been read, and the store has another version of its row.
    fileprivate final func isOutdated(_ object: NSManagedObject) throws -> Bool {
        guard !object.isFault, object.rowVersion != 0, let store = object.runtime.store, store.rows != nil else { return false }
        return try view(of: store).row(object.key)?.version != object.rowVersion
    }
}
