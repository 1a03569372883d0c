import Foundation

/// Presents a fetch request's results as a list in sections, and reports its changes to a delegate.
///
/// Use it on its context's queue. `performFetch()` fetches; then index paths of a section and an item lead to objects. With a delegate the
/// controller follows its context: unsaved changes after they are processed (`processPendingChanges()`), merged changes, refreshes, undo, rollback
/// and reset. Without a delegate it keeps the fetched list. It follows more than Core Data's controller: objects that the context did not know
/// before a merge, changes of other objects that the predicate, the order or the sections depend on, and requests with a limit or an offset.
///
/// With a `fetchBatchSize` it keeps only keys, and makes objects on demand, a batch at a time; otherwise it keeps the objects. It also follows
/// results that are IDs, but not dictionaries, as on Apple's platforms.
///
/// The type of results exists only for the compiler. The members for all types, and those that subclasses override, belong to
/// `AnyFetchedResultsController` and `OverriddenFetchedResults`.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller
open class NSFetchedResultsController<ResultType>: OverriddenFetchedResults<ResultType>, TypedFetchedResults, MadeByFactory {
    /// - Parameters:
    ///   - fetchRequest: must have sort descriptors. With sections, it sorts objects by the section key path first, or by keys that give the same
    ///     order. Only `performFetch()` reads it.
    ///   - context: the context of the objects. The controller retains it.
    ///   - sectionNameKeyPath: leads from an object to its section's name; nil for one section. A persistent attribute, of the object or of one
    ///     that a to-one relationship leads to, is read from rows. For other paths, such as transient attributes and keys that a class answers in
    ///     its `value(forKey:)`, the controller reads each object.
    ///   - name: the name of the cache of sections, see `deleteCache(withName:)`; nil for none.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        super.init(request: fetchRequest, context, sectionNameKeyPath, name) {
            (try FetchSpecification(fetchRequest, context: context, isList: true), ResultsTerms(fetchRequest))
        }
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

/// The members of `NSFetchedResultsController` whose types depend on its results.
///
/// They belong to a protocol's extension, not to the class. A delegate receives the controller as one of `any NSFetchRequestResult`, which usually
/// is not its real type: on Apple's platforms both are one class. An extension's members take the type of results from the call, while a class's
/// own members would take it from the instance.
public protocol TypedFetchedResults: AnyFetchedResultsController {
    associatedtype ResultType
}

extension TypedFetchedResults {
    /// The same controller with results of this type: no new one is made, and `===` holds.
    ///
    /// It replaces `controller as? NSFetchedResultsController<Person>` in code for Apple's platforms. Objective-C ignores the type of a class's
    /// results; Swift does not, and the cast gives nil.
    /// - Precondition: later results of the controller are of this type.
    /// - Complexity: O(1).
    public init<Result>(_ controller: AnyFetchedResultsController) where Self == NSFetchedResultsController<Result> {
        self.init(taking: controller.seen(as: Result.self))
    }

    /// The request that the controller was made with. Changes to it take effect with the next `performFetch()`.
    public var fetchRequest: NSFetchRequest<ResultType> {
        // No stored property of a request depends on its type of results, which may differ from the caller's.
        Unmanaged<NSFetchRequest<ResultType>>.fromOpaque(Unmanaged.passUnretained(request).toOpaque()).takeUnretainedValue()
    }

    /// All results, in order; nil before `performFetch()`.
    ///
    /// Objects are faults unless they were read. With a `fetchBatchSize` this makes all objects that the context does not know; `object(at:)` makes
    /// those of one batch.
    /// - Complexity: O(results).
    public var fetchedObjects: [ResultType]? {
        (askSubclass { $0.overriddenElements } ?? elements).map { $0.map(result) }
    }

    /// The result at an index path of a section and an item.
    ///
    /// With a `fetchBatchSize` it makes the objects of the batch and reads their rows together, unless that has been done.
    /// - Precondition: the result exists; `performFetch()` has succeeded.
    /// - Complexity: O(1).
    public func object(at indexPath: IndexPath) -> ResultType {
        result(askSubclass { $0.overriddenElement(at: indexPath) } ?? element(at: indexPath))
    }

    /// The index path of an object; nil if it is not among the results.
    /// - Complexity: O(results) for the first two calls after the results have changed, then O(log sections).
    public func indexPath(forObject object: ResultType) -> IndexPath? { indexPath(of: object) }

    private func result(_ element: Any) -> ResultType {
        guard let result = element as? ResultType else {
            misuse("The fetched results controller has found \(type(of: element)), not \(ResultType.self).")
        }
        return result
    }
}
