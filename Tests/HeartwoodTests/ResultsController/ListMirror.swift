import Foundation
import Testing

@testable import Heartwood

/// A list that is updated only by a controller's reports, as a table view is: deletions are made at old positions, insertions at new ones, and a
/// move is both.
final class ListMirror: NSFetchedResultsControllerDelegate {
    struct Section: Equatable {
        let name: String
        var keys: [ObjectKey]
    }

    private(set) var sections: [Section] = []
    /// The reports in order: `will`, `section delete 0 A`, `insert ada - 0.1`, `did`.
    private(set) var log: [String] = []
    private(set) var problems: [String] = []
    /// The number of reported changes.
    private(set) var changes = 0
    /// Called within a callback.
    var during: ((String) -> Void)?

    private var rowsOut: [(IndexPath, ObjectKey)] = []
    private var rowsIn: [(IndexPath, ObjectKey)] = []
    private var stays: [(IndexPath, IndexPath, ObjectKey)] = []
    private var sectionsOut: [(Int, String)] = []
    private var sectionsIn: [(Int, String)] = []

    /// Starts with the controller's content.
    func start(_ controller: AnyFetchedResultsController) {
        sections = Self.sections(of: controller)
        (rowsOut, rowsIn, stays, sectionsOut, sectionsIn) = ([], [], [], [], [])
        controller.delegate = self
    }

    func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    static func sections(of controller: AnyFetchedResultsController) -> [Section] {
        controller.list.sections.indices.map { index in
            Section(
                name: controller.list.sections[index].name, keys: controller.list.entries[controller.list.range(ofSection: index)].map(\.key))
        }
    }

    private func note(_ line: String) {
        log.append(line)
        during?(line)
    }

    static func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        // Objects may have got permanent keys since.
        let shown = Self.sections(of: controller)
        if shown.map(\.name) != sections.map(\.name) || shown.map(\.keys.count) != sections.map(\.keys.count) {
            problems.append("the controller does not show what was told before a change")
        }
        sections = shown
        note("will")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .insert: sectionsIn.append((sectionIndex, sectionInfo.name))
        case .delete: sectionsOut.append((sectionIndex, sectionInfo.name))
        default: problems.append("a section's change is \(type)")
        }
        note("section \(type) \(sectionIndex) \(sectionInfo.name)")
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        changes += 1
        guard let object = anObject as? NSManagedObject else { return problems.append("\(anObject) is no object") }
        switch (type, indexPath, newIndexPath) {
        case (.insert, nil, let new?): rowsIn.append((new, object.key))
        case (.delete, let old?, nil): rowsOut.append((old, object.key))
        case (.move, let old?, let new?):
            rowsOut.append((old, object.key))
            rowsIn.append((new, object.key))
        case (.update, let old?, let new?): stays.append((old, new, object.key))
        default: problems.append("\(type) from \(Self.text(indexPath)) to \(Self.text(newIndexPath))")
        }
        let name = object.managedObjectContext == nil || object.isDeleted ? "?" : object.value(forKey: "name") as? String ?? "-"
        note("\(type) \(name) \(Self.text(indexPath)) \(Self.text(newIndexPath))")
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        apply()
        note("did")
    }

    /// A save in a callback may have given a reported object its permanent key since.
    private static func isSame(_ told: ObjectKey, _ key: ObjectKey) -> Bool { told == key || told.isTemporary }

    private func apply() {
        for (old, _, key) in stays where !Self.isSame(sections[old.section].keys[old.item], key) {
            problems.append("an updated object was not there")
        }
        for (path, key) in rowsOut.sorted(by: { $0.0 > $1.0 }) {
            guard Self.isSame(sections[path.section].keys[path.item], key) else {
                problems.append("what is deleted at \(Self.text(path)) is another object")
                continue
            }
            sections[path.section].keys.remove(at: path.item)
        }
        for (index, name) in sectionsOut.sorted(by: { $0.0 > $1.0 }) {
            if sections[index].name != name || !sections[index].keys.isEmpty { problems.append("section \(index) goes with \(sections[index])") }
            sections.remove(at: index)
        }
        for (index, name) in sectionsIn.sorted(by: { $0.0 < $1.0 }) {
            guard index <= sections.count else {
                problems.append("section \(index) of \(sections.count)")
                continue
            }
            sections.insert(Section(name: name, keys: []), at: index)
        }
        for (path, key) in rowsIn.sorted(by: { $0.0 < $1.0 }) {
            guard path.section < sections.count, path.item <= sections[path.section].keys.count else {
                problems.append("an insertion at \(Self.text(path)) is beyond the end")
                continue
            }
            sections[path.section].keys.insert(key, at: path.item)
        }
        for (_, new, key) in stays where !Self.isSame(sections[new.section].keys[new.item], key) {
            problems.append("an updated object is not where it is said to be")
        }
        (rowsOut, rowsIn, stays, sectionsOut, sectionsIn) = ([], [], [], [], [])
    }
}

/// Keeps the newest snapshot.
final class SnapshotKeeper: NSFetchedResultsControllerDelegate {
    private(set) var snapshot: NSDiffableDataSourceSnapshotReference?
    private(set) var calls = 0
    private(set) var others = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        self.snapshot = snapshot
        calls += 1
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
}

/// Keeps a list of IDs by applying differences.
final class DifferenceKeeper: NSFetchedResultsControllerDelegate {
    var ids: [NSManagedObjectID] = []
    private(set) var newest: CollectionDifference<NSManagedObjectID>?
    private(set) var calls = 0
    private(set) var isBroken = false
    private(set) var others = 0

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        newest = diff
        calls += 1
        if let applied = ids.applying(diff) { ids = applied } else { isBroken = true }
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { others += 1 }
}

extension TestStack {
    /// A controller of persons.
    func controller(
        _ format: String? = nil, sort: [String] = ["name"], sections: String? = nil, cache: String? = nil,
        in context: NSManagedObjectContext? = nil,
        _ change: (NSFetchRequest<Person>) -> Void = { _ in }
    ) -> NSFetchedResultsController<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map {
            NSSortDescriptor(key: $0.hasPrefix("-") ? String($0.dropFirst()) : $0, ascending: !$0.hasPrefix("-"))
        }
        change(request)
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context ?? self.context, sectionNameKeyPath: sections, cacheName: cache)
    }
}

extension AnyFetchedResultsController {
    /// `A: ada bob | B: cid`, or only the names if there are no sections.
    var shown: String {
        (sections ?? []).map { section in
            let names = (section.objects as? [NSManagedObject] ?? []).map { $0.value(forKey: "name") as? String ?? "-" }.joined(separator: " ")
            return sectionNameKeyPath == nil ? names : "\(section.name): \(names)"
        }.joined(separator: " | ")
    }
}
