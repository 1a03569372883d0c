import Foundation
import Heartwood

/// Keeps track of models, fetches them and saves them.
///
/// A context is used by one actor or thread at a time. It takes in the saves of the container's other contexts when it is used next; the main
/// context, soon.
/// Source: https://developer.apple.com/documentation/swiftdata/modelcontext
public final class ModelContext: Equatable, SendableMetatype {
    public var container: ModelContainer { maker ?? twin }
    /// The container, or a twin of it that a main context keeps: the container keeps its main context.
    private let twin: ModelContainer
    /// Of the main context: the container that made it, as long as the program has that.
    private weak var maker: ModelContainer?
    let managed: ModelObjectContext
    let isMain: Bool
    let inbox = SaveInbox()
    let policy = ModelMergePolicy()
    /// What setters could not throw. The next save throws it.
    private var failure: SwiftDataError?
    /// Of the main context; see `onMainQueue`.
    private var mainFollower: SaveFollower?
    private var isAutosaveWaiting = false
    /// Whether the block of `atomically` runs, which sees no save of others until it has saved itself.
    var isAtomic = false

    /// Identifies the editing of this context to a store.
    public var editingState = EditingState() { didSet { managed.transactionAuthor = editingState.author } }

    /// A context for the actor or thread that uses it. It does not save by itself unless it is told to.
    public convenience init(_ container: ModelContainer) { self.init(container, isMain: false) }

    /// - Parameter twin: shares the container's stores.
    convenience init(mainOf container: ModelContainer, twin: ModelContainer) {
        self.init(twin, isMain: true)
        maker = container
        autosaveEnabled = true
        // An initializer's assignment runs no observer of the property.
        noteAutosave()
        let takeIn = onMainQueue { $0.takeInSaves() }
        let follower = SaveFollower(takeIn)
        inbox.follow(follower)
        mainFollower = follower
    }

    private init(_ container: ModelContainer, isMain: Bool) {
        twin = container
        self.isMain = isMain
        managed = ModelObjectContext(isMain ? .mainQueueConcurrencyType : .privateQueueConcurrencyType, container.mapped)
        managed.persistentStoreCoordinator = container.container.persistentStoreCoordinator
        managed.mergePolicy = policy
        managed.owner = self
        container.register(inbox)
        if container.hasDataStores { container.beginEditing(editingState) }
    }

    deinit {
        if twin.hasDataStores { twin.endEditing(editingState) }
        // A changed object holds its model, which holds the managed object context, which holds the object.
        managed.endKeeping()
    }

    public static func == (a: ModelContext, b: ModelContext) -> Bool { a === b }

    public var undoManager: UndoManager? {
        get { managed.undoManager }
        set { managed.undoManager = newValue }
    }

    /// The author whom the history names for the context's saves.
    public var author: String? {
        get { editingState.author }
        set { editingState.author = newValue }
    }

    /// Whether the context saves by itself soon after a change: true for the main context.
    ///
    /// Only the main context does it: no other context knows when its actor lets it.
    public var autosaveEnabled = false {
        didSet { noteAutosave() }
    }

    private func noteAutosave() {
        guard autosaveEnabled, isMain else { return managed.onChange = nil }
        managed.onChange = { $0.owner?.saveSoon() }
        if !managed.kept.isEmpty { saveSoon() }
    }

    // MARK: Changes

    public var hasChanges: Bool { managed.hasChanges }

    public var insertedModelsArray: [any PersistentModel] { models(of: managed.insertedObjects) }
    public var changedModelsArray: [any PersistentModel] { models(of: managed.updatedObjects) }
    public var deletedModelsArray: [any PersistentModel] { models(of: managed.deletedObjects) }

    private func models(of objects: Set<NSManagedObject>) -> [any PersistentModel] {
        objects.compactMap { ($0 as? ModelObject).flatMap(model(of:)) }.sorted { $0.persistentModelID < $1.persistentModelID }
    }

    /// Saves when the main queue comes to it: after the work that makes the change.
    private func saveSoon() {
        guard !isAutosaveWaiting else { return }
        isAutosaveWaiting = true
        onMainQueue { context in
            context.isAutosaveWaiting = false
            guard context.autosaveEnabled, context.hasChanges else { return }
            // An error stays to be thrown by the program's own save, which meets it again.
            try? context.save()
        }()
    }

    /// What puts work of the context on the main queue. It may be called on any thread, and the context may have gone by then.
    private func onMainQueue(_ work: @escaping @Sendable (ModelContext) -> Void) -> @Sendable () -> Void {
        let weak = WeakModelContext(context: self)
        return { DispatchQueue.main.async { weak.context.map(work) } }
    }

    func note(_ error: SwiftDataError) { failure = failure ?? error }

    func takeFailure() -> SwiftDataError? {
        defer { failure = nil }
        return failure
    }

    // MARK: Saves of other contexts

    /// Merges what other contexts have saved. Their changes win over values that this context has read, and lose against its own changes.
    func takeInSaves() {
        managed.letGoOfUnused()
        guard !isAtomic, let changes = inbox.take() else { return }
        merge(changes)
    }

    /// Merges what the stores have already. It is no change of this context, which has nothing of it to save.
    func merge(_ changes: SavedChanges) {
        let farewells = farewells(toDeleted: changes.deleted)
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes.userInfo, into: [managed])
        managed.endMergedDeletions(isSaved: true)
        for farewell in farewells { farewell.give() }
    }

    /// The models that another context has deleted and the program holds keep the values that they have here. One that an undo inserts again stays.
    private func farewells(toDeleted deleted: Set<NSManagedObjectID>) -> [Farewell] {
        deleted.compactMap { id in
            guard let object = managed.registeredObject(for: id) as? ModelObject, !object.isInserted else { return nil }
            // A store of the program's own has no row any more that could be read now.
            return container.hasDataStores && object.isFault ? nil : Farewell(object)
        }
    }

    /// The model of an object of this context: the one that the program holds, or a new one.
    func model(of object: ModelObject) -> (any PersistentModel)? { managed.model(of: object) }
}

extension ModelContext {
    /// Source: https://developer.apple.com/documentation/swiftdata/modelcontext/willsave
    public static let willSave = Notification.Name("SwiftDataModelContextWillSave")
    /// Posted after a save. The user info has the identifiers by `NotificationKey`, once some code has read this name.
    /// Source: https://developer.apple.com/documentation/swiftdata/modelcontext/didsave
    public static var didSave: Notification.Name { SaveNotification.read() }

    /// The keys of the user info.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/modelcontext/notificationkey
    public enum NotificationKey: String, Sendable {
        case queryGeneration
        case invalidatedAllIdentifiers
        case insertedIdentifiers = "inserted"
        case updatedIdentifiers = "updated"
        case deletedIdentifiers = "deleted"
        case historyTokens
    }
}

@available(*, unavailable, message: "A context is used by one actor. Pass the container, or identifiers of models.")
extension ModelContext: @unchecked Sendable {}
