import Foundation
import Heartwood
import HeartwoodTestSupport
import Testing

/// A stack of this process and a `heartwood import` of another over one file.
@Suite struct RemoteChangeTests {
    @Test
    func `Another process's import is announced and is a conflict`() async throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        func importing(_ file: String, input: String? = nil) throws {
            let (process, output, error) = try ToolProcess.start(
                ["import", path, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", file], input: input)
            process.waitUntilExit()
            let text = try String(contentsOf: error, encoding: .utf8)
            #expect(process.terminationStatus == 0, "\(text)")
            ToolProcess.cleanUp(output.path, error.path)
        }
        try importing(ToolProcess.excerpt)
        let model = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: ToolProcess.model))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Package")
        request.predicate = NSPredicate(format: "name == 'lantern'")
        let package = try #require(try context.fetch(request).first)
        package.setValue("mine", forKey: "version")
        package.setValue("changed here", forKey: "summary")
        let told = Watched(0)
        let token = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) { _ in
            told.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try importing("-", input: #"{"name": "lantern", "version": "theirs", "size": 7}"#)
        #expect(await told.wait { $0 > 0 })
        let error = #expect(throws: NSError.self) { try context.save() }
        let conflict = try #require((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
        let newest = conflict.persistedSnapshot ?? conflict.cachedSnapshot
        #expect(newest?["version"] as? String == "theirs" && conflict.objectSnapshot?["version"] as? String == "2.1-1")
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        try context.save()
        #expect(package.value(forKey: "version") as? String == "theirs" && package.value(forKey: "size") as? Int == 7)
        #expect(package.value(forKey: "summary") as? String == "changed here")
        try coordinator.remove(store)
    }
}
