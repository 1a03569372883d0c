import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// The launches of an app that is ported with its SQLite store.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct DiaryLaunchTests {
    @Test
    func `The first launch converts the store at its URL, the second opens it, and the app's saves stay; the original is whole`() throws {
        try DiaryApp.with { app in
            var container = try app.container()
            #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSRecordLogStoreType])
            #expect(try DiaryApp.titles(container) == DiaryApp.titles)
            try DiaryApp.add("Six", 6, to: container, author: "Ann")
            try DiaryApp.quit(container)
            container = try app.container()
            #expect(try DiaryApp.titles(container) == DiaryApp.titles + ["Six"])
            try DiaryApp.quit(container)
            container = try app.container(at: app.original) { $0.type = NSSQLiteStoreType }
            #expect(try DiaryApp.titles(container) == DiaryApp.titles)
        }
    }

    @Test(
        arguments: [
        [:], [NSMigratePersistentStoresAutomaticallyOption: false], [NSReadOnlyPersistentStoreOption: true],
        [NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true],
    ])
    func `With the type of SQLite stores the store is only read, at each launch, whatever the other options`(_ options: [String: Bool]) throws {
        try DiaryApp.with { app in
            let before = try Data(contentsOf: app.file)
            for _ in 0..<2 {
                let container = try app.container {
                    $0.type = NSSQLiteStoreType
                    for (key, value) in options { $0.setOption(value as NSNumber, forKey: key) }
                }
                #expect(try DiaryApp.titles(container) == DiaryApp.titles)
                let error = #expect(throws: (any Error).self) { try DiaryApp.add("Six", 6, to: container) }
                #expect(code(error) == CocoaError.Code.fileWriteNoPermission.rawValue)
                try DiaryApp.quit(container)
            }
            #expect(try Data(contentsOf: app.file) == before && !FileManager.default.fileExists(atPath: app.original.path))
        }
    }

    @Test
    func `URIs and a history token that the app archived before the conversion lead to the same objects and transactions after it`() throws {
        try DiaryApp.with { app in
            var container = try app.container { $0.type = NSSQLiteStoreType }
            var context = container.newBackgroundContext()
            let (uris, archived) = try context.performAndWait {
                let entries = try context.fetch(DiaryApp.request("Entry", sort: "number"))
                let all = try Self.history(after: nil, context)
                #expect(all.map(\.author) == ["app", "share"])
                let token = try NSKeyedArchiver.archivedData(withRootObject: try #require(all.first).token, requiringSecureCoding: true)
                return (entries.map { $0.objectID.uriRepresentation() }, token)
            }
            try DiaryApp.quit(container)

            container = try app.container { $0.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
            try DiaryApp.add("Six", 6, to: container)
            context = container.newBackgroundContext()
            try context.performAndWait {
                for (uri, title) in zip(uris, DiaryApp.titles) {
                    let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
                    #expect(try context.existingObject(with: id).value(forKey: "title") as? String == title)
                }
                let token = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archived))
                let later = try Self.history(after: token, context)
                #expect(later.count == 2 && later.first?.author == "share", "the share extension's, and the app's own")
                // An index of texts, such as Spotlight's, is kept by following the history.
                let changes = try #require(later.first?.changes), deleted = changes.filter { $0.changeType == .delete }
                #expect(deleted.map { $0.tombstone?["title"] as? String } == ["Nine"])
                let updated = try #require(changes.first { $0.changeType == .update })
                #expect(updated.updatedProperties?.map(\.name) == ["title"])
                #expect(try context.existingObject(with: updated.changedObjectID).value(forKey: "title") as? String == "One")
                #expect(later.last?.changes?.map(\.changeType) == [.insert])
            }
        }
    }

    private static func history(
        after token: NSPersistentHistoryToken?, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    @Test
    func `A store that the app copies out of its read-only bundle, with its log, is converted and can be saved`() throws {
        try DiaryApp.with { app in
            let documents = app.folder.appendingPathComponent("Documents"), url = documents.appendingPathComponent("Seed.sqlite")
            try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: app.file.path + suffix) {
                try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: app.file.path + suffix)
                try FileManager.default.copyItem(atPath: app.file.path + suffix, toPath: url.path + suffix)
            }
            let support = documents.appendingPathComponent(".Seed_SUPPORT")
            try FileManager.default.copyItem(at: app.folder.appendingPathComponent(".app_SUPPORT"), to: support)
            let container = try app.container(at: url)
            try DiaryApp.add("Six", 6, to: container)
            #expect(try DiaryApp.titles(container) == DiaryApp.titles + ["Six"])
            let context = container.newBackgroundContext()
            let bytes = try context.performAndWait {
                let entries = try context.fetch(DiaryApp.request("Entry", "image != nil", sort: "number"))
                return entries.compactMap { ($0.value(forKey: "image") as? Data)?.count }
            }
            #expect(bytes == [6, 3000])
        }
    }

    @Test
    func `An exchange that cannot write leaves the store as it was, and the error names the file and says what to do`() throws {
        try DiaryApp.with { app in
            let before = try Data(contentsOf: app.file)
            let blocker = URL(fileURLWithPath: app.file.path + ".migrating")
            try Data("x".utf8).write(to: blocker)
            let error = #expect(throws: (any Error).self) { try app.container() } as NSError?
            #expect(error?.localizedDescription.contains(blocker.path) == true && error?.localizedDescription.contains("try again") == true)
            #expect(try Data(contentsOf: app.file) == before && !FileManager.default.fileExists(atPath: app.original.path))
            try FileManager.default.removeItem(at: blocker)
            let conversion = SQLiteConversion(app.file, for: app.model, configuration: nil, keepsHistory: false)
            for (cause, remedy) in [(StoreError.Code.noSpace, "Free about"), (.readOnly, "writable"), (.permissionDenied, "in place")] {
                let failure = StoreError(cause, path: "new", "writing failed", remedy: "Save again.", errno: 28)
                for thrown in [failure, RecordLogErrors.wrap(failure)] as [any Error] {
                    let error = #expect(throws: (any Error).self) { try conversion.withFolder(besides: app.file) { _ in throw thrown } } as NSError?
                    let text = error?.localizedDescription ?? ""
                    #expect(text.contains(remedy) && text.contains("\(app.file.path)") && !text.contains("Save again"), "\(text)")
                    #expect(error?.domain == NSCocoaErrorDomain)
                }
            }
            #expect(try DiaryApp.titles(try app.container()) == DiaryApp.titles)
        }
    }
}
