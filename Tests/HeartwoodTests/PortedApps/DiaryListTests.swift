import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// Notes what a results controller reports, as a list on a screen does.
private final class Reports: NSFetchedResultsControllerDelegate {
    var lines: [String] = []
    /// Signals each end of a change.
    let changed = DispatchSemaphore(value: 0)

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { lines.append("will") }

    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let title = (anObject as? NSManagedObject)?.value(forKey: "title") as? String ?? "?"
        func place(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }
        lines.append("\(type.rawValue) \(title) \(place(indexPath)) \(place(newIndexPath))")
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        lines.append("did")
        changed.signal()
    }
}

/// Lists and contexts of an app over its SQLite store, in place and converted.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct DiaryListTests {
    private static func list(_ context: NSManagedObjectContext) -> NSFetchedResultsController<NSManagedObject> {
        let request = DiaryApp.request("Entry")
        request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "number", ascending: true)]
        request.fetchBatchSize = 2
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
    }

    private static func wait(_ context: NSManagedObjectContext, for reports: Reports, until isDone: () -> Bool) {
        while !context.performAndWait(isDone), reports.changed.wait(timeout: .now() + 60) == .success {}
    }

    @Test(arguments: [true, false])
    func `A list follows saves of background contexts in a converted store, and commits of the owner in one that is read in place`(
        _ isConverted: Bool
    ) throws {
        try DiaryApp.with { app in
            let container = try app.container {
                if !isConverted { $0.type = NSSQLiteStoreType }
                $0.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            }
            let context = container.newBackgroundContext(), reports = Reports()
            context.automaticallyMergesChangesFromParent = true
            let controller = Self.list(context)
            try context.performAndWait {
                controller.delegate = reports
                try controller.performFetch()
                #expect(controller.sections?.map(\.name) == ["", "Ann", "Bob"] && controller.sections?.map(\.numberOfObjects) == [1, 3, 1])
                let titles = (0..<3).map { controller.object(at: IndexPath(item: $0, section: 1)).value(forKey: "title") as? String }
                #expect(titles == ["One", "Two", "Three"])
            }
            if isConverted {
                let other = container.newBackgroundContext()
                try other.performAndWait {
                    let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: other)
                    entry.setValue("Six", forKey: "title")
                    entry.setValue(6, forKey: "number")
                    entry.setValue(try other.fetch(DiaryApp.request("Author", "name == 'Bob'")).first, forKey: "author")
                    try other.fetch(DiaryApp.request("Entry", "number == 4")).forEach(other.delete)
                    try other.save()
                }
            } else {
                // The triggers of the derived count call functions that only Core Data has.
                let triggers = ["INSERT", "DELETE"].map { "DROP TRIGGER Z_DA_ZENTRY_Author_entryCount_PARAMETER_\($0);" }.joined()
                try CoreDataStoreFiles.execute(triggers + """
                    BEGIN; INSERT INTO ZENTRY (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZAUTHOR, Z_FOK_AUTHOR, ZTITLE)
                        SELECT 6, Z_ENT, 1, 6, 2, 9000, 'Six' FROM ZENTRY WHERE Z_PK = 1;
                    UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Entry'; DELETE FROM ZENTRY WHERE Z_PK = 4; COMMIT;
                    """, at: app.file)
            }
            Self.wait(context, for: reports) {
                reports.lines.last == "did" && controller.fetchedObjects?.count == 5 && controller.sections?.count == 2
            }
            try context.performAndWait {
                #expect(controller.sections?.map(\.name) == ["Ann", "Bob"] && controller.sections?.map(\.numberOfObjects) == [3, 2])
                #expect(reports.lines.contains { $0.hasPrefix("1 Six - ") } && reports.lines.first == "will", "\(reports.lines)")
                #expect(reports.lines.contains { $0.hasPrefix("2 ") }, "\(reports.lines)")
                try controller.performFetch()
                #expect(controller.fetchedObjects?.count == 5)
            }
            try DiaryApp.quit(container)
        }
    }

    @Test(arguments: [true, false])
    func `Background tasks and child contexts read the store in place, and save into it once it is converted`(_ isConverted: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("diary-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try DiaryApp.with { made in
            for name in ["app.sqlite", ".app_SUPPORT"] {
                try FileManager.default.copyItem(at: made.folder.appendingPathComponent(name), to: folder.appendingPathComponent(name))
            }
            return DiaryApp(folder: folder, model: made.model)
        }
        let container = try app.container { if !isConverted { $0.type = NSSQLiteStoreType } }
        let count = try await container.performBackgroundTask { context in
            try context.count(for: DiaryApp.request("Entry", "author.name == 'Ann'"))
        }
        #expect(count == 3)
        let error: Int? = await container.performBackgroundTask { parent in
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = parent
            do {
                try child.performAndWait {
                    let one = try child.fetch(DiaryApp.request("Entry", "number == 1")).first
                    one?.setValue("First", forKey: "title")
                    try child.save()
                }
                try parent.save()
                return nil
            } catch {
                return (error as NSError).code
            }
        }
        #expect(error == (isConverted ? nil : CocoaError.Code.fileWriteNoPermission.rawValue))
        #expect(try DiaryApp.titles(container).first == (isConverted ? "First" : "One"))
        try DiaryApp.quit(container)
    }
}
