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
        managed.processPendingChanges()
        let inserted = managed.insertedObjects, updated = managed.updatedObjects, deleted = managed.deletedObjects
        let farewells = deleted.compactMap { ($0 as? ModelObject).flatMap(Farewell.init) }
        defer { policy.forget() }
        do {
            defer { policy.joinModels(managed) }
            try managed.save()
        } catch let error as CocoaError where error.isValidationError {
            throw SwiftDataError.modelValidationFailure.because(error.localizedDescription, underlying: error)
        }
        for farewell in farewells + policy.deleted.compactMap(\.farewell) { farewell.give() }
        var changes = SavedChanges()
        changes.inserted = Set(inserted.map(\.objectID).filter { !$0.isTemporaryID })
        changes.deleted = Set((Array(deleted) + policy.deleted.map(\.object)).map(\.objectID).filter { !$0.isTemporaryID })
        changes.updated = Set((Array(updated) + policy.changed).map(\.objectID).filter { !$0.isTemporaryID })
            .subtracting(changes.inserted).subtracting(changes.deleted)
        for case let object as ModelObject in inserted { object.forgetUnsavedIdentity() }
        releaseKept()
        changes.updated.formUnion(takeReregistered())
        container.announce(changes, by: self)
        NotificationCenter.default.post(name: Self.didSave, object: self, userInfo: userInfo(changes))
    }

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
        let changed = keptObjects
        _ = takeFailure()
        managed.rollback()
        for farewell in farewells { farewell.give() }
        releaseKept()
        for object in changed { object.announce { _ in true } }
    }

    /// Applies what follows from the changes so far, such as the deletion of models by a rule of their owner.
    public func processPendingChanges() { managed.processPendingChanges() }
}

/// The values of a model whose object leaves its context. The model keeps them: the program may hold it, and read it.
struct Farewell {
    private let storages: [ModelStorage]
    private let values: [[Any?]]

    /// nil for an object whose model nobody holds.
    init?(_ object: ModelObject) {
        guard let model = object.model as? any PersistentModel else { return nil }
        storages = model._$storages()
        values = storages.map { storage in
            storage.places.all.map { place -> Any? in
                guard place.index >= 0 else { return nil }
                switch place.property.kind {
                case .attribute: return place.attribute.flatMap { place.coding?.readAny(object, at: $0) }
                case .toOne: return (object.managedObject(at: place.index) as? ModelObject)?.model
                case .toMany:
                    return object.managedObjects(at: place.index).compactMap { ($0 as? ModelObject)?.model } as [AnyObject]
                case .unfit: return nil
                }
            }
        }
    }

    func give() {
        for (storage, values) in zip(storages, values) {
            if let object = storage.object, object.model != nil { object.model = nil }
            storage.detach(values)
        }
    }
}

extension ModelObject {
    /// The permanent identity replaces the one that the program was told before the insertion.
    func forgetUnsavedIdentity() {
        guard let model = model as? any PersistentModel else { return }
        model.rootStorage?.identity = nil
    }
}

extension CocoaError {
    fileprivate var isValidationError: Bool { (1550...1699).contains(code.rawValue) }
}
