import Foundation

/// A fetched results controller without the type of its results: see `NSFetchedResultsController`, which alone is made.
open class AnyFetchedResultsController: NSObject {
    /// The context whose objects are shown.
    public final let managedObjectContext: NSManagedObjectContext
    /// What sections are named after; nil for one section.
    public final let sectionNameKeyPath: String?
    /// The name of the cache of sections; nil for none.
    public final let cacheName: String?
    let request: NSPersistentStoreRequest

    /// Who is told of changes; not kept. nil: changes are not followed. Where it is set after `performFetch()`, what was not followed
    /// since is told with the next change. A reset of the context is not told: perform the fetch again.
    public weak final var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            declined = []
            followIfWanted()
        }
    }

    /// What the delegate has not implemented, as far as that is known.
    final var declined: DeclinedDeliveries = []
    /// nil before the first fetch.
    final var query: ResultsQuery?
    final var list = ResultsList() {
        didSet {
            infos = nil
            batches = []
        }
    }
    /// Rises with each fetch.
    final var fetches = 0
    final var isDelivering = false
    /// Of a request that does not include pending changes: what the next save writes of the results.
    final var unsaved: Set<ObjectKey> = []
    /// What has happened while the delegate was told of something else.
    final var backlog: [ResultsNews] = []
    private var infos: [FetchedResultsSection]?
    /// The batches that were read last.
    private var batches: [(range: Range<Int>, objects: [NSManagedObject])] = []

    init(request: NSPersistentStoreRequest, _ context: NSManagedObjectContext, _ sectionNameKeyPath: String?, _ cacheName: String?) {
        self.request = request
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    /// What is fetched, as the request says now.
    func specification() throws -> (fetch: FetchSpecification, terms: ResultsTerms) { preconditionFailure("a subclass knows the request") }

    /// - Throws: 134091 where the results are not of the controller's type.
    func checkResults(of query: ResultsQuery) throws {}

    /// Fetches what the request describes, unsaved changes of the context included, and has the controller show it. The delegate is told
    /// only if it takes snapshots.
    ///
    /// - Throws: 134060 where the request has no sort descriptors, where the section key path leads nowhere, and where the order does not
    ///   keep the objects of each section together; 134091 where the results are of another type; what a fetch throws. The controller
    ///   shows what it did before.
    /// - Complexity: one query. No object is read, but where sections are named after what rows do not have, where the context has changed
    ///   objects that lie on the way, in a child, and of several stores at once. With a `fetchBatchSize` none is made.
    open func performFetch() throws {
        managedObjectContext.checkQueue()
        // What has changed before is a part of what is found.
        managedObjectContext.postChanges()
        let (fetch, terms) = try specification()
        let query = try ResultsQuery(fetch, asks: terms, sectionNameKeyPath: sectionNameKeyPath, managedObjectContext)
        try checkResults(of: query)
        list = try query.list(isFollowed: delegate != nil, cacheName: cacheName)
        self.query = query
        fetches += 1
        unsaved = []
        followIfWanted()
        offerSnapshot(updated: [])
    }

    private func followIfWanted() {
        if delegate != nil, query != nil { managedObjectContext.addFollower(self) }
    }

    /// Forgets the sections that `performFetch()` keeps under a name, or all of them.
    ///
    /// The cache lies in memory, in this process, and holds sections without objects. It is used for the same request on the same commit of
    /// the same store, and replaced otherwise: nothing has to be deleted for a changed request. It does not know whatever else
    /// transient section names may depend on; where that has changed, delete the cache.
    public final class func deleteCache(withName name: String?) { SectionCache.delete(name) }

    // MARK: Results

    /// nil before the first fetch.
    final var elements: [Any]? {
        managedObjectContext.checkQueue()
        guard let query else { return nil }
        return list.entries.indices.map { query.element($0, of: list) }
    }

    /// Whether the class is one of the program's, which may override what follows.
    var isSubclassed: Bool { false }
    /// What a subclass says of the elements.
    var statedElements: [Any]? { elements }
    func statedElement(at path: IndexPath) -> Any { element(at: path) }
    private final var isAskingSubclass = false

    /// Asks a subclass, unless it is the one that asks.
    final func askSubclass<Answer>(_ body: (AnyFetchedResultsController) -> Answer?) -> Answer? {
        guard isSubclassed, !isAskingSubclass else { return nil }
        isAskingSubclass = true
        defer { isAskingSubclass = false }
        return body(self)
    }

    final func element(at path: IndexPath) -> Any {
        managedObjectContext.checkQueue()
        guard let query, let index = list.index(of: path) else {
            preconditionFailure(
                "The fetched results controller has nothing at \(Array(path)): "
                    + (query == nil ? "perform its fetch first." : "it has \(list.sections.count) sections and \(list.count) objects."))
        }
        readBatch(of: index, query)
        return query.element(index, of: list)
    }

    final func indexPath(of element: Any) -> IndexPath? {
        managedObjectContext.checkQueue()
        let index: Int?
        switch element {
        case let object as NSManagedObject: index = list.entries.firstIndex { $0.object === object || $0.key == object.key && isOwn(object) }
        case let id as NSManagedObjectID: index = managedObjectContext.ownKey(of: id).flatMap { key in list.entries.firstIndex { $0.key == key } }
        case let dictionary as NSDictionary: index = list.dictionaries.firstIndex { $0 === dictionary || $0.isEqual(dictionary) }
        default: index = nil
        }
        return index.map(list.indexPath)
    }

    private func isOwn(_ object: NSManagedObject) -> Bool { object.managedObjectContext === managedObjectContext }

    private static let batchesMax = 4

    private func readBatch(of index: Int, _ query: ResultsQuery) {
        let size = query.fetch.readiness.batchSize
        guard query.kind == .objects, size > 0, !batches.contains(where: { $0.range.contains(index) }) else { return }
        let start = index - index % size
        let range = start..<min(start + size, list.count)
        do {
            batches.append((range, try query.read(list.entries[range])))
            if batches.count > Self.batchesMax { batches.removeFirst() }
        } catch {
            // As where a getter cannot read.
            managedObjectContext.readingFailure = managedObjectContext.readingFailure ?? error
        }
    }

    // MARK: Sections

    /// The sections, in order; nil before `performFetch()`. Without a section key path there is one, be it empty.
    /// - Complexity: O(sections) after a change.
    open var sections: [any NSFetchedResultsSectionInfo]? {
        managedObjectContext.checkQueue()
        guard let query else { return nil }
        let infos = infos ?? list.sections.indices.map { FetchedResultsSection($0, of: list, query, self) }
        self.infos = infos
        return infos
    }

    /// The index titles of all sections, each once.
    open var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return list.sections.compactMap { sectionIndexTitle(forSectionName: $0.name) }.filter { seen.insert($0).inserted }
    }

    /// What stands for a section in an index: what the delegate says, which is the name's first letter as a capital where it says nothing.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        guard let delegate else { return Self.capitalLetter(of: sectionName) }
        return delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
    }

    /// The first section that has an index title.
    /// - Parameter sectionIndex: the title's place among `sectionIndexTitles`.
    /// - Returns: `NSNotFound` where no section has it.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        list.sections.firstIndex { sectionIndexTitle(forSectionName: $0.name) == title } ?? NSNotFound
    }

    static func capitalLetter(of name: String) -> String { name.prefix(1).uppercased() }

    /// This controller as delegates name its type.
    final var erased: NSFetchedResultsController<any NSFetchRequestResult> { seen(as: (any NSFetchRequestResult).self) }

    /// This controller as one with results of another type.
    ///
    /// The class that it is made as may have another type of results. Nothing that is stored depends on that, no member of the class does,
    /// and the members of `TypedFetchedResults` go by the type at their call; so the reference may be taken as either. No optimizer sees it
    /// with both.
    @inline(never)
    final func seen<Result>(as type: Result.Type) -> NSFetchedResultsController<Result> {
        Unmanaged<NSFetchedResultsController<Result>>.fromOpaque(Unmanaged.passUnretained(self).toOpaque()).takeUnretainedValue()
    }
}
