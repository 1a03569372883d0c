import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// Containers and coordinators that find an SQLite store where they keep a record log.
@Suite struct SQLiteExchangeTests {
    /// Copies a kept store with the files that belong to it, as `App.sqlite`.
    private static func copy(_ name: String, to folder: URL) throws -> URL {
        let made = CoreDataStoreFile(name: name, folder: CoreDataStoreFiles.folder.appendingPathComponent("Goldens"))
        let app = folder.appendingPathComponent("App.sqlite"), support = ".\(name)_SUPPORT"
        try FileManager.default.copyItem(at: made.store, to: app)
        if made.hasLog { try FileManager.default.copyItem(atPath: made.store.path + "-wal", toPath: app.path + "-wal") }
        let external = made.folder.appendingPathComponent(support)
        if FileManager.default.fileExists(atPath: external.path) {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(".App_SUPPORT"))
            try FileManager.default.copyItem(at: external, to: folder.appendingPathComponent(".App_SUPPORT"))
        }
        return app
    }

    private static func expected(_ name: String, at file: URL) throws -> ExpectedObjects {
        let made = CoreDataStoreFile(name: name, folder: CoreDataStoreFiles.folder.appendingPathComponent("Goldens"))
        return ExpectedObjects(name: name, file: file, lines: [try made.summary()] + (try made.objects()))
    }

    /// Opens a store in a container and compares its objects with those expected of the SQLite store.
    private static func check(_ name: String, _ app: URL, _ model: NSManagedObjectModel) throws {
        let container = NSPersistentContainer(name: "App", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: app)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first), context = container.newBackgroundContext()
        #expect(store.type == NSRecordLogStoreType && !store.isReadOnly)
        var expected = try expected(name, at: app)
        expected.isConverted = true
        try expected.check(store, context)
        try container.persistentStoreCoordinator.remove(store)
        #expect(try StoreVerification.verify(path: app.path).isSound)
    }

    @Test(arguments: ["log-beside", "external", "inheritance-duplicates"])
    func `A container converts the SQLite store at its URL and keeps the original`(_ name: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let app = try Self.copy(name, to: folder), model = try CoreDataStoreModel.find(storeAt: app.path).model
            let hasLog = FileManager.default.fileExists(atPath: app.path + "-wal")
            try Self.check(name, app, model)
            // Once more: now it is a record log.
            try Self.check(name, app, model)
            let original = URL(fileURLWithPath: app.path + "-original")
            _ = try Self.expected(name, at: original).check()
            let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting([".App_SUPPORT"])
            #expect(names == Set(["App.sqlite", "App.sqlite-original"] + (hasLog ? ["App.sqlite-original-wal"] : [])))
        }
    }

    @Test
    func `A store that was put back is converted again, under another name for the original`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let app = try Self.copy("log-beside", to: folder), model = try CoreDataStoreModel.find(storeAt: app.path).model
            try Self.check("log-beside", app, model)
            try FileManager.default.removeItem(at: app)
            _ = try Self.copy("log-beside", to: folder)
            try Self.check("log-beside", app, model)
            for suffix in ["-original", "-original-wal", "-original-2", "-original-2-wal"] {
                #expect(FileManager.default.fileExists(atPath: app.path + suffix), "\(suffix)")
            }
        }
    }

    /// The folder is copied at each point, as a kill there leaves it.
    @Test(arguments: SQLiteExchange.Step.allCases)
    func `After a kill at any step one of the two stores is whole, and the next opening has all objects`(_ step: SQLiteExchange.Step) throws {
        struct Killed: Error {}
        try CoreDataStoreFiles.withFolder { folder in
            let app = try Self.copy("log-beside", to: folder), model = try CoreDataStoreModel.find(storeAt: app.path).model
            let left = folder.deletingLastPathComponent().appendingPathComponent(folder.lastPathComponent + "-killed")
            defer { try? FileManager.default.removeItem(at: left) }
            let conversion = SQLiteConversion(app, for: model, configuration: nil, keepsHistory: false)
            let exchange = SQLiteExchange(conversion: conversion) { reached in
                guard reached == step else { return }
                try FileManager.default.copyItem(at: folder, to: left)
                throw Killed()
            }
            #expect(throws: Killed.self) { try exchange.run() }
            for place in [folder, left] { try Self.checkLeft(place.appendingPathComponent("App.sqlite"), step, model) }
        }
    }

    private static func checkLeft(_ app: URL, _ step: SQLiteExchange.Step, _ model: NSManagedObjectModel) throws {
        let isExchanged = step.rawValue >= SQLiteExchange.Step.exchanged.rawValue
        #expect(CoreDataFile.isClearDatabase(app) != isExchanged)
        if !isExchanged { _ = try expected("log-beside", at: app).check() }
        if step != .written { _ = try expected("log-beside", at: URL(fileURLWithPath: app.path + "-original")).check() }
        try check("log-beside", app, model)
        try check("log-beside", app, model)
    }

    @Test
    func `Without migration, for reading only, and for a database of another program, the SQLite file stays as it is`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let app = try Self.copy("log-beside", to: folder), model = try CoreDataStoreModel.find(storeAt: app.path).model
            let before = try Data(contentsOf: app), names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            for change: (NSPersistentStoreDescription) -> Void in [{ $0.shouldMigrateStoreAutomatically = false }, { $0.isReadOnly = true }] {
                let description = NSPersistentStoreDescription(url: app), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                change(description)
                let error = #expect(throws: NSError.self) { try coordinator.addPersistentStore(description) }
                #expect(error?.localizedDescription.contains("heartwood convert") == true, "\(String(describing: error))")
            }
            let description = NSPersistentStoreDescription(url: app), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            description.type = NSSQLiteStoreType
            try coordinator.addPersistentStore(description)
            #expect(try Data(contentsOf: app) == before && FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        }
    }

    @Test
    func `A container makes its missing store of the SQLite store beside it, once, and leaves that as it is`() throws {
        final class Container: NSPersistentContainer, @unchecked Sendable {
            nonisolated(unsafe) static var directory = URL(fileURLWithPath: "/")
            override class func defaultDirectoryURL() -> URL { directory }
        }
        try CoreDataStoreFiles.withFolder { folder in
            Container.directory = folder
            let app = try Self.copy("log-beside", to: folder), model = try CoreDataStoreModel.find(storeAt: app.path).model
            let files = try Self.expected("log-beside", at: app).files()
            for _ in 0..<2 {
                let container = Container(name: "App", managedObjectModel: model)
                var failure: (any Error)?
                container.loadPersistentStores { _, error in failure = error }
                if let failure { throw failure }
                let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
                #expect(store.url?.lastPathComponent == "App.heartwood")
                try Self.expected("log-beside", at: app).check(store, container.newBackgroundContext())
                try container.persistentStoreCoordinator.remove(store)
            }
            #expect(try Self.expected("log-beside", at: app).files().filter { $0.key != "App.heartwood" } == files)
            let new = folder.appendingPathComponent("App.heartwood")
            try NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(at: new, type: .recordLog)
            let container = Container(name: "App", managedObjectModel: model)
            container.loadPersistentStores { _, error in #expect(error == nil) }
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            #expect(store.identifier != (try Self.expected("log-beside", at: app).lines[0]["uuid"] as? String), "a destroyed store stays empty")
        }
    }

    @Test(arguments: [false, true])
    func `migratePersistentStore makes a record log with the same URIs, and the history if it is tracked`(_ tracks: Bool) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let app = try Self.copy("history", to: folder), new = folder.appendingPathComponent("New.heartwood")
            let (context, old) = try Self.expected("history", at: app).open()
            let coordinator = try #require(context.persistentStoreCoordinator)
            let identifier = old.identifier
            let store = try coordinator.migratePersistentStore(
                old, to: new, options: tracks ? [NSPersistentHistoryTrackingKey: true] : nil, type: .recordLog)
            #expect(store.identifier == identifier && coordinator.persistentStores == [store])
            let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            fresh.persistentStoreCoordinator = coordinator
            try Self.expected("history", at: app).check(store, fresh)
            try fresh.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try? fresh.execute(request) as? NSPersistentHistoryResult
                let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                #expect(transactions.isEmpty != tracks)
                let name = try #require(coordinator.managedObjectModel.entities.first { !$0.isAbstract }?.name)
                let before = try fresh.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).map(\.objectID.key.row)
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: fresh)
                try fresh.obtainPermanentIDs(for: [object])
                #expect(!before.contains(object.objectID.key.row))
            }
        }
    }
}
