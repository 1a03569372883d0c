import Foundation
@_spi(GeneratedCode) import Heartwood

extension ModelContext {
    /// Saves the changes.
    /// - Throws: `SwiftDataError.modelValidationFailure` for values that the schema refuses, and the store's errors. The changes stay, unsaved.
    public func save() throws {
        takeInSaves()
        if let failure = takeFailure() { throw failure }
        guard managed.hasChanges else { return }
        NotificationCenter.default.post(name: Self.willSave, object: self)
        let deleted = managed.deletedObjects
        let farewells = deleted.compactMap { ($0 as? ModelObject).flatMap(Farewell.init) }
        managed.saved = SavedObjects(number: managed.saved.number &+ 1)
        defer {
            policy.forget()
            managed.saved.objects = []
        }
        do {
            defer { policy.joinModels(managed) }
            try managed.save()
        } catch let error as CocoaError where error.isValidationError {
            throw SwiftDataError.modelValidationFailure.because(error.localizedDescription, underlying: error)
        }
        for farewell in farewells + policy.deleted.compactMap(\.farewell) { farewell.give() }
        managed.releaseKept(isSaved: true)
        var changes = isFollowed
            ? managed.saved.changes(deleted: Array(deleted) + policy.deleted.map(\.object), changed: policy.changed) : SavedChanges()
        changes.updated.formUnion(takeReregistered())
        container.announce(changes, by: self)
        NotificationCenter.default.post(name: SaveNotification.name, object: self, userInfo: SaveNotification.isNamed ? userInfo(changes) : nil)
    }

    /// Whether somebody may ask what a save has changed.
    private var isFollowed: Bool { SaveNotification.isNamed || container.hasInboxes(besides: inbox) }

    private func userInfo(_ changes: SavedChanges) -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        func put(_ ids: Set<NSManagedObjectID>, _ key: NotificationKey) { info[key.rawValue] = ids.map { PersistentIdentifier($0) } }
        put(changes.inserted, .insertedIdentifiers)
        put(changes.updated, .updatedIdentifiers)
        put(changes.deleted, .deletedIdentifiers)
        info[NotificationKey.historyTokens.rawValue] = history.tokens()
        return info
    }

    /// Runs the block and saves.
    /// - Throws: the block's error, or that of the save. What the block has changed stays, unsaved.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// Discards all changes that are not saved. Inserted models are of no context again, with their values.
    public func rollback() {
        let farewells = managed.insertedObjects.compactMap { ($0 as? ModelObject).flatMap(Farewell.init) }
        let changed = managed.kept
        _ = takeFailure()
        managed.rollback()
        for farewell in farewells { farewell.give() }
        managed.releaseKept()
        for object in changed { object.announce { _ in true } }
    }

    /// Applies what follows from the changes so far, such as the deletion of models by a rule of their owner.
    public func processPendingChanges() { managed.processPendingChanges() }
}

/// The values of a model whose object leaves its context. The model keeps them: the program may hold it, and read it.
struct Farewell {
    private let storages: [ModelStorage]
    private let values: [[LooseValue]]

    /// nil for an object whose model nobody holds.
    init?(_ object: ModelObject) {
        guard let model = object.model as? any PersistentModel else { return nil }
        storages = model._$storages()
        values = storages.map { storage in
            storage.allPlaces.map { place in
                guard place.index >= 0 else { return .unset }
                switch place.property.kind {
                case .attribute: return place.attribute.flatMap { place.coding?.loose(object, at: $0) } ?? .unset
                case .toOne: return .model((object.managedObject(at: place.index) as? ModelObject)?.model as? any PersistentModel)
                case .toMany:
                    return .models(object.managedObjects(at: place.index).compactMap { ($0 as? ModelObject)?.model as? any PersistentModel })
                case .unfit: return .unset
                }
            }
        }
    }

    func give() {
        for (storage, values) in zip(storages, values) {
            storage.object?.forgetModel()
            storage.detach(values)
        }
    }
}

extension CocoaError {
    fileprivate var isValidationError: Bool { (1550...1699).contains(code.rawValue) }
}
