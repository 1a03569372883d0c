import Foundation
import Synchronization

/// The whole stack in one object: a model, a coordinator with its stores, and contexts.
///
/// Open for subclassing: a subclass may add methods of its own and override `defaultDirectoryURL()`.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentcontainer
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Unchecked: the description list is under a lock; the rest is immutable once an initializer has returned.

    open private(set) var name: String
    open private(set) var managedObjectModel: NSManagedObjectModel
    private let coordinator: NSPersistentStoreCoordinator
    private let mainContext: NSManagedObjectContext
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
    /// The context for the main queue.
    open var viewContext: NSManagedObjectContext { mainContext }

    private struct Descriptions: @unchecked Sendable {
        /// nil until someone asks for them: the first look for the default directory reads the environment, which takes longer than to open a
        /// store.
        var list: [NSPersistentStoreDescription]?
    }

    private let descriptions: Mutex<Descriptions>
    /// Why the model is an empty one. A store would lose its objects to that, so none is opened.
    private var modelFailure: (any Error)?

    /// The stores to load. At first one record log named after the container, in `defaultDirectoryURL()`. If that file is
    /// missing and a Core Data store `NAME.sqlite` lies beside it, loading converts the Core Data store, and leaves its file as it is.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            if let known = descriptions.withLock({ $0 }).list { return known }
            // Outside of the lock: a subclass may override the directory.
            let first = Descriptions(list: [firstDescription()])
            return descriptions.withLock { descriptions in
                if descriptions.list == nil { descriptions = first }
                return descriptions
            }.list ?? []
        }
        set {
            let new = Descriptions(list: newValue)
            descriptions.withLock { $0 = new }
        }
    }

    /// Makes a container and finds its model by name: `NAME.xcdatamodeld`, `NAME.xcdatamodel`, or Xcode's compiled form, `NAME.momd` or
    /// `NAME.mom`. It searches the package resources of the calling module's target, the resources of the main bundle and of other loaded
    /// bundles, all package resources beside the executable, the executable's directory, the working directory, and the `Resources` directory
    /// in it.
    ///
    /// Without a model that loads, the container has an empty one. The reason goes to standard error, and `loadPersistentStores` gives it as
    /// the error of each store; it opens none.
    /// - Parameters:
    ///   - name: the model's, and the container's own.
    ///   - fileID: names the module that may have the classes of entities whose model names no module.
    public convenience init(name: String, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(modelNamed: name, module: ManagedObjectClasses.module(of: fileID))
    }

    /// The initializer without `fileID`, so that it can be used as a function value.
    @_disfavoredOverload
    public convenience init(name: String) { self.init(modelNamed: name, module: nil) }

    private convenience init(modelNamed name: String, module: String?) {
        do {
            self.init(name: name, managedObjectModel: try ModelFinder.model(named: name, module: module))
        } catch {
            self.init(name: name, managedObjectModel: NSManagedObjectModel())
            modelFailure = error
            try? FileHandle.standardError.write(contentsOf: Data("Heartwood: \(error.localizedDescription)\n".utf8))
        }
    }

    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        // The module of a container subclass probably has the classes of its model.
        ManagedObjectClasses.note(moduleOf: Self.self)
        self.name = name
        managedObjectModel = model
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        descriptions = Mutex(Descriptions())
        super.init()
    }

    private func firstDescription() -> NSPersistentStoreDescription {
        let directory = Self.defaultDirectoryURL()
        return NSPersistentStoreDescription(
            url: directory.appendingPathComponent("\(name).heartwood"), neighbor: directory.appendingPathComponent("\(name).sqlite"))
    }

    /// The directory of stores whose description names no other: the user's application support directory, in a folder named after the
    /// executable.
    open class func defaultDirectoryURL() -> URL {
        let base = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
        let process = ProcessInfo.processInfo.processName
        return base.appendingPathComponent(process.isEmpty ? "heartwood" : process)
    }

    /// Adds every described store and calls `block` once for each: before this method returns, or later on another thread if the
    /// description asks for that (`shouldAddStoreAsynchronously`).
    ///
    /// Makes the default directory if it is missing, but no other directory. A store that cannot be added does not keep the others from
    /// being added.
    open func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        for description in persistentStoreDescriptions {
            if let modelFailure {
                block(description, modelFailure)
                continue
            }
            makeDirectory(of: description)
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Adds every described store on another thread, and returns when all are open.
    /// - Throws: the first error, after every store was tried; the stores that could be added stay.
    @concurrent
    public final func loadPersistentStores() async throws {
        if let modelFailure { throw modelFailure }
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
        // A store that is there has its directory.
        guard let url = description.url, !StoreFiles.isThere(url), url.deletingLastPathComponent().path == Self.defaultDirectoryURL().path
        else { return }
        // If the directory cannot be made, adding the store reports it.
        try? FileManager.default.createDirectory(at: Self.defaultDirectoryURL(), withIntermediateDirectories: true)
    }

    /// Makes a context with its own queue.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Makes a background context and runs `block` with it, later, on its queue.
    open func performBackgroundTask(_ block: sending @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Makes a background context, runs `block` with it on its queue, and returns the block's result; throws only the error that the block
    /// throws.
    @concurrent
    public final func performBackgroundTask<T, E: Error>(
        _ block: sending @escaping (NSManagedObjectContext) throws(E) -> T
    ) async throws(E) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(E) -> T in try block(context) }
    }
}

/// Declares `defaultDirectoryURL` as a property too; a class that has the method of that name cannot declare it.
public protocol _HasDefaultDirectory: NSPersistentContainer {}

extension NSPersistentContainer: _HasDefaultDirectory {}

extension _HasDefaultDirectory {
    /// Same as `defaultDirectoryURL()`.
    public static var defaultDirectoryURL: URL { defaultDirectoryURL() }
}
