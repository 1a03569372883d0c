import Foundation
import RecordLog

/// The fetch of a fetched results controller, prepared by `performFetch()`: later changes to the request have no effect.
final class ResultsQuery {
    enum Kind {
        case objects, ids, dictionaries
    }

    /// The source of the sections' names.
    struct Section {
        let path: [String]
        /// Whether rows contain it: it is no transient property, and no key that only a class defines.
        let isStored: Bool
    }

    /// A result with its order values and its section.
    struct Candidate {
        let object: NSManagedObject
        let order: [PredicateValue]
        let section: String
    }

    let context: NSManagedObjectContext
    let fetch: FetchSpecification
    let kind: Kind
    let section: Section?
    /// The entities of the results.
    let family: Set<ObjectIdentifier>
    /// The properties of other objects that the predicate, the order and the sections depend on.
    var surroundings: ResultDependencies
    /// The same fetch with the section key path as an additional sort key.
    private let whole: FetchSpecification
    /// The ranks of slots. Results that are equal in the order are ordered by store, then entity, then row number, as in a fetch.
    private let ranks: [UInt16: UInt64]
    /// See `stored(_:)`. It exists while a list is made.
    private var reader: NSManagedObjectContext?
    /// The fetch without batches, which prepares the objects of one batch.
    private let single: FetchSpecification

    /// - Throws: 134060 if the request's sort descriptors are nil, or if the section key path leads nowhere; 134091 if the request counts, or asks
    ///   for something that no fetch can serve.
    init(_ fetch: FetchSpecification, asks terms: ResultsTerms, sectionNameKeyPath: String?, _ context: NSManagedObjectContext) throws {
        self.context = context
        guard !terms.resultType.contains(.countResultType) else {
            throw CoreDataError.unsupported("A fetched results controller shows objects, IDs or dictionaries; use count(for:) to count.")
        }
        guard terms.isSorted else {
            throw CoreDataError.make(
                NSCoreDataError, "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.")
        }
        kind = fetch.shape != nil ? .dictionaries : fetch.wantsIDs ? .ids : .objects
        self.fetch = fetch
        section = try sectionNameKeyPath.map { try Self.section($0, fetch, context, isOfDictionary: fetch.shape != nil) }
        let entities = fetch.concreteEntities
        family = Set(entities.map(ObjectIdentifier.init))
        var whole = fetch
        if let section, section.isStored { whole.sort.append(SortKey(path: section.path)) }
        self.whole = whole
        surroundings = ResultDependencies(whole, section)
        ranks = Self.ranks(of: entities, context)
        var single = fetch
        single.readiness.batchSize = 0
        self.single = single
    }

    /// Whether the list retains its objects: only if they do not come in batches.
    var keepsObjects: Bool { kind == .objects && fetch.readiness.batchSize == 0 }

    /// Whether a changed object can be evaluated by itself. A window moves with every change before it.
    private(set) lazy var isIncremental = kind != .dictionaries && fetch.limit == 0 && fetch.offset == 0 && fetch.includesPendingChanges
        && !surroundings.isOwn && fetch.sort.allSatisfy { $0.isAttribute(of: fetch.entity) }

    /// By slot.
    private static func ranks(of entities: [NSEntityDescription], _ context: NSManagedObjectContext) -> [UInt16: UInt64] {
        let stores = context.coordinator?.persistentStores ?? [], isShared = context.coordinator?.hasSharedEntities ?? false
        var origins: [(store: Int, entity: Int, slot: UInt16)] = []
        for (index, entity) in entities.enumerated() {
            for runtime in isShared ? context.runtimes(of: entity) : [context.runtime(for: entity)] {
                origins.append((stores.firstIndex { $0 === runtime.store } ?? stores.count, index, runtime.slot))
            }
        }
        var ranks: [UInt16: UInt64] = [:]
        origins.sort { ($0.store, $0.entity) < ($1.store, $1.entity) }
        for (rank, origin) in origins.enumerated() { ranks[origin.slot] = UInt64(rank) }
        return ranks
    }

    // MARK: Sections

    private static func section(
        _ text: String, _ fetch: FetchSpecification, _ context: NSManagedObjectContext, isOfDictionary: Bool
    ) throws -> Section {
        let path: [String]
        do throws(PredicateFault) {
            path = fetch.entity.joiningComposites(try PredicateKeyPath.keys(text))
        } catch {
            throw CoreDataError.make(NSCoreDataError, "Sections cannot be named after \"\(text.prefix(200))\": \(error).")
        }
        guard !isOfDictionary else { return Section(path: path, isStored: false) }
        var owner: NSEntityDescription? = fetch.entity
        for (index, key) in path.enumerated() {
            let property = owner?.familyProperty(key)
            if index == 0, property == nil, NSManagedObject.OwnKey(rawValue: key) == nil,
                fetch.concreteEntities.contains(where: { context.runtime(for: $0).objectClass == NSManagedObject.self })
            {
                throw CoreDataError.make(
                    NSCoreDataError,
                    "Sections cannot be named after \"\(text)\": \(fetch.entity.name ?? "?") has no property \"\(key)\", and no class of its own "
                        + "that could have a value(forKey:) for it.")
            }
            guard let property, !property.isTransient else { return Section(path: path, isStored: false) }
            switch property {
            case let relationship as NSRelationshipDescription where !relationship.isToMany: owner = relationship.destinationEntity
            case is NSAttributeDescription where index == path.count - 1: return Section(path: path, isStored: true)
            default: return Section(path: path, isStored: false)
            }
        }
        return Section(path: path, isStored: false)
    }

