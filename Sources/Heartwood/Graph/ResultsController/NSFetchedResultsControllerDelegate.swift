import Foundation

/// The kind of a change to an object or a section of a fetched results controller.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultschangetype
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    /// It has moved; it may have changed otherwise too.
    case move = 3
    /// It has changed, or was refreshed, and has not moved relative to others that did not move.
    case update = 4
}

/// Receives the changes of a fetched results controller's results, on the queue of the controller's context.
///
/// A delegate receives changes in one of three ways. One that implements `controller(_:didChangeContentWith:)` for a snapshot gets only snapshots.
/// One that implements it for a difference gets only differences, if the controller has no section key path. All others get
/// `controllerWillChangeContent(_:)`, the sections, the objects, and `controllerDidChangeContent(_:)`. Every method has a default implementation.
///
/// During `controllerWillChangeContent(_:)` the controller still has its old results, and from then on the new ones. Index paths of deletions, and
/// the first ones of moves and updates, refer to the old results; all others refer to the new ones.
///
/// The controller passed to these methods is the very instance that changed, with any type of results, so `===` and `==` tell controllers
/// apart. A cast of it to another type of results fails, since the compiler knows it by the type written here. Use
/// `NSFetchedResultsController<Person>(controller)`, which is the same instance with results of that type.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultscontrollerdelegate
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// Objects or sections are about to change.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section was inserted or deleted. A section that moved among those that stay is deleted and inserted.
    ///
    /// `sectionInfo` of a deleted section has its old name.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// An object was inserted, deleted, moved or changed. Deletions come first, the last one before the others; then insertions, the first one
    /// first; then moves and updates. Objects of inserted and deleted sections are reported one by one as well.
    ///
    /// `anObject` is the managed object, or its ID if the request fetches IDs. `indexPath` is the old index path, and nil for an insertion;
    /// `newIndexPath` is the new one, and nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes were reported.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The results have changed, or `performFetch()` has fetched them. Also called after a save that gives objects permanent IDs.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results have changed, of a controller without a section key path. A moved object is removed and inserted, each associated with the
    /// other's offset; so is an object that was updated in place. An object that a save gave its permanent ID is removed with the old ID and
    /// inserted with the new one.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// The index title of a section; nil for none. The default is the section name's first letter as a capital.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String) -> String?
}

extension NSFetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType) {}

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?) {}

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Notes that the delegate takes no snapshots.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.declined.insert(.snapshots)
    }

    /// Notes that the delegate takes no differences.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.declined.insert(.differences)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? { AnyFetchedResultsController.capitalLetter(of: sectionName) }
}

/// The methods that a delegate is known not to implement. Swift cannot ask whether a method is the protocol's own, so the controller calls it: the
/// protocol's default implementation notes it here.
struct DeclinedDeliveries: OptionSet {
    let rawValue: UInt8

    static let snapshots = DeclinedDeliveries(rawValue: 1)
    static let differences = DeclinedDeliveries(rawValue: 2)
}
