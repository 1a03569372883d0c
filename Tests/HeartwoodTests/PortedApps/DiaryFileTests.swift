import Foundation
import Testing

@testable import Heartwood

/// What an app does with its store's files: copies, moves, backups, removal.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct DiaryFileTests {
    private static let noPermission = CocoaError.Code.fileWriteNoPermission.rawValue

    /// Checks that an error says how to convert, and that the store is as it was.
    private static func checkRefused(_ app: DiaryApp, _ bytes: Data, _ body: () throws -> Void) throws {
        let error = #expect(throws: (any Error).self) { try body() }
        #expect(code(error) == noPermission, "\(String(describing: error))")
        #expect((error as NSError?)?.localizedDescription.contains("heartwood convert") == true, "\(String(describing: error))")
        #expect(try Data(contentsOf: app.file) == bytes)
    }

    @Test
    func `An SQLite store is neither removed nor replaced; the error says how to convert`() throws {
        try DiaryApp.with { app in
            let before = try Data(contentsOf: app.file), other = app.folder.appendingPathComponent("Backup.sqlite")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: app.model)
            try Self.checkRefused(app, before) { try coordinator.destroyPersistentStore(at: app.file, type: .sqlite) }
            try Self.checkRefused(app, before) {
                try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: app.file, type: .sqlite)
            }
            #expect(!FileManager.default.fileExists(atPath: other.path))
            // A loaded one stays loaded.
            try coordinator.addPersistentStore(type: .sqlite, at: app.file)
            try Self.checkRefused(app, before) { try coordinator.destroyPersistentStore(at: app.file, type: .sqlite) }
            #expect(coordinator.persistentStores.count == 1)
        }
    }

    @Test
    func `With the record log's type an SQLite store is not removed, copied or asked for metadata, and the error says what it is`() throws {
        try DiaryApp.with { app in
            let before = try Data(contentsOf: app.file), other = app.folder.appendingPathComponent("Copy.heartwood")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: app.model)
            let attempts: [() throws -> Void] = [
                { try coordinator.destroyPersistentStore(at: app.file, type: .recordLog) },
                { try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: app.file, type: .recordLog) },
                { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: app.file) },
                { _ = try coordinator.addPersistentStore(type: .recordLog, at: app.file) },
            ]
            for (number, attempt) in attempts.enumerated() {
                let error = #expect(throws: (any Error).self) { try attempt() }
                let text = (error as NSError?)?.localizedDescription ?? ""
                #expect(text.contains("SQLite") && text.contains("convert"), "\(number): \(text)")
                #expect(try Data(contentsOf: app.file) == before, "\(number)")
            }
            #expect(!FileManager.default.fileExists(atPath: other.path))
        }
    }

    @Test(arguments: [ NSPersistentStore.StoreType.sqlite, .recordLog, .binary, ])
    func `A backup by a second coordinator has the objects, in either type, and the app's store goes on`(_ type: NSPersistentStore.StoreType) throws {
        try DiaryApp.with { app in
            for isConverted in [false, true] {
                let container = try app.container { if !isConverted { $0.type = NSSQLiteStoreType } }
                let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
                let backup = app.folder.appendingPathComponent("Backup-\(isConverted)")
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: app.model)
                let source = try coordinator.addPersistentStore(
                    type: NSPersistentStore.StoreType(rawValue: store.type), at: app.file, options: [NSReadOnlyPersistentStoreOption: true])
                let copy = try coordinator.migratePersistentStore(source, to: backup, type: type)
                #expect(copy.url == backup && copy.type == type.rawValue)
                try coordinator.remove(copy)
                let restored = try app.container(at: backup) { $0.type = type.rawValue }
                #expect(try DiaryApp.titles(restored) == DiaryApp.titles, "\(isConverted)")
                let context = restored.newBackgroundContext()
                try context.performAndWait {
                    let ann = try #require(try context.fetch(DiaryApp.request("Author", "name == 'Ann'")).first)
                    let list = (ann.value(forKey: "entries") as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
                    #expect(list.map { $0.value(forKey: "title") as? String } == ["Three", "One", "Two"])
                    #expect((list.first?.value(forKey: "image") as? Data)?.count == 3000 && ann.value(forKey: "entryCount") as? Int == 3)
                    #expect(ann.value(forKey: "settings") as? [String] == ["dark", "large"])
                    #expect((ann.value(forKey: "address") as? [String: Any])?["city"] as? String == "Ulm")
                }
                try DiaryApp.quit(restored)
                #expect(try DiaryApp.titles(container) == DiaryApp.titles)
                try DiaryApp.quit(container)
            }
        }
    }

    @Test
    func `A store moves to the folder that an app shares with its extension, and its URIs stay`() throws {
        try DiaryApp.with { app in
            let group = app.folder.appendingPathComponent("Group"), url = group.appendingPathComponent("app.heartwood")
            try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
            var container = try app.container { $0.type = NSSQLiteStoreType }
            let coordinator = container.persistentStoreCoordinator, old = try #require(coordinator.persistentStore(for: app.file))
            let context = container.newBackgroundContext()
            let uri = try context.performAndWait {
                let five = try #require(try context.fetch(DiaryApp.request("Entry", "number == 5")).first)
                return five.objectID.uriRepresentation()
            }
            try coordinator.migratePersistentStore(old, to: url, type: .recordLog)
            try DiaryApp.add("Six", 6, to: container)
            try DiaryApp.quit(container)
            container = try app.container(at: url)
            let later = container.newBackgroundContext()
            try later.performAndWait {
                let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
                #expect(try later.existingObject(with: id).value(forKey: "title") as? String == "Five")
            }
            #expect(try DiaryApp.titles(container) == DiaryApp.titles + ["Six"])
            // The app removes the old files.
            for name in try FileManager.default.contentsOfDirectory(atPath: app.folder.path) where name.hasPrefix("app.sqlite") {
                try FileManager.default.removeItem(at: app.folder.appendingPathComponent(name))
            }
            #expect(try DiaryApp.titles(container) == DiaryApp.titles + ["Six"])
        }
    }
}
