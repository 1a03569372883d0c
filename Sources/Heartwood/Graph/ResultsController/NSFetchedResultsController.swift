import Foundation

/// Shows what a fetch request finds as a list in sections, and tells a delegate what changes in it.
///
/// It is used on its context's queue. `performFetch()` fetches; index paths of a section and an item lead to objects from then on. With a
/// delegate the controller follows its context: unsaved changes once they are processed (`processPendingChanges()`), changes that are
/// merged, refreshes, undo, rollback and reset. Without one it shows what was found. It follows more than Core Data's does: objects that
/// the context did not know before a merge, changes of other objects that the predicate, the order or the sections look at, and windows of
/// requests with a limit or an offset.
///
/// With a `fetchBatchSize` it keeps keys alone, and objects come when they are asked for, so many at a time; without one it keeps the
/// objects. Results that are IDs are followed too; dictionaries are not, as on Apple's platforms.
///
/// The type of results is a name for the compiler: whatever works on all of them, and what subclasses may override, is
/// `AnyFetchedResultsController`'s, and `OverriddenFetchedResults`'.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller
open class NSFetchedResultsController<ResultType>: OverriddenFetchedResults<ResultType>, TypedFetchedResults, MadeByFactory {
    /// - Parameters:
    ///   - fetchRequest: must have sort descriptors; where there are sections, objects are sorted by what the sections are named after, or by
    ///     what gives the same order. `performFetch()` looks at it, nobody else does.
    ///   - context: whose objects they are; the controller keeps it.
    ///   - sectionNameKeyPath: leads from an object to its section's name. A persistent attribute, also of an object that a to-one
    ///     relationship leads to, is read from rows; for anything else each object is asked: transient attributes, and keys that a class
    ///     answers in its `value(forKey:)`. nil: one section.
    ///   - name: of the cache of sections, see `deleteCache(withName:)`; nil for none.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        super.init(request: fetchRequest, context, sectionNameKeyPath, name)
    }

    override func specification() throws -> (fetch: FetchSpecification, terms: ResultsTerms) {
        (try FetchSpecification(fetchRequest, context: managedObjectContext), ResultsTerms(fetchRequest))
    }

    override func checkResults(of query: ResultsQuery) throws {
        let found: Any.Type
        switch query.kind {
        case .ids: found = NSManagedObjectID.self
        case .dictionaries: found = NSDictionary.self
        case .objects:
            guard ResultType.self is NSManagedObject.Type else {
                found = NSManagedObject.self
                break
            }
            for entity in query.fetch.concreteEntities {
                let objectClass = managedObjectContext.runtime(for: entity).objectClass
                if !(objectClass is ResultType.Type) { throw mismatch(objectClass) }
            }
            return
        }
        let wanted = ResultType.self
        let isClass = wanted is NSManagedObject.Type || wanted is NSManagedObjectID.Type || wanted is NSDictionary.Type
        if isClass, wanted != found { throw mismatch(found) }
    }

    override var isSubclassed: Bool { type(of: self) != NSFetchedResultsController<ResultType>.self }

    private func mismatch(_ found: Any.Type) -> NSError {
        CoreDataError.unsupported(
            "The request gives \(found), not \(ResultType.self). For a class of your own, set the entity's managedObjectClassName to its name, "
                + "with the module in front where it is not found without.")
    }
}

/// The members of `NSFetchedResultsController` whose types are those of its results.
///
/// They stand in a protocol's extension, not in the class. A delegate is handed the controller as one of `any NSFetchRequestResult`, which it
/// mostly is not: on Apple's platforms both are one class. Calls of an extension's members know the results by the type that is written at
/// the call, where a class's own members would go by the type that the controller was made with.
public protocol TypedFetchedResults: AnyFetchedResultsController {
    associatedtype ResultType
}

extension TypedFetchedResults {
    /// A controller itself, as one with results of this type: no other is made, and `===` holds.
    ///
    /// It stands where code for Apple's platforms says `controller as? NSFetchedResultsController<Person>`, in a delegate or to call one:
    /// Objective-C does not look at the type of results of a class, Swift does, and the cast is nil.
    /// - Precondition: what is asked of the controller later is of this type.
    /// - Complexity: O(1).
    public init<Result>(_ controller: AnyFetchedResultsController) where Self == NSFetchedResultsController<Result> {
        self.init(taking: controller.seen(as: Result.self))
    }

    /// The request that the controller was made with. A change of it shows with the next `performFetch()`.
    public var fetchRequest: NSFetchRequest<ResultType> {
        // No stored property of a request depends on its type of results, and the caller's may be another one.
        Unmanaged<NSFetchRequest<ResultType>>.fromOpaque(Unmanaged.passUnretained(request).toOpaque()).takeUnretainedValue()
    }

    /// Everything that was found, in order; nil before `performFetch()`.
    ///
    /// Objects come as faults unless they were read. With a `fetchBatchSize` this makes the objects that the context does not know;
    /// `object(at:)` makes those of one batch.
    /// - Complexity: O(results).
    public var fetchedObjects: [ResultType]? {
        (askSubclass { $0.statedElements } ?? elements).map { $0.map(result) }
    }

    /// The result at an index path of a section and an item.
    ///
    /// With a `fetchBatchSize` the objects of its batch are made and their rows read together, unless they are at hand.
    /// - Precondition: there is one; `performFetch()` has succeeded.
    /// - Complexity: O(1).
    public func object(at indexPath: IndexPath) -> ResultType {
        result(askSubclass { $0.statedElement(at: indexPath) } ?? element(at: indexPath))
    }

    /// Where an object is; nil where it is not among the results.
    /// - Complexity: O(results), a comparison of two words for each.
    public func indexPath(forObject object: ResultType) -> IndexPath? { indexPath(of: object) }

    private func result(_ element: Any) -> ResultType {
        guard let result = element as? ResultType else {
            preconditionFailure("The fetched results controller has found \(type(of: element)), not \(ResultType.self).")
        }
        return result
    }
}
