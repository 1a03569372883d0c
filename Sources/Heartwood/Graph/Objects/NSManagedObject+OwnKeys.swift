import Foundation

extension NSManagedObject {
    /// The keys that key-value coding finds on every managed object: the getters of this class and of `NSObject`.
    enum OwnKey: String {
        case objectID, entity, managedObjectContext, faultingState, hasChanges, hasPersistentChangedValues, isInserted, inserted
        case isUpdated, updated, isDeleted, deleted, isFault, fault, description, hash
        case itself = "self"
    }

    final func value(_ key: OwnKey) -> Any? {
        switch key {
        case .objectID: objectID
        case .entity: entity
        case .managedObjectContext: managedObjectContext
        case .faultingState: NSNumber(value: faultingState)
        case .hasChanges: NSNumber(value: hasChanges)
        case .hasPersistentChangedValues: NSNumber(value: hasPersistentChangedValues)
        case .isInserted, .inserted: NSNumber(value: isInserted)
        case .isUpdated, .updated: NSNumber(value: isUpdated)
        case .isDeleted, .deleted: NSNumber(value: isDeleted)
        case .isFault, .fault: NSNumber(value: isFault)
        case .itself: self
        case .description: description
        case .hash: NSNumber(value: hash)
        }
    }
}
