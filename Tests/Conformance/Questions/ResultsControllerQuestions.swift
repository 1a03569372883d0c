import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// Records a controller's reports.
@MainActor final class Listener: NSObject, @preconcurrency NSFetchedResultsControllerDelegate {
    /// The controller lives as long as its delegate.
    var controller: NSFetchedResultsController<NSManagedObject>?
    private(set) var lines: [String] = []
    /// The number of objects in a section when it is reported.
    private(set) var sectionCounts: [Int] = []

    func take() -> [String] {
        defer { lines = [] }
        return lines
    }

    private func words(_ path: IndexPath?) -> String { path.map { "\($0[0]).\($0[1])" } ?? "-" }

    private func words(_ type: NSFetchedResultsChangeType) -> String {
        switch type {
        case .insert: "insert"
        case .delete: "delete"
        case .move: "move"
        case .update: "update"
        @unknown default: "?"
        }
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { lines.append("will") }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { lines.append("did") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let isUpdate = type == .update
        lines.append("\(words(type)) \(words(indexPath)) \(isUpdate ? "" : words(newIndexPath))".trimmingCharacters(in: .whitespaces))
    }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        lines.append("section \(words(type)) \(sectionIndex) \(sectionInfo.name)")
        sectionCounts.append(sectionInfo.objects?.count ?? 0)
    }
}

@MainActor struct ResultsControllerQuestions {
    private typealias Controller = NSFetchedResultsController<NSManagedObject>

    /// Saved books "a" and "b" of genre X and "c" of genre Y, in a controller with a delegate.
    private func list(
        _ kind: StoreKind = .inMemory, sections: Bool = false, where format: String? = nil
    ) throws -> (Stack, Controller, Listener) {
        let stack = try Stack(kind), listener = Listener()
        for (title, genre) in [("a", "X"), ("b", "X"), ("c", "Y")] { stack.new("Novel", ["title": title, "genre": genre]) }
        try stack.context.save()
        let request = stack.request("Novel", format)
        request.sortDescriptors = (sections ? ["genre", "title"] : ["title"]).map { NSSortDescriptor(key: $0, ascending: true) }
        let controller = Controller(
            fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: sections ? "genre" : nil, cacheName: nil)
        controller.delegate = listener
        listener.controller = controller
        try controller.performFetch()
        return (stack, controller, listener)
    }

    private func novel(_ title: String, _ controller: Controller) throws -> NSManagedObject {
        try #require(controller.fetchedObjects?.first { $0.text("title") == title })
    }

    private func shown(_ controller: Controller) -> String {
        (controller.sections ?? []).map { section in
            "\(section.name): " + (section.objects ?? []).compactMap { ($0 as? NSManagedObject)?.text("title") }.joined()
        }.joined(separator: ", ")
    }

