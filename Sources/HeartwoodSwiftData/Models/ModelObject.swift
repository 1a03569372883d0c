import Foundation
import Heartwood

/// The managed object behind a model in a context.
///
/// It holds its model, which holds it: a weak reference takes as long to make as an object, and slows each later count of the model's references
/// down. So the context has to let go of models that nobody else has (`ModelObjectContext+Models.swift`).
///
/// 1. `standing` says in which of the context's lists the object stands for its model. Entries of an earlier standing may be in the others.
/// 2. A held model that nobody else has goes when the context comes to it, unless it is kept.
/// 3. An object that does not hold its model refers to it weakly: one whose context has gone, or has too many models.
final class ModelObject: NSManagedObject {
    enum Standing: UInt8 {
        /// It holds no model.
        case none
        /// The model was made since the last use of the context.
        case recent
        /// The model was inserted or changed since the last save: its transient values live as long as its changes.
        case kept
        /// The program had the model when the context came to it.
        case lasting
    }

    @exclusivity(unchecked) private var held: AnyObject?
    @exclusivity(unchecked) private(set) var standing = Standing.none
    /// Whether the context's list of lasting models has the object.
    @exclusivity(unchecked) var isListed = false
    @exclusivity(unchecked) private weak var reference: AnyObject?
    @exclusivity(unchecked) private var saveNumber: UInt32 = 0
    private var insertion: Insertion?

    private final class Insertion {
        let identity: PersistentIdentifier
        init(_ identity: PersistentIdentifier) { self.identity = identity }
    }

    /// The identity of a new object during its save to a store of the program's own, which chooses the lasting one.
    var insertedIdentity: PersistentIdentifier? {
        get { insertion?.identity }
        set { insertion = newValue.map(Insertion.init) }
    }

    /// The context; nil for an object of no context, which some code makes to convert values.
    var home: ModelObjectContext? { managedObjectContext as? ModelObjectContext }

    var modelContext: ModelContext? { home?.owner }

    /// Where its entity has the properties of the model's classes.
    var mapped: MappedEntity { home?.entity(of: self) ?? MappedModel.of(entity).entity(entity) }

    /// An undo, a merge and a refresh change values without a setter.
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        announce { _ in true }
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        announce { _ in true }
    }

    override func willSave() {
        super.willSave()
        guard !isDeleted, let home, saveNumber != home.saved.number else { return }
        saveNumber = home.saved.number
        home.saved.objects.append((self, isInserted))
    }

    // MARK: The model

    /// The model, while the program or this object has it.
    var model: AnyObject? { held ?? reference }

    /// The same as one of a class: nil where there is no model, and nil in it for one of another class.
    func known<Model: AnyObject>() -> Model?? {
        guard let model else { return nil }
        return .some(type(of: model) == Model.self ? unsafeDowncast(model, to: Model.self) : model as? Model)
    }

    /// The model stands before this object from now on, which is in the context's list of recent ones.
    @inline(__always)
    func hold(_ model: AnyObject) {
        held = model
        standing = .recent
    }

    /// The model stands before this object, which does not hold it.
    func refer(to model: AnyObject) { reference = model }

    /// The model stands before this object no more.
    func forgetModel() {
        held = nil
        reference = nil
        standing = .none
    }

    /// Holds the model until the context is saved.
    @inline(__always)
    func keep() {
        if standing != .kept { keepModel() }
    }

    @inline(never)
    private func keepModel() {
        guard let home, home.keeps else { return }
        if held == nil { held = reference }
        guard held != nil else { return }
        standing = .kept
        home.note(self)
    }

    /// Lets go of the model if nobody else has it.
    /// - Returns: whether the program has it, so that the object holds it further on.
    @inline(__always)
    func letGoIfUnused() -> Bool {
        // (2)
        guard held != nil, !isKnownUniquelyReferenced(&held) else {
            standing = .none
            held = nil
            return false
        }
        standing = .lasting
        return true
    }

    /// Lets go of a model that nobody else has and that is not kept, so that another one can stand before the object.
    func letGoOfUnusedModel() {
        if standing != .kept, held != nil, isKnownUniquelyReferenced(&held) { forgetModel() }
    }

    /// The context goes: the program alone holds the model from now on.
    func letGo() {
        if held != nil, !isKnownUniquelyReferenced(&held) { reference = held }
        standing = .none
        held = nil
    }
}
