import Foundation

/// Events: spans of changes. An event ends when the context processes its pending changes.
///
/// The end of an event marks each object that changed in it as processed, so that the object's next change is noticed. A change of an object
/// that is not processed only tests the object's flags.
extension NSManagedObjectContext {
    /// Ends the event. O(objects changed in it).
    final func endEvent() {
        for object in pending.listed[min(pending.eventStart, pending.listed.count)...] { object.markProcessed() }
        for object in pending.changedAgain { object.markProcessed() }
        pending.changedAgain = []
        pending.eventStart = pending.listed.count
    }

    private static let willSaveRounds = 1000

    /// Calls `willSave` of each changed object and notifies observers. Repeats this for the objects that `willSave` or observers have
    /// changed, until nothing changes.
    /// - Throws: after `willSaveRounds` rounds that all changed objects.
    final func callWillSave() throws {
        pending.changedAgain = []
        pending.eventStart = 0
        for round in 0..<Self.willSaveRounds {
            guard callWillSave(ofProcessed: round == 0).isEmpty else { continue }
            guard !events.isEmpty else {
                pending.changedAgain = []
                return
            }
            postChanges()
        }
        throw endlessWillSave()
    }

    /// Runs `body`, calls `willSave` of the objects that it has changed, and validates those that `willSave` has changed.
    /// - Throws: after `willSaveRounds` rounds that all changed objects, or if a value is not valid.
    final func callWillSave(afterResolving body: () throws -> Void) throws {
        for object in pending.listed { object.state.insert(.processed) }
        try body()
        var changed: [NSManagedObject] = []
        for _ in 0..<Self.willSaveRounds {
            let called = callWillSave(ofProcessed: false)
            guard !called.isEmpty else { return try validate(changed) }
            changed += called.filter { !$0.state.contains(.processed) }
        }
        throw endlessWillSave()
    }

    /// Calls `willSave` in one round.
    /// - Parameter ofProcessed: whether to include objects that have not changed since their last call.
    /// - Returns: the objects whose `willSave` was called.
    private func callWillSave(ofProcessed: Bool) -> [NSManagedObject] {
        var called: [NSManagedObject] = []
        var index = 0
        while index < pending.listed.count {
            let object = pending.listed[index]
            index += 1
            guard object.isToBeSaved, !object.runtime.isPlainClass, ofProcessed || !object.state.contains(.processed) else { continue }
            object.state.insert(.processed)
            called.append(object)
            object.willSave()
        }
        return called
    }

    private func endlessWillSave() -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError,
            "The objects still changed after \(Self.willSaveRounds) rounds of willSave and of observers; nothing was saved. "
                + "A willSave that sets a value is called again: let it check first whether the value is right, or use "
                + "setPrimitiveValue(_:forKey:).",
            [NSAffectedObjectsErrorKey: pending.listed.filter { $0.isToBeSaved && !$0.state.contains(.processed) }])
    }
}

extension NSManagedObject {
    fileprivate final var isToBeSaved: Bool { hasChanges && !state.contains(.detached) }

    fileprivate final func markProcessed() {
        state.insert(.processed)
        storage?.eventValues = storage?.values.map { value in
            guard case .toMany(let state) = value else { return value }
            return state.isChanged ? .toMany(state.copy) : .unset
        }
    }

    /// Called after a save has succeeded. During `didSave` a deleted object still has `isDeleted`.
    final func callDidSave() {
        if !runtime.isPlainClass { didSave() }
        if state.isSuperset(of: [.deleted, .detached]) { state.remove(.deleted) }
    }
}
