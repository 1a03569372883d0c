import Foundation

/// The results of a fetched results controller at one moment: the names of its sections and the IDs of its objects.
///
/// On Apple's platforms UIKit and AppKit have a mutable class of this name, for views. This one only reports a controller's results: it never
/// changes. It costs nothing to make; IDs are made when they are first read.
/// Source: https://developer.apple.com/documentation/uikit/nsdiffabledatasourcesnapshotreference
public final class NSDiffableDataSourceSnapshotReference: NSObject {
    private let list: ResultsList
    private let context: NSManagedObjectContext
    private let updated: [Int]
    private lazy var ids = list.entries.map { context.objectID(for: $0.key) }
    private lazy var indexes = Dictionary(list.entries.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })

    init(_ list: ResultsList, updated: [Int], _ context: NSManagedObjectContext) {
        self.list = list
        self.updated = updated
        self.context = context
    }

    public var numberOfItems: Int { list.entries.count }
    public var numberOfSections: Int { list.sections.count }
    /// The sections' names, in order; one empty name if the controller has no section key path.
    public var sectionIdentifiers: [String] { list.sections.map(\.name) }
    /// The objects' IDs, section after section; objects that were never saved have temporary ones.
    public var itemIdentifiers: [NSManagedObjectID] { ids }
    /// The IDs of objects that have changed and not moved.
    public var reloadedItemIdentifiers: [NSManagedObjectID] { updated.map { ids[$0] } }
    /// Always empty: a section with a new name is a new section.
    public var reloadedSectionIdentifiers: [String] { [] }

    /// 0 for an unknown section.
    public func numberOfItems(inSection sectionIdentifier: String) -> Int { range(of: sectionIdentifier)?.count ?? 0 }

    /// Empty for an unknown section.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: String) -> [NSManagedObjectID] {
        range(of: sectionIdentifier).map { Array(ids[$0]) } ?? []
    }

    /// nil if the object is not among the items.
    public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: NSManagedObjectID) -> String? {
        let index = index(ofItemIdentifier: itemIdentifier)
        return index == NSNotFound ? nil : list.sections[list.section(of: index)].name
    }

    /// The index among all items, or `NSNotFound`. O(1) after the first call.
    public func index(ofItemIdentifier itemIdentifier: NSManagedObjectID) -> Int {
        guard let key = context.ownKey(of: itemIdentifier), let index = indexes[key] else { return NSNotFound }
        return index
    }

    /// `NSNotFound` for an unknown section.
    public func index(ofSectionIdentifier sectionIdentifier: String) -> Int {
        list.sections.firstIndex { $0.name.hasSameBytes(as: sectionIdentifier) } ?? NSNotFound
    }

    private func range(of name: String) -> Range<Int>? {
        let index = index(ofSectionIdentifier: name)
        return index == NSNotFound ? nil : list.range(ofSection: index)
    }
}