    func error(_ failure: SectionsOutOfOrder) -> NSError {
        let path = section?.path.joined(separator: ".") ?? ""
        return CoreDataError.make(
            NSCoreDataError,
            "The fetched objects come in another order than their sections: after \"\(failure.before)\" there are objects of "
                + "\"\(failure.name)\" again. Objects must be sorted by \"\(path)\" first, or by a key that gives the same order.")
    }

    // MARK: Single results

    /// The order values and section of an object; nil if it is not among the results.
    func candidate(_ object: NSManagedObject) throws -> Candidate? {
        guard !object.isDeleted, !object.state.contains(.detached), family.contains(ObjectIdentifier(object.entity)),
            fetch.asks(object.runtime.store), try context.fulfil(object), try fetch.holds(object)
        else { return nil }
        return makeCandidate(object, by: object)
    }

    /// - Parameter values: the object that has the values.
    private func makeCandidate(_ object: NSManagedObject, by values: NSManagedObject) -> Candidate {
        let order = fetch.sort.map { value($0.path, of: values) }
        return Candidate(object: object, order: order, section: section.map { value($0.path, of: values).sectionName } ?? "")
    }

    func value(_ path: [String], of subject: Any) -> PredicateValue { PredicateKeyPath.value(path[...], of: subject) }

    private func rank(_ key: ObjectKey) -> UInt64 { (ranks[key.slot] ?? 0) << 48 | key.row }

