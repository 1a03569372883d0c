import Foundation

/// A property that stands for a fetch: objects of any store that meet a predicate, in which `$FETCH_SOURCE` is the object that is
/// asked and `$FETCHED_PROPERTY` this description.
///
/// `$FETCH_SOURCE.uuid` is what the object has under that key path, and `$FETCHED_PROPERTY.userInfo.key` what the description's
/// `userInfo` says. `value(forKey:)` gives an array of the results. It is fetched when it is first asked for, and kept until the object is
/// refreshed or becomes a fault: this is how an object finds what belongs to it in another store, where relationships do not lead.
///
/// It is read alone, has no column, is no part of an object's changes or of an entity's version.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is fetched.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { checkEditable() } }

    public override init() {
        super.init()
        isTransient = true
    }

    open override func copy(with zone: NSZone? = nil) -> Any { NSFetchedPropertyDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSFetchedPropertyDescription else { return }
        fetchRequest = original.fetchRequest?.twin()
    }
}
