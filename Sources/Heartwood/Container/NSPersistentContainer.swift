import Foundation
import Synchronization

/// The whole stack in one object: a model, a coordinator with its stores, and contexts.
///
/// Open for subclassing: a subclass may add methods of its own and override `defaultDirectoryURL()`.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentcontainer
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Unchecked: the description list is under a lock; the rest is immutable.

    public final let name: String
    public final let managedObjectModel: NSManagedObjectModel
    public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
    /// The context for the main queue.
    public final let viewContext: NSManagedObjectContext

    private struct Descriptions: @unchecked Sendable {
        var list: [NSPersistentStoreDescription]
    }

    private let descriptions: Mutex<Descriptions>

    /// The stores to load. At first one record log named after the container, in `defaultDirectoryURL()`.
    public final var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 }.list }
        set {
            let new = Descriptions(list: newValue)
            descriptions.withLock { $0 = new }
        }
    }

    /// A container whose model is found by name: `NAME.xcdatamodeld`, `NAME.xcdatamodel`, or what Xcode compiles of them, `NAME.momd` or
    /// `NAME.mom`, in the main bundle's resources, beside the executable, or in the working directory.
    /// - Precondition: the model is found and loads; the message says where it was looked for.
    public convenience init(name: String) {
        do {
            self.init(name: name, managedObjectModel: try ModelFinder.model(named: name))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self.name = name
        managedObjectModel = model
        persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = persistentStoreCoordinator
        descriptions = Mutex(Descriptions(list: []))
        super.init()
        let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).heartwood")
        persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    }

    /// Where stores go unless a description says otherwise: the user's application support directory, under the name of
    /// the executable.
    open class func defaultDirectoryURL() -> URL {
        let base = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
        let process = ProcessInfo.processInfo.processName
        return base.appendingPathComponent(process.isEmpty ? "heartwood" : process)
    }

    /// Adds every described store, and calls back once for each.
    ///
    /// The default directory is made if it is missing; no other directory is.
    public final func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            if let url = description.url, url.deletingLastPathComponent().path == Self.defaultDirectoryURL().path {
                try? FileManager.default.createDirectory(at: Self.defaultDirectoryURL(), withIntermediateDirectories: true)
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// A new context with a queue of its own.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs `block` with a new background context, on its queue, later.
    open func performBackgroundTask(_ block: sending @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs `block` with a new background context, on its queue, and gives its result; throws what it throws, and nothing where it
    /// does not.
    @concurrent
    public final func performBackgroundTask<T, E: Error>(
        _ block: sending @escaping (NSManagedObjectContext) throws(E) -> T
    ) async throws(E) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(E) -> T in try block(context) }
    }
}
