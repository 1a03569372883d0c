import Foundation

/// A fetched results controller without the type of its results. Only its subclass `NSFetchedResultsController` is instantiated.
open class AnyFetchedResultsController: NSObject {
    /// The context whose objects are shown.
    public final let managedObjectContext: NSManagedObjectContext
    /// The key path of the sections' names; nil for one section.
    public final let sectionNameKeyPath: String?
    /// The name of the cache of sections; nil for none.
    public final let cacheName: String?
    let request: NSPersistentStoreRequest
    /// Returns the fetch that the request describes now.
    private let specification: () throws -> (fetch: FetchSpecification, terms: ResultsTerms)

    /// The receiver of changes, held weakly. Without a delegate the controller does not follow changes; a delegate set after `performFetch()`
    /// learns of missed changes with the next one. A reset of the context is not reported: perform the fetch again.
    public weak final var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            declined = []
            followIfNeeded()
        }
    }

    /// The methods that the delegate is known not to implement.
    final var declined: DeclinedDeliveries = []
    /// nil before the first fetch.
    final var query: ResultsQuery?
    final var list = ResultsList() {
        didSet {
            infos = nil
            shown = nil
        }
    }
    /// Counts the fetches.
    final var fetches = 0
    final var isDelivering = false
    /// For a request without pending changes: the results that the next save writes.
    final var unsaved: Set<ObjectKey> = []
    /// The reports that arrived while the delegate was handling another one.
    final var backlog: [ResultsEvent] = []
    private var infos: [FetchedResultsSection]?
    private var shown: FetchedResults?

    init(
        request: NSPersistentStoreRequest, _ context: NSManagedObjectContext, _ sectionNameKeyPath: String?, _ cacheName: String?,
        specification: @escaping () throws -> (fetch: FetchSpecification, terms: ResultsTerms)
    ) {
        self.request = request
        self.specification = specification
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
    }

    /// - Throws: 134091 if the results are not of the controller's type.
    func checkResults(of query: ResultsQuery) throws {}

    /// Fetches the request's results, with the context's unsaved changes, and shows them. The delegate is notified only if it takes snapshots.
    ///
    /// - Throws: 134060 if the request has no sort descriptors, if the section key path leads nowhere, or if the order does not keep the objects of
    ///   each section together; 134091 if the results are of another type; any error of a fetch. The controller keeps its former results.
    /// - Complexity: one query. Objects are read only if rows do not contain the sections' names, if the context has changed objects that the
    ///   query's paths lead through, in a child context, and over several stores. With a `fetchBatchSize` no object is made.
    open func performFetch() throws {
        managedObjectContext.checkQueue()
        // The query itself finds earlier changes.
        managedObjectContext.postChanges()
        let (fetch, terms) = try specification()
        let query = try ResultsQuery(fetch, asks: terms, sectionNameKeyPath: sectionNameKeyPath, managedObjectContext)
        try checkResults(of: query)
        list = try query.list(isFollowed: delegate != nil, cacheName: cacheName)
        self.query = query
        fetches += 1
        unsaved = []
        followIfNeeded()
        offerSnapshot(updated: [])
    }

    private func followIfNeeded() {
        if delegate != nil, query != nil { managedObjectContext.addFollower(self) }
    }

    /// Deletes the sections that `performFetch()` keeps under a name, or all of them.
    ///
    /// The cache is in this process's memory, and holds sections without objects. It is used for the same request on the same commit of the same
    /// store, and replaced otherwise, so a changed request needs no deletion. It does not know the other inputs of transient section names: delete
    /// the cache when those have changed.
    public final class func deleteCache(withName name: String?) { SectionCache.delete(name) }

    // MARK: Results

    /// nil before the first fetch.
    final var elements: [Any]? {
        managedObjectContext.checkQueue()
        guard let query else { return nil }
        return list.entries.indices.map { query.element($0, of: list) }
    }

    /// Whether the class is a subclass by the program, which may override the members below.
    var isSubclassed: Bool { false }
    /// The elements as a subclass gives them.
    var overriddenElements: [Any]? { elements }
    func overriddenElement(at path: IndexPath) -> Any { element(at: path) }
    private final var isAskingSubclass = false

    /// Calls a subclass's override, unless that is the caller.
    final func askSubclass<Answer>(_ body: (AnyFetchedResultsController) -> Answer?) -> Answer? {
        guard isSubclassed, !isAskingSubclass else { return nil }
        isAskingSubclass = true
        defer { isAskingSubclass = false }
        return body(self)
    }

    final func element(at path: IndexPath) -> Any {
        managedObjectContext.checkQueue()
        guard let query, let index = list.index(of: path) else {
            misuse(
                "The fetched results controller has nothing at \(Array(path)): "
                    + (query == nil ? "perform its fetch first." : "it has \(list.sections.count) sections and \(list.count) objects."))
        }
        results?.readBatch(of: index)
        return query.element(index, of: list)
    }

    final func indexPath(of element: Any) -> IndexPath? {
        managedObjectContext.checkQueue()
        let index: Int?
        switch element {
        case let object as NSManagedObject: index = results?.index(of: object)
        case let id as NSManagedObjectID: index = managedObjectContext.ownKey(of: id).flatMap { results?.index(of: $0) }
        case let dictionary as NSDictionary: index = list.dictionaries.firstIndex { $0 === dictionary || $0.isEqual(dictionary) }
        default: index = nil
        }
        return index.map(list.indexPath)
    }

    /// The results as they are now; nil before `performFetch()`.
    package final var results: FetchedResults? {
        guard let query else { return nil }
        let results = shown ?? FetchedResults(query, list)
        shown = results
        return results
    }

    // MARK: Sections

    /// The sections, in order; nil before `performFetch()`. Without a section key path there is one section, which may be empty.
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

    /// The index title of a section: the delegate's, or without a delegate the capital first letter of the name.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        guard let delegate else { return Self.capitalLetter(of: sectionName) }
        return delegate.controller(erased, sectionIndexTitleForSectionName: sectionName)
    }

    /// The first section with an index title.
    /// - Parameters:
    ///   - title: the index title.
    ///   - sectionIndex: the title's index in `sectionIndexTitles`.
    /// - Returns: `NSNotFound` if no section has it.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        list.sections.firstIndex { sectionIndexTitle(forSectionName: $0.name) == title } ?? NSNotFound
    }

    static func capitalLetter(of name: String) -> String { name.prefix(1).uppercased() }

    /// This controller with the type that delegates receive.
    final var erased: NSFetchedResultsController<any NSFetchRequestResult> { seen(as: (any NSFetchRequestResult).self) }

    /// This controller with another type of results.
    ///
    /// The returned reference may have another type of results than the instance. That is safe: no stored property and no member of the class
    /// depends on the type, and the members of `TypedFetchedResults` take it from their call. The function is never inlined, so no optimizer sees
    /// the reference with both types.
    @inline(never)
    final func seen<Result>(as type: Result.Type) -> NSFetchedResultsController<Result> {
        Unmanaged<NSFetchedResultsController<Result>>.fromOpaque(Unmanaged.passUnretained(self).toOpaque()).takeUnretainedValue()
    }
}
