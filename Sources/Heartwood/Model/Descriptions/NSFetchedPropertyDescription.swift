import Foundation

/// A property whose value is the result of a fetch: objects of any store that meet a predicate. In the predicate `$FETCH_SOURCE` is the
/// object whose property is read, and `$FETCHED_PROPERTY` is this description.
///
/// `$FETCH_SOURCE.uuid` is the object's value for that key path, and `$FETCHED_PROPERTY.userInfo.key` a value of the description's
/// `userInfo`. `value(forKey:)` returns an array of the results. The first read fetches them, and they are kept until the object is refreshed
/// or becomes a fault. So an object can refer to objects in another store, which relationships cannot.
///
/// The property is read-only, has no column, and belongs neither to an object's changes nor to an entity's version.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// The fetch that gives the value.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { checkEditable() } }

    public override init() {
        super.init()
        isTransient = true
    }

    open override func copy(with zone: NSZone? = nil) -> Any { NSFetchedPropertyDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSFetchedPropertyDescription else { return }
        fetchRequest = original.fetchRequest?.duplicate()
    }
}
