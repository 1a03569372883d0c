import Foundation

/// One section of a fetched results controller's results.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultssectioninfo
public protocol NSFetchedResultsSectionInfo {
    /// What the controller's section key path gives for each of the section's objects, as text; empty where that is null, and where there
    /// is no key path.
    var name: String { get }
    /// What stands for the section in an index beside the list; see `sectionIndexTitle(forSectionName:)`.
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    /// The section's objects, IDs or dictionaries. O(objects); none is read.
    var objects: [Any]? { get }
}

/// A section as it was when it was asked for; later changes do not show in it.
final class FetchedResultsSection: NSFetchedResultsSectionInfo {
    let name: String
    private let list: ResultsList
    private let range: Range<Int>
    private let query: ResultsQuery
    private weak var controller: AnyFetchedResultsController?

    /// - Parameter isGone: the section is told of for the last time, and has no objects any more.
    init(_ index: Int, of list: ResultsList, _ query: ResultsQuery, _ controller: AnyFetchedResultsController, isGone: Bool = false) {
        name = list.sections[index].name
        range = isGone ? 0..<0 : list.range(ofSection: index)
        self.list = list
        self.query = query
        self.controller = controller
    }

    var indexTitle: String? { controller?.sectionIndexTitle(forSectionName: name) }
    var numberOfObjects: Int { range.count }
    var objects: [Any]? { range.map { query.element($0, of: list) } }
}
