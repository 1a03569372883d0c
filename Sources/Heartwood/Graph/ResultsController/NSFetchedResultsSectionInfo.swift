import Foundation

/// One section of a fetched results controller's results.
/// Source: https://developer.apple.com/documentation/coredata/nsfetchedresultssectioninfo
public protocol NSFetchedResultsSectionInfo {
    /// The value of the section key path for each of the section's objects, as text; empty for null, and without a key path.
    var name: String { get }
    /// The section's title in an index beside the list; see `sectionIndexTitle(forSectionName:)`.
    var indexTitle: String? { get }
    var numberOfObjects: Int { get }
    /// The section's objects, IDs or dictionaries. O(objects); reads no row.
    var objects: [Any]? { get }
}

/// The state of a section when it was read; later changes do not show in it.
final class FetchedResultsSection: NSFetchedResultsSectionInfo {
    let name: String
    private let list: ResultsList
    private let range: Range<Int>
    private let query: ResultsQuery
    private weak var controller: AnyFetchedResultsController?

    /// - Parameter isGone: the section is reported for the last time, and has no objects any more.
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
