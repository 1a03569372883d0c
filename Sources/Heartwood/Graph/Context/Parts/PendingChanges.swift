import Foundation

/// The changes of a context that no save has written yet.
struct PendingChanges {
    /// Every object inserted, updated or deleted since the last save; objects whose changes were undone stay listed.
    var listed: [NSManagedObject] = []
    var changeCount = 0
    /// The number of objects in `listed` that were first changed before the last event ended.
    var eventStart = 0
    /// Objects that were changed in this event and in an earlier one.
    var changedAgain: [NSManagedObject] = []
    /// Inserted objects that were deleted before a save; children that follow this context are notified of them.
    var dropped: [NSManagedObject] = []
    /// Objects passed to `detectConflicts(for:)` since the last save.
    var checked: [NSManagedObject] = []
    /// Objects that a merge has reported as deleted since the last save, by key. They are no longer registered.
    var mergedDeletions: [ObjectKey: NSManagedObject] = [:]
    /// The count at which those that the program does not hold are dropped.
    var mergedDeletionsMax = NSManagedObjectContext.mergedDeletionsMin
    /// The error of the first fault whose row had vanished, if that does not count as a deletion.
    var unfulfilled: NSError?
    var isSaving = false
    /// Stores with commits of other contexts or processes that arrived while this context saved.
    var mergesAfterSave: [NSPersistentStore] = []
    /// The keys of rows of which the last save changed derived attributes only.
    var derivedKeys: [ObjectKey] = []
}
