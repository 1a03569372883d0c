import Foundation

/// Fetched results that follow their context, and call a closure after each change of them.
///
/// It is used where its context is, and follows as long as somebody holds it.
package final class FollowedResults: NSFetchedResultsControllerDelegate {
    private let controller: AnyFetchedResultsController
    private let report: () -> Void

    /// - Throws: as `NSFetchedResultsController.performFetch()`.
    package init<ResultType>(
        _ request: NSFetchRequest<ResultType>, _ context: NSManagedObjectContext, sectionNameKeyPath: String? = nil,
        report: @escaping () -> Void
    ) throws {
        if request.sortDescriptors == nil { request.sortDescriptors = [] }
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: nil)
        self.report = report
        controller.delegate = self
        controller.declined = [.snapshots, .differences]
        try controller.performFetch()
    }

    /// The results as they are now.
    package var results: FetchedResults? { controller.results }

    var elements: [Any] { controller.elements ?? [] }

    package func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { report() }
}
