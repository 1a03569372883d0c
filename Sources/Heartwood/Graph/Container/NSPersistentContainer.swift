import Foundation
import Synchronization

/// The whole stack in one object: a model, a coordinator with its stores, and contexts.
///
/// Open for subclassing: a subclass may add methods of its own and override `defaultDirectoryURL()`.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentcontainer
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Unchecked: the description list is under a lock; the rest is immutable.

    open private(set) var name: String
    open private(set) var managedObjectModel: NSManagedObjectModel
    private let coordinator: NSPersistentStoreCoordinator
    private let mainContext: NSManagedObjectContext
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    /// The context for the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }

    private struct Descriptions: @unchecked Sendable {
        var list: [NSPersistentStoreDescription]
    }

    private let descriptions: Mutex<Descriptions>

    /// The stores to load. At first one record log named after the container, in `defaultDirectoryURL()`.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 }.list }
        set {
            let new = Descriptions(list: newValue)
            descriptions.withLock { $0 = new }
        }
    }

    /// A container whose model is found by name: `NAME.xcdatamodeld`, `NAME.xcdatamodel`, or what Xcode compiles of them, `NAME.momd` or
    /// `NAME.mom`, in the resources of the main bundle or of another that is loaded, in the package resources beside the executable, beside
    /// it, in the working directory, or in the Resources there.
    /// - Precondition: the model is found and loads; the message says where it was looked for.
    /// - Parameter fileID: tells in which module the entities' classes may be found that the model names without one.
    public convenience init(name: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(modelNamed: name)
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init(name: String) { self.init(modelNamed: name) }

    private convenience init(modelNamed name: String) {
        do {
            self.init(name: name, managedObjectModel: try ModelFinder.model(named: name))
        } catch {
            preconditionFailure(error.localizedDescription)
        }
    }

    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        // The module of a class of the program's own is likely to have those of its model.
        ManagedObjectClasses.note(moduleOf: Self.self)
        self.name = name
        managedObjectModel = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex(Descriptions(list: []))
        super.init()
        let first = Descriptions(list: [
            NSPersistentStoreDescription(url: Self.defaultDirectoryURL().appendingPathComponent("\(name).heartwood"))
        ])
        descriptions.withLock { $0 = first }
    }

    /// Where stores go unless a description says otherwise: the user's application support directory, under the name of
    /// the executable.
    open class func defaultDirectoryURL() -> URL {
        let base = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
        let process = ProcessInfo.processInfo.processName
        return base.appendingPathComponent(process.isEmpty ? "heartwood" : process)
    }

    /// Adds every described store, and calls back once for each: before this returns, or later on another thread where the description
    /// says so (`shouldAddStoreAsynchronously`).
    ///
    /// The default directory is made if it is missing; no other directory is. A store that cannot be added keeps no other from it.
    open func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            makeDirectory(of: description)
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Adds every described store on another thread, and returns once all are open.
    /// - Throws: the first error, once each store was tried; those that could be added stay.
    @concurrent
    public final func loadPersistentStores() async throws {
        let failure: Confined<(any Error)?> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var failure: (any Error)?
                for description in self.persistentStoreDescriptions {
                    self.makeDirectory(of: description)
                    do {
                        try self.persistentStoreCoordinator.addPersistentStore(description)
                    } catch {
                        failure = failure ?? error
                    }
                }
                continuation.resume(returning: Confined(value: failure))
            }
        }
        if let failure = failure.value { throw failure }
    }

    private func makeDirectory(of description: NSPersistentStoreDescription) {
        guard let url = description.url, url.deletingLastPathComponent().path == Self.defaultDirectoryURL().path else { return }
        // Where it cannot be made, adding the store says so.
        try? FileManager.default.createDirectory(at: Self.defaultDirectoryURL(), withIntermediateDirectories: true)
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

/// Has `NSPersistentContainer.defaultDirectoryURL` as a property too, which a class that has the method cannot declare.
public protocol HasDefaultDirectory: NSPersistentContainer {}

extension NSPersistentContainer: HasDefaultDirectory {}

extension HasDefaultDirectory {
    /// What `defaultDirectoryURL()` gives.
    public static var defaultDirectoryURL: URL { defaultDirectoryURL() }
}
