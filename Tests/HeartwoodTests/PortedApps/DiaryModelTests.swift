import Foundation
import Testing

@testable import Heartwood

/// Keeps a list of texts as one text.
private final class LinesTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { (value as? [String]).map { Data($0.joined(separator: "\n").utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) as NSArray }
    }
}

/// The rules of an app's model over a store that was converted, and newer versions of it.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct DiaryModelTests {
    @Test
    func `A converted store derives, orders, and reads composites, transformables and external data`() throws {
        try DiaryApp.with { app in
            let container = try app.container()
            try DiaryApp.add("Six", 6, to: container, author: "Ann")
            let context = container.newBackgroundContext()
            try context.performAndWait {
                let ann = try #require(try context.fetch(DiaryApp.request("Author", "entryCount == 4 AND address.city == 'Ulm'")).first)
                #expect((ann.value(forKey: "address") as? [String: Any])?["zip"] as? Int == 89073)
                #expect(ann.value(forKey: "settings") as? [String] == ["dark", "large"])
                let list = try #require(ann.value(forKey: "entries") as? NSOrderedSet).array.compactMap { $0 as? NSManagedObject }
                #expect(list.map { $0.value(forKey: "title") as? String } == ["Three", "One", "Two", "Six"])
                #expect((list[0].value(forKey: "image") as? Data)?.count == 3000 && list[2].value(forKey: "image") as? Data == Data("inline".utf8))
                list[1].setValue(Data(repeating: 7, count: 500_000), forKey: "image")
                ann.setValue(["city": "Rome", "zip": 184], forKey: "address")
                ann.setValue(["light"] as NSArray, forKey: "settings")
                context.delete(list[3])
                try context.save()
                #expect(ann.value(forKey: "entryCount") as? Int == 3)
            }
            try DiaryApp.quit(container)
            let again = try app.container().newBackgroundContext()
            try again.performAndWait {
                let ann = try #require(try again.fetch(DiaryApp.request("Author", "address.city == 'Rome'")).first)
                #expect(ann.value(forKey: "settings") as? [String] == ["light"] && ann.value(forKey: "entryCount") as? Int == 3)
                let one = try #require(try again.fetch(DiaryApp.request("Entry", "number == 1")).first)
                #expect((one.value(forKey: "image") as? Data)?.count == 500_000)
            }
        }
    }

    @Test
    func `Uniqueness constraints hold in the converted store, and a merge policy resolves them`() throws {
        try DiaryApp.with { app in
            let container = try app.container(), context = container.newBackgroundContext()
            try context.performAndWait {
                let new = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
                new.setValue("Robert", forKey: "name")
                new.setValue("bob@a.example", forKey: "email")
                let error = #expect(throws: (any Error).self) { try context.save() }
                #expect(code(error) == NSManagedObjectConstraintMergeError)
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try context.save()
                let bobs = try context.fetch(DiaryApp.request("Author", "email == 'bob@a.example'"))
                #expect(bobs.map { $0.value(forKey: "name") as? String } == ["Robert"])
                #expect(bobs.first?.objectID.uriRepresentation().lastPathComponent == "p2", "the row of the store stays")
                #expect((bobs.first?.value(forKey: "entries") as? NSOrderedSet)?.count == 1)
            }
        }
    }

    @Test
    func `A rule that only the app's model has is no other version, and is checked at the next save`() throws {
        try DiaryApp.with { app in
            let model = try #require(app.model.copy() as? NSManagedObjectModel)
            model.entitiesByName["Entry"]?.attributesByName["number"]?.setValidationPredicates(
                [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["too small"])
            let container = try app.container(model: model)
            let error = #expect(throws: (any Error).self) { try DiaryApp.add("Minus", -1, to: container) }
            let found = code(error)
            #expect(found == NSManagedObjectValidationError)
            try DiaryApp.add("Six", 6, to: container)
            #expect(try DiaryApp.titles(container) == DiaryApp.titles + ["Six"])
        }
    }

    @Test(arguments: [false, true])
    func `A transformer that the app registers reads and writes the values of the store in place and converted`(_ isConverted: Bool) throws {
        try DiaryApp.with { app in
            let name = NSValueTransformerName("Lines-\(isConverted)")
            ValueTransformer.setValueTransformer(LinesTransformer(), forName: name)
            try CoreDataStoreFiles.execute("UPDATE ZAUTHOR SET ZSETTINGS = CAST('a' || char(10) || 'b' AS BLOB) WHERE Z_PK = 1", at: app.file)
            let model = try #require(app.model.copy() as? NSManagedObjectModel)
            model.entitiesByName["Author"]?.attributesByName["settings"]?.valueTransformerName = name.rawValue
            let container = try app.container(model: model) { if !isConverted { $0.type = NSSQLiteStoreType } }
            let context = container.newBackgroundContext()
            try context.performAndWait {
                let ann = try #require(try context.fetch(DiaryApp.request("Author", "name == 'Ann'")).first)
                #expect(ann.value(forKey: "settings") as? [String] == ["a", "b"])
                guard isConverted else { return }
                ann.setValue(["c"], forKey: "settings")
                try context.save()
                context.refresh(ann, mergeChanges: false)
                #expect(ann.value(forKey: "settings") as? [String] == ["c"])
            }
        }
    }

    // MARK: Newer versions

    /// A model in which Author is Writer, its name is called title, and entries have a mood.
    private static func newer(_ app: DiaryApp) throws -> NSManagedObjectModel {
        let model = try #require(app.model.copy() as? NSManagedObjectModel)
        let author = try #require(model.entitiesByName["Author"])
        author.name = "Writer"
        author.renamingIdentifier = "Author"
        author.attributesByName["name"]?.renamingIdentifier = "name"
        author.attributesByName["name"]?.name = "title"
        model.entitiesByName["Entry"]?.properties += [TestStack.attribute("mood", .stringAttributeType, optional: false, default: "calm")]
        return model
    }

    private static func check(_ container: NSPersistentContainer) throws {
        #expect(try DiaryApp.titles(container) == DiaryApp.titles)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let ann = try #require(try context.fetch(DiaryApp.request("Writer", "title == 'Ann'")).first)
            #expect(ann.objectID.uriRepresentation().lastPathComponent == "p1" && ann.value(forKey: "email") as? String == "ann@a.example")
            let list = try #require(ann.value(forKey: "entries") as? NSOrderedSet).array.compactMap { $0 as? NSManagedObject }
            #expect(list.map { $0.value(forKey: "title") as? String } == ["Three", "One", "Two"])
            #expect(list.allSatisfy { $0.value(forKey: "mood") as? String == "calm" })
            #expect((ann.value(forKey: "tags") as? NSSet)?.count == 2)
        }
    }

    @Test
    func `A store of an older version is converted and migrated at the launch: a renamed entity and attribute, a new attribute`() throws {
        try DiaryApp.with { app in
            let model = try Self.newer(app)
            for _ in 0..<2 {
                let container = try app.container(model: model)
                try Self.check(container)
                try DiaryApp.quit(container)
            }
            // The original is of the older version.
            let refused = #expect(throws: (any Error).self) { try app.container(model: model, at: app.original) { $0.type = NSSQLiteStoreType } }
            #expect(code(refused) == NSPersistentStoreIncompatibleVersionHashError)
            #expect(try DiaryApp.titles(try app.container(at: app.original) { $0.type = NSSQLiteStoreType }) == DiaryApp.titles)
        }
    }

    @Test
    func `A staged migration goes on from the converted store, and its handlers see both versions`() throws {
        try DiaryApp.with { app in
            let model = try Self.newer(app), folder = app.folder.appendingPathComponent("Diary.momd")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(CompiledModelWriter.bytes(app.model)).write(to: folder.appendingPathComponent("Old.mom"))
            try Data(CompiledModelWriter.bytes(model)).write(to: folder.appendingPathComponent("New.mom"))
            let old = NSManagedObjectModelReference(fileURL: folder.appendingPathComponent("Old.mom"), versionChecksum: app.model.versionChecksum)
            let new = NSManagedObjectModelReference(fileURL: folder.appendingPathComponent("New.mom"), versionChecksum: model.versionChecksum)
            let stage = NSCustomMigrationStage(migratingFrom: old, to: new)
            var counts: [Int] = []
            stage.willMigrateHandler = { manager, _ in
                let context = try #require(manager.container).newBackgroundContext()
                counts.append(try context.performAndWait { try context.count(for: DiaryApp.request("Author")) })
            }
            stage.didMigrateHandler = { manager, _ in
                let context = try #require(manager.container).newBackgroundContext()
                counts.append(try context.performAndWait { try context.count(for: DiaryApp.request("Writer")) })
            }
            let container = try app.container(model: model) {
                $0.setOption(NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
            }
            try Self.check(container)
            #expect(counts == [2, 2])
        }
    }

    @Test
    func `Two descriptions, one of the SQLite store and one of a new store, divide a model's configurations`() throws {
        try DiaryApp.with { app in
            let model = try #require(app.model.copy() as? NSManagedObjectModel), mark = NSEntityDescription()
            mark.name = "Mark"
            mark.properties = [TestStack.attribute("uri", .stringAttributeType)]
            let old = model.entities
            model.entities += [mark]
            model.setEntities(old, forConfigurationName: "Diary")
            model.setEntities([mark], forConfigurationName: "Local")
            for _ in 0..<2 {
                let container = NSPersistentContainer(name: "Diary", managedObjectModel: model)
                let diary = NSPersistentStoreDescription(url: app.file)
                let local = NSPersistentStoreDescription(url: app.folder.appendingPathComponent("local.heartwood"))
                (diary.configuration, local.configuration) = ("Diary", "Local")
                container.persistentStoreDescriptions = [diary, local]
                container.loadPersistentStores { _, error in #expect(error == nil) }
                let context = container.newBackgroundContext()
                try context.performAndWait {
                    let entry = try #require(try context.fetch(DiaryApp.request("Entry", "number == 1")).first)
                    let new = NSEntityDescription.insertNewObject(forEntityName: "Mark", into: context)
                    new.setValue(entry.objectID.uriRepresentation().absoluteString, forKey: "uri")
                    try context.save()
                    #expect(new.objectID.persistentStore?.url == local.url && entry.objectID.persistentStore?.url == app.file)
                }
                try DiaryApp.quit(container)
            }
        }
    }

    @Test(.enabled( if: CompiledMappingTests.isThere, "../shared/stores is absent"))
    func `A real store goes through two newer versions, the second by a compiled mapping model and a policy`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let place = SharedStores.folder.appendingPathComponent("cdplus-sample1-v1"), app = folder.appendingPathComponent("App.sqlite")
            let fixtures = place.appendingPathComponent("model/Tests/Resources/SampleModel/Fixtures")
            func version(_ name: String) throws -> NSManagedObjectModel {
                try NSManagedObjectModel.load(contentsOf: fixtures.appendingPathComponent("SampleModel.momd/\(name).mom"))
            }
            try FileManager.default.copyItem(at: place.appendingPathComponent("SampleModel_V1.sqlite"), to: app)
            func lines(_ model: NSManagedObjectModel, _ url: URL, _ name: (NSManagedObject) -> String?) throws -> [String] {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(
                    type: .recordLog, at: url,
                    options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
                let context = coordinator.newContext()
                let lines = try context.fetch(DiaryApp.request("Car")).map { car in
                    let owner = (car.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "lastName") as? String
                    return "\(car.entity.name ?? "") \(car.value(forKey: "numberPlate") ?? "") \(name(car) ?? "") \(owner ?? "")"
                }
                try coordinator.remove(coordinator.persistentStores[0])
                return lines.sorted()
            }
            let second = try version("SampleModel2"), third = try version("SampleModel3")
            let before = try lines(second, app) { $0.value(forKey: "maker") as? String }
            #expect(before.count == 125)
            let mapping = try NSMappingModel.load(contentsOf: fixtures.appendingPathComponent("V2toV3.cdm"))
            let new = folder.appendingPathComponent("New")
            try NSMigrationManager(sourceModel: second, destinationModel: third).migrateStore(
                from: app, type: .recordLog, mapping: mapping, to: new, type: .recordLog)
            let after = try lines(third, new) { ($0.value(forKey: "createdBy") as? NSManagedObject)?.value(forKey: "name") as? String }
            #expect(after == before)
        }
    }
}
