import Foundation
import Heartwood

extension ModelContext {
    /// Reads, changes and saves as one step: no other context, actor or process has changed in between what the block has changed.
    ///
    /// ```swift
    /// try context.atomically { counter.value += 1 }  // loses no increment of others
    /// ```
    ///
    /// The context saves what it has not saved before, runs the block over what the stores have, and saves. If a model that the block has changed or
    /// deleted was saved by others since the block read it, the block's changes are discarded, and the block runs again over the new values. So it
    /// may run several times: let it do nothing but read and change models. What it reads and does not change may be older than the save.
    ///
    /// `transaction(block:)` and `save()` are one commit too, over all stores of the container. They merge instead: a property that the context has
    /// changed wins over what others have saved.
    /// - Parameter attempts: after so many conflicts the conflict is thrown.
    /// - Returns: what the block returns, in the run that was saved.
    /// - Throws: the block's error, after which its changes are discarded; the stack's error 133020 after the last attempt; and as `save()` does.
    public func atomically<Result>(attempts: Int = 100, _ block: () throws -> Result) throws -> Result {
        try save()
        var left = attempts
        while true {
            do {
                return try savingUnlessChanged(block)
            } catch let conflict as SaveConflict {
                left -= 1
                guard left > 0 else { throw conflict.error }
            }
        }
    }

    private func savingUnlessChanged<Result>(_ block: () throws -> Result) throws -> Result {
        let policy = managed.mergePolicy
        managed.mergePolicy = RefusingMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        isAtomic = true
        defer {
            managed.mergePolicy = policy
            isAtomic = false
        }
        do {
            let result = try block()
            try save()
            return result
        } catch {
            isAtomic = false
            rollback()
            takeInSaves()
            // A save of another process is in no inbox.
            if error is SaveConflict { managed.refreshAllObjects() }
            throw error
        }
    }
}

/// Why a save of `ModelContext.atomically` has to be tried again.
private struct SaveConflict: Error {
    let error: any Error
}

/// Merges values that must be unique, as model contexts do, and lets no save pass over a version that it has not read.
private final class RefusingMergePolicy: NSMergePolicy {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        do {
            try NSMergePolicy.error.resolve(optimisticLockingConflicts: list)
        } catch {
            throw SaveConflict(error: error)
        }
    }
}
