import Foundation

/// A property that stands for a fetch: objects of any store that meet a predicate, in which `$FETCH_SOURCE` is the object that is
/// asked and `$FETCHED_PROPERTY` this description.
///
/// It has no column, and no part in an entity's version. This is the model's side of it.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
public final class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is fetched.
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { checkEditable() } }

    public override init() {
        super.init()
        isTransient = true
    }
}
