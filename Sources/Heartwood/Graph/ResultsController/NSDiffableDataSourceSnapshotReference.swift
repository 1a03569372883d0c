import Foundation

/// The results of a fetched results controller at one moment: sections by their names, objects by their IDs.
///
/// Apple's platforms have a class of this name in UIKit and AppKit, for views to apply. This one is what a controller hands over, to be
/// read: it never changes. Making it costs nothing; IDs are made when they are asked for first.
/// Source: https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshotreference
public final class NSDiffableDataSourceSnapshotReference: NSObject {
    private let list: ResultsList
    private let context: NSManagedObjectContext
    private let updated: [Int]
    private lazy var ids = list.entries.map { context.objectID(for: $0.key) }
    private lazy var places = Dictionary(list.entries.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })

    init(_ list: ResultsList, updated: [Int], _ context: NSManagedObjectContext) {
        self.list = list
        self.updated = updated
        self.context = context
    }

    public var numberOfItems: Int { list.entries.count }
    public var numberOfSections: Int { list.sections.count }
    /// The sections' names, in order; one empty name where the controller has no section key path.
    public var sectionIdentifiers: [String] { list.sections.map(\.name) }
    /// The objects' IDs, section after section; temporary ones of objects that were never saved.
    public var itemIdentifiers: [NSManagedObjectID] { ids }
    /// The IDs of objects that have changed and stand where they did.
    public var reloadedItemIdentifiers: [NSManagedObjectID] { updated.map { ids[$0] } }
    /// None: a section that changed its name is another one.
    public var reloadedSectionIdentifiers: [String] { [] }

    /// 0 where there is no such section.
    public func numberOfItems(inSection sectionIdentifier: String) -> Int { range(of: sectionIdentifier)?.count ?? 0 }

    /// Empty where there is no such section.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: String) -> [NSManagedObjectID] {
        range(of: sectionIdentifier).map { Array(ids[$0]) } ?? []
    }

    /// nil where the object is not among the items.
    public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: NSManagedObjectID) -> String? {
        let index = index(ofItemIdentifier: itemIdentifier)
        return index == NSNotFound ? nil : list.sections[list.section(of: index)].name
    }

    /// The place among all items; `NSNotFound` where it is none. O(1) after the first call.
    public func index(ofItemIdentifier itemIdentifier: NSManagedObjectID) -> Int {
        guard let key = context.ownKey(of: itemIdentifier), let index = places[key] else { return NSNotFound }
        return index
    }

    /// `NSNotFound` where there is no such section.
    public func index(ofSectionIdentifier sectionIdentifier: String) -> Int {
        list.sections.firstIndex { $0.name.hasSameBytes(as: sectionIdentifier) } ?? NSNotFound
    }

    private func range(of name: String) -> Range<Int>? {
        let index = index(ofSectionIdentifier: name)
        return index == NSNotFound ? nil : list.range(ofSection: index)
    }
}