    /// Whether `a` comes before `b` in a list.
    func isBefore(_ a: Candidate, _ b: Candidate) -> Bool {
        for (index, key) in fetch.sort.enumerated() {
            switch key.order(a.order[index], b.order[index]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return rank(a.object.key) < rank(b.object.key)
    }

    /// The insertion index of an object in a list. O(log entries) comparisons.
    func index(of item: Candidate, in list: ResultsList) -> Int {
        let width = fetch.sort.count, order = list.order ?? []
        let own = rank(item.object.key)
        var low = 0, high = list.count
        search: while low < high {
            let middle = (low + high) / 2
            for (index, key) in fetch.sort.enumerated() {
                switch key.order(item.order[index], order[middle * width + index]) {
                case .orderedAscending:
                    high = middle
                    continue search
                case .orderedDescending:
                    low = middle + 1
                    continue search
                case .orderedSame: continue
                }
            }
            if own < rank(list.entries[middle].key) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The object, ID or dictionary at an index of a list.
    func element(_ index: Int, of list: ResultsList) -> Any {
        let entry = list.entries[index]
        switch kind {
        case .dictionaries: return list.dictionaries[index]
        case .ids: return context.objectID(for: entry.key)
        case .objects: return object(of: entry)
        }
    }

    func object(of entry: ResultsList.Entry) -> NSManagedObject {
        if let object = entry.object { return object }
        guard let object = context.object(for: entry.key) else {
            misuse("The store of a fetched object was removed; perform the controller's fetch again.")
        }
        return object
    }

    /// Makes the objects of some entries, and reads together their rows and everything else that the request prefetches.
    func read(_ entries: ArraySlice<ResultsList.Entry>) throws -> [NSManagedObject] {
        let objects = entries.map(object)
        if fetch.readiness.bindsRows { try context.bring(objects.map(\.key)) }
        return try context.ready(objects, single)
    }

    // MARK: All results

    /// Fetches the results.
    /// - Parameter isFollowed: whether changes will be applied to the list, so that it needs the values of its order.
    /// - Throws: any error of a fetch; 134060 if a section appears in several pieces. The list stays unchanged then.
    func list(isFollowed: Bool, cacheName: String?) throws -> ResultsList {
        surroundings.inspect(at: context.pending.listed)
        defer { reader = nil }
        do {
            if kind == .dictionaries { return try dictionaries() }
            let isOrdered = isFollowed && isIncremental
            return try storedList(isOrdered: isOrdered, cacheName) ?? listOfObjects(isOrdered: isOrdered)
        } catch let failure as SectionsOutOfOrder {
            throw error(failure)
        }
    }

    private func dictionaries() throws -> ResultsList {
        var builder = ResultsListBuilder(self, isOrdered: false)
        for dictionary in try fetch.shape.map({ try context.dictionaries(fetch, $0) }) ?? [] {
            builder.append(dictionary)
            if let section { try builder.append(section: value(section.path, of: dictionary)) }
        }
        return builder.finished()
    }

    /// The results of one store, with the context's changes applied. It makes only the objects that the list retains, and those that must be read
    /// for their sections.
    /// - Returns: nil if rows are not enough.
    private func storedList(isOrdered: Bool, _ cacheName: String?) throws -> ResultsList? {
        guard context.parentContext == nil, !context.isChangedAlong(whole) else { return nil }
        context.adoptKeys()
        context.sweepIfNeeded()
        context.leaveReplacedFiles()
        let pending = fetch.includesPendingChanges ? context.pendingObjects(for: fetch) : []
        let parts = try context.storeQueries(for: fetch)
        guard pending.isEmpty || isIncremental, parts.count == 1, let (store, query) = parts.first, let runtime = query.runtimes.first
        else { return nil }
        let view = try context.view(of: store)
        let cache = section.flatMap { _ in cacheName.flatMap { SectionCache(name: $0, self, store, view) } }
        let known = cache?.sections
        var builder = ResultsListBuilder(self, isOrdered: isOrdered || !pending.isEmpty)
        let width = builder.list.order == nil ? 0 : fetch.sort.count
        var paths = fetch.sort.prefix(width).map(\.path)
        let namedByRow = known == nil && section?.isStored == true
        if namedByRow, let section { paths.append(section.path) }
        var objects = RowObjects(context, store, runtime)
        let statistics = try context.usingRows {
            try view.read(paths, of: query) { row, value in
                let key = ObjectKey(rawValue: row.reference.rawValue &+ store.slotBase)
                builder.append(key, keepsObjects ? objects.object(of: row) : nil)
                for column in 0..<width { builder.append(order: try value(column)) }
                if namedByRow { try builder.append(section: try value(width)) }
            }
        }
        guard let statistics else { return nil }
        context.lastQuery = statistics
        if let known, known.count == builder.list.count {
            builder.take(known.sections)
        } else if section != nil, !namedByRow {
            try nameSections(&builder)
        }
        var list = builder.finished()
        if known == nil { cache?.keep(list) }
        if keepsObjects { _ = try context.ready(list.entries.map(object), single) }
        if !pending.isEmpty { list = try apply(pending, to: list) }
        if !isOrdered { list.order = nil }
        return list
    }

    /// Reads each object for its section.
    private func nameSections(_ builder: inout ResultsListBuilder) throws {
        guard let section else { return }
        for (index, entry) in builder.list.entries.enumerated() {
            try builder.append(section: value(section.path, of: stored(object(of: entry))), at: index)
            context.sweepIfNeeded()
        }
    }

    /// The object that has the values the fetch has found. If unsaved changes do not count, it belongs to another context.
    private func stored(_ object: NSManagedObject) -> NSManagedObject {
        guard !fetch.includesPendingChanges, object.hasChanges else { return object }
        let reader = reader ?? context.newSibling()
        self.reader = reader
        return reader.object(for: object.key) ?? object
    }

    private func apply(_ pending: [NSManagedObject], to list: ResultsList) throws -> ResultsList {
        let candidates = try pending.compactMap(candidate).sorted(by: isBefore)
        return try list.replacing(list.indices(of: Set(pending.map(\.key))), with: candidates, self).list
    }

    /// The list from fetched objects: in a child context, over several stores, or if the context has changed objects that the query's paths lead
    /// through.
    private func listOfObjects(isOrdered: Bool) throws -> ResultsList {
        var candidates = try context.fetchObjects(fetch).map { makeCandidate($0, by: stored($0)) }
        // A store or a parent may have newer values than the objects show.
        if !zip(candidates, candidates.dropFirst()).allSatisfy(isBefore) { candidates.sort(by: isBefore) }
        var builder = ResultsListBuilder(self, isOrdered: isOrdered, capacity: candidates.count)
        for item in candidates { try builder.append(item) }
        return builder.finished()
    }
}

/// The parts of a request that its specification lacks.
struct ResultsTerms {
    let resultType: NSFetchRequestResultType
    let isSorted: Bool

    init<ResultType>(_ request: NSFetchRequest<ResultType>) {
        resultType = request.resultType
        isSorted = request.sortDescriptors != nil
    }
}

extension SortKey {
    fileprivate func order(_ a: PredicateValue, _ b: PredicateValue) -> ComparisonResult {
        isAscending ? Self.compare(a, b, textOrder) : Self.compare(b, a, textOrder)
    }

    /// Whether the path ends at an attribute, not at an object.
    fileprivate func isAttribute(of entity: NSEntityDescription) -> Bool {
        var owner: NSEntityDescription? = entity
        for name in path {
            guard let relationship = owner?.familyProperty(name) as? NSRelationshipDescription else { return true }
            owner = relationship.destinationEntity
        }
        return false
    }
}

extension NSManagedObjectContext {
    /// A context without changes that reads from the same source: the stores, or the parent.
    fileprivate final func newSibling() -> NSManagedObjectContext {
        guard let parentContext else { return newReader() }
        let sibling = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        sibling.parent = parentContext
        return sibling
    }
}