    @Test(.header("NSFetchedResultsController", "fetchedObjects"))
    func `Before performFetch() there are no objects`() throws {
        let stack = try Stack(), controller = Controller(
            fetchRequest: stack.request("Book", by: "title"), managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
        #expect(controller.fetchedObjects == nil)
    }

    @Test(.header("NSFetchedResultsController", "performFetch:"), arguments: StoreKind.allCases)
    func `A controller has its request's results in their order`(kind: StoreKind) throws {
        let (_, controller, _) = try list(kind)
        #expect(controller.fetchedObjects?.map { $0.text("title") } == ["a", "b", "c"])
        #expect(controller.sections?.count == 1 && controller.sections?.first?.numberOfObjects == 3)
    }

    @Test(.header("NSFetchedResultsController", "sectionNameKeyPath"), arguments: StoreKind.allCases)
    func `Objects with one value of the section's key path make a section`(kind: StoreKind) throws {
        let (_, controller, _) = try list(kind, sections: true)
        #expect(shown(controller) == "X: ab, Y: c")
    }

    @Test(.header("NSFetchedResultsController", "NSFetchedResultsSectionInfo name"))
    func `A section is named after a number by its text`() throws {
        let stack = try Stack()
        for pages in [2, 1, 2] { stack.new("Book", ["pages": pages]) }
        let controller = Controller(
            fetchRequest: stack.request("Book", by: "pages"), managedObjectContext: stack.context, sectionNameKeyPath: "pages",
            cacheName: nil)
        try controller.performFetch()
        #expect(controller.sections?.map(\.name) == ["1", "2"] && controller.sections?.map(\.numberOfObjects) == [1, 2])
    }

    @Test(.header("NSFetchedResultsController", "objectAtIndexPath:, indexPathForObject:"))
    func `Index paths lead to objects and back`() throws {
        let (_, controller, _) = try list(sections: true), b = try novel("b", controller)
        #expect(controller.object(at: IndexPath(indexes: [0, 1])) === b && controller.indexPath(forObject: b) == IndexPath(indexes: [0, 1]))
        #expect(try controller.indexPath(forObject: novel("c", controller)) == IndexPath(indexes: [1, 0]))
    }

    @Test(.header("NSFetchedResultsController", "indexPathForObject:"))
    func `An object that is not in the results has no index path`() throws {
        let (stack, controller, _) = try list()
        #expect(controller.indexPath(forObject: stack.new("Book")) == nil)
    }

    @Test(.header("NSFetchedResultsController", "sectionIndexTitleForSectionName:"))
    func `An index title is the capital first letter of the section's name`() throws {
        let stack = try Stack()
        for genre in ["crime", "romance"] { stack.new("Novel", ["genre": genre]) }
        let controller = Controller(
            fetchRequest: stack.request("Novel", by: "genre"), managedObjectContext: stack.context, sectionNameKeyPath: "genre",
            cacheName: nil)
        try controller.performFetch()
        #expect(controller.sectionIndexTitles == ["C", "R"] && controller.section(forSectionIndexTitle: "R", at: 1) == 1)
        #expect(controller.sections?.map(\.indexTitle) == ["C", "R"])
    }

    @Test(.reference("nsfetchedresultscontroller"))
    func `Unsaved objects are among the results`() throws {
        let (stack, controller, _) = try list()
        stack.new("Novel", ["title": "d"])
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 4)
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject"), arguments: StoreKind.allCases)
    func `An insertion is reported with its new position, between will and did`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind)
        stack.new("Novel", ["title": "aa"])
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "insert - 0.1", "did"] && controller.fetchedObjects?.count == 4)
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject"), arguments: StoreKind.allCases)
    func `A deletion is reported with its old position`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind)
        stack.context.delete(try novel("b", controller))
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "delete 0.1 -", "did"])
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject"), arguments: StoreKind.allCases)
    func `A change that moves nothing is an update`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind)
        try novel("b", controller).setValue(9, forKey: "pages")
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "update 0.1", "did"])
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject: heuristics"), arguments: StoreKind.allCases)
    func `A change that moves an object is a move and no update`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind)
        try novel("a", controller).setValue("z", forKey: "title")
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "move 0.0 0.2", "did"])
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject: heuristics"), arguments: StoreKind.allCases)
    func `An object that ceases to match is reported as deleted, one that begins to as inserted`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind, where: "pages == 0"), b = try novel("b", controller)
        b.setValue(1, forKey: "pages")
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "delete 0.1 -", "did"])
        b.setValue(0, forKey: "pages")
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "insert - 0.1", "did"])
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject: heuristics"))
    func `A change of an object that does not match is not reported`() throws {
        let (stack, _, listener) = try list(where: "pages == 0")
        stack.new("Novel", ["pages": 4])
        stack.new("Author")
        stack.context.processPendingChanges()
        #expect(listener.take().filter { $0 != "will" && $0 != "did" } == [])
    }

    @Test(.header("NSFetchedResultsController", "didChangeSection"), arguments: StoreKind.allCases)
    func `A new section is reported before its object`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind, sections: true)
        stack.new("Novel", ["title": "d", "genre": "Z"])
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "section insert 2 Z", "insert - 2.0", "did"] && shown(controller) == "X: ab, Y: c, Z: d")
    }

    @Test(.header("NSFetchedResultsController", "didChangeSection"), arguments: StoreKind.allCases)
    func `A section that empties is reported as deleted`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind, sections: true)
        stack.context.delete(try novel("c", controller))
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "section delete 1 Y", "delete 1.0 -", "did"] && shown(controller) == "X: ab")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B17)"))
    func `A deleted section has no objects when it is reported`() throws {
        let (stack, controller, listener) = try list(sections: true)
        stack.context.delete(try novel("c", controller))
        stack.context.processPendingChanges()
        #expect(listener.sectionCounts == [0])
    }

    @Test(.header("NSFetchedResultsController", "didChangeObject: heuristics"), arguments: StoreKind.allCases)
    func `A change of the section's value is a move between sections`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind, sections: true)
        try novel("a", controller).setValue("Y", forKey: "genre")
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "move 0.0 1.0", "did"] && shown(controller) == "X: b, Y: ac")
    }

    @Test(.header("NSFetchedResultsController", "controllerWillChangeContent:"))
    func `All changes of an event come between one will and one did`() throws {
        let (stack, controller, listener) = try list()
        stack.context.delete(try novel("a", controller))
        stack.new("Novel", ["title": "d"])
        try novel("b", controller).setValue(3, forKey: "pages")
        stack.context.processPendingChanges()
        let lines = listener.take()
        #expect(lines.first == "will" && lines.last == "did")
        #expect(Set(lines.dropFirst().dropLast()) == ["delete 0.0 -", "insert - 0.2", "update 0.1"])
    }

    @Test(.reference("nsfetchedresultscontrollerdelegate"), arguments: StoreKind.allCases)
    func `A save of reported changes reports no insertion again`(kind: StoreKind) throws {
        let (stack, _, listener) = try list(kind)
        stack.new("Novel", ["title": "d"])
        stack.context.processPendingChanges()
        _ = listener.take()
        try stack.context.save()
        #expect(!listener.take().contains { $0.hasPrefix("insert") })
    }

    @Test(.reference("nsfetchedresultscontrollerdelegate"), arguments: StoreKind.allCases)
    func `A rollback is reported`(kind: StoreKind) throws {
        let (stack, controller, listener) = try list(kind)
        stack.new("Novel", ["title": "d"])
        stack.context.processPendingChanges()
        _ = listener.take()
        stack.context.rollback()
        stack.context.processPendingChanges()
        let lines = listener.take()
        #expect(lines == ["will", "delete 0.3 -", "did"])
        #expect(controller.fetchedObjects?.count == 3)
    }

    @Test(.header("NSFetchedResultsController", "monitors its context"), arguments: StoreKind.allCases)
    func `A merged change is reported`(kind: StoreKind) throws {
        let (stack, _, listener) = try list(kind), other = stack.sibling(), heard = Heard(.NSManagedObjectContextDidSave, of: other)
        stack.new("Novel", ["title": "d"], in: other)
        try other.save()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.last))
        stack.context.processPendingChanges()
        #expect(listener.take() == ["will", "insert - 0.3", "did"])
    }

    @Test(.header("NSFetchedResultsController", "WARNING: change tracking"))
    func `Without a delegate a controller does not follow`() throws {
        let (stack, controller, _) = try list()
        controller.delegate = nil
        try controller.performFetch()
        stack.new("Novel", ["title": "d"])
        stack.context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 3)
    }

    @Test(.header("NSFetchedResultsController", "Handling of Invalidated Objects"))
    func `A reset of the context is not reported`() throws {
        let (stack, _, listener) = try list()
        stack.context.reset()
        stack.context.processPendingChanges()
        #expect(listener.take() == [])
    }

    @Test(.header("NSFetchedResultsController", "Handling of Invalidated Objects"))
    func `After a reset performFetch() has the results anew`() throws {
        let (stack, controller, _) = try list()
        stack.context.reset()
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map { $0.text("title") } == ["a", "b", "c"])
    }

    @Test(.source("Measured in public code for Apple's platforms (parity A10)"))
    func `An empty list of sort descriptors will do`() throws {
        let stack = try Stack(), request = stack.request("Book")
        request.sortDescriptors = []
        let controller = Controller(fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
        #expect(failure { try controller.performFetch() } == nil && controller.fetchedObjects?.isEmpty == true)
    }

    @Test(.reference("nsfetchedresultscontroller"))
    func `The controller's properties are what it was made with`() throws {
        let stack = try Stack(), request = stack.request("Book", by: "title")
        let controller = Controller(fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: "title", cacheName: nil)
        #expect(controller.managedObjectContext === stack.context && controller.sectionNameKeyPath == "title")
        #expect(controller.cacheName == nil)
        #expect(controller.fetchRequest === request && controller.delegate == nil)
    }

    @Test(.header("NSFetchedResultsController", "NSFetchedResultsChangeType"))
    func `The numbers of the changes are the documented ones`() {
        let types: [NSFetchedResultsChangeType] = [.insert, .delete, .move, .update]
        #expect(types.map { Int($0.rawValue) } == [1, 2, 3, 4])
    }

    @Test(.reference("nsfetchedresultscontrollerdelegate"))
    func `A delegate that takes a difference gets added and removed IDs`() throws {
        let (stack, controller, _) = try list(), differ = Differ()
        controller.delegate = differ
        try controller.performFetch()
        differ.differences = []
        let gone = try novel("a", controller).objectID, new = stack.new("Novel", ["title": "d"])
        stack.context.delete(try novel("a", controller))
        stack.context.processPendingChanges()
        let difference = try #require(differ.differences.first)
        #expect(difference.removals.count == 1 && difference.insertions.count == 1 && differ.differences.count == 1)
        for change in difference {
            switch change {
            case .insert(let offset, let element, _): #expect(offset == 2 && element == new.objectID)
            case .remove(let offset, let element, _): #expect(offset == 0 && element == gone)
            }
        }
    }
}

/// Collects differences.
@MainActor final class Differ: NSObject, @preconcurrency NSFetchedResultsControllerDelegate {
    var differences: [CollectionDifference<NSManagedObjectID>] = []

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        differences.append(diff)
    }
}
