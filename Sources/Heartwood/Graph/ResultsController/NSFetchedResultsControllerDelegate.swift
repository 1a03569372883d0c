import Foundation

/// What has become of an object or a section of a fetched results controller.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultschangetype
public enum NSFetchedResultsChangeType: UInt, Sendable {
    case insert = 1
    case delete = 2
    /// It stands at another place; it may have changed otherwise too.
    case move = 3
    /// It has changed, or was refreshed, and stands where it did among those that did not move.
    case update = 4
}

/// Is told of what changes in a fetched results controller's results, on the queue of the controller's context.
///
/// A change is told in one of three ways. One that implements `controller(_:didChangeContentWith:)` for a snapshot gets snapshots and nothing
/// else. One that implements it for a difference gets differences and nothing else, where the controller has no section key path.
/// Every other delegate gets `controllerWillChangeContent(_:)`, the sections, the objects, and `controllerDidChangeContent(_:)`. Each method
/// has an implementation, so that none has to be written.
///
/// While `controllerWillChangeContent(_:)` runs the controller has the results of before; from then on those of after. Index paths
/// of deletions, and the first ones of moves and updates, are of before; the others are of after.
///
/// The controller that is handed over is the very one that has changed, whatever its type of results, so that `===` and `==` tell
/// controllers apart. A cast of it to another type of results fails: its type is known to the compiler as the one written here.
/// `NSFetchedResultsController<Person>(controller)` is that very controller as one of persons.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultscontrollerdelegate
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// Objects or sections are about to change.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section has come or gone. A section that stands at another place among those that stay is gone and has come.
    /// - Parameter sectionInfo: of a deleted section as it was.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// An object has come, gone, moved or changed. Deletions are told first, the last one before the others, then insertions, the first one
    /// first, then moves and updates. Objects of sections that come or go are told of one by one as well.
    /// - Parameters:
    ///   - anObject: the managed object, or its ID where the request asks for IDs.
    ///   - indexPath: where it was; nil for an insertion.
    ///   - newIndexPath: where it is; nil for a deletion.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// Everything that has changed was told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The results have changed, or were fetched by `performFetch()`. After a save that gives objects permanent IDs it is called too.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results have changed, of a controller without a section key path. A moved object is removed and inserted, each associated with
    /// the other's place, and so is one that was updated in place. An object that a save has given its permanent ID is removed by the one
    /// and inserted by the other.
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

    /// Tells the controller that snapshots are not wanted.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.declined.insert(.snapshots)
    }

    /// Tells the controller that differences are not wanted.
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

/// What a delegate has shown that it does not implement. It is found out by calling, since Swift has no other way to ask whether a method
/// is a protocol's own: what the protocol has in its place says so.
struct DeclinedDeliveries: OptionSet {
    let rawValue: UInt8

    static let snapshots = DeclinedDeliveries(rawValue: 1)
    static let differences = DeclinedDeliveries(rawValue: 2)
}
