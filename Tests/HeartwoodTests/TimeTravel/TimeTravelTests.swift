import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A store added as of commits of its past.
@Suite struct TimeTravelTests {
    private static let names = [
        "int16", "int32", "int64", "double", "float", "decimal", "string", "bool", "date", "data", "transformable",
    ]

    private static var samples: [(name: String, first: NSObject, second: NSObject)] { [
        ("int16", NSNumber(value: Int16.min), NSNumber(value: Int16(7))), ("int32", NSNumber(value: Int32.max), NSNumber(value: Int32(0))),
        ("int64", NSNumber(value: Int64.min), NSNumber(value: Int64(1))), ("double", NSNumber(value: 0.1), NSNumber(value: -2.5)),
        ("float", NSNumber(value: Float(0.5)), NSNumber(value: Float(8))),
        ("decimal", NSDecimalNumber(string: "12.50"), NSDecimalNumber(string: "-0.001")),
        ("string", NSString(string: ""), NSString(string: String(repeating: "long ", count: 2000))),
        ("bool", NSNumber(value: true), NSNumber(value: false)),
        ("date", NSDate(timeIntervalSinceReferenceDate: 0.25), NSDate(timeIntervalSince1970: 1)),
        ("data", NSData(), NSData(data: Data(repeating: 9, count: 5000))),
        ("transformable", NSString(string: "one"), NSArray(array: ["two", "three"] as [NSString])),
    ] }

    @Test(arguments: names)
    func `Each type of attribute has its value of each of three commits: none, one, another`(name: String) throws {
        let (_, first, second) = try #require(Self.samples.first { $0.name == name })
        let store = try PastStore(), object = store.stack.insert("Everything", [:])
        let empty = try store.save()
        object.setValue(first, forKey: name)
        let one = try store.save()
        object.setValue(second, forKey: name)
        let two = try store.save()
        object.setValue(nil, forKey: name)
        let last = try store.save()
        for (commit, wanted) in [(empty, nil), (one, first), (two, second), (last, nil)] {
            let context = try store.open(NSNumber(value: commit))
            let found = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
            #expect((found.value(forKey: name) as? NSObject).map { $0.isEqual(wanted) } ?? (wanted == nil), "commit \(commit)")
            #expect(context.store?.commitNumber == commit && found.objectID == object.objectID)
        }
    }

    @Test
    func `UUIDs and URIs have the values of their commits`() throws {
        let store = try PastStore(), object = store.stack.insert("Everything", [:])
        let uuid = UUID(), uri = try #require(URL(string: "https://example.org/a"))
        object.setValue(uuid, forKey: "uuid")
        object.setValue(uri, forKey: "uri")
        let one = try store.save()
        object.setValue(UUID(), forKey: "uuid")
        object.setValue(nil, forKey: "uri")
        _ = try store.save()
        let found = try #require(try store.open(one).fetch(NSFetchRequest<NSManagedObject>(entityName: "Everything")).first)
        #expect(found.value(forKey: "uuid") as? UUID == uuid && found.value(forKey: "uri") as? URL == uri)
    }

    /// Three commits: Ada and Ben in a group with a tag; Ada changed and Ben deleted; Ben is there again, and Cy.
    private func scene() throws -> (store: PastStore, commits: [UInt64]) {
        let store = try PastStore(), stack = store.stack
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "x"])
        let ada = stack.insert("Person", ["name": "Ada", "age": 1, "group": group, "tags": NSSet(object: tag), "email": "a@x"])
        let ben = stack.insert("Person", ["name": "Ben", "age": 2, "group": group, "partner": ada])
        let tasks = ["one", "two", "three"].map { stack.insert("Task", ["title": $0]) }
        ada.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
        var commits = [try store.save()]
        ada.setValue(10, forKey: "age")
        ada.setValue(NSOrderedSet(array: [tasks[2], tasks[0]]), forKey: "tasks")
        ada.setValue(NSSet(), forKey: "tags")
        stack.context.delete(ben)
        commits.append(try store.save())
        stack.insert("Person", ["name": "Ben", "age": 20])
        stack.insert("Employee", ["name": "Cy", "age": 3, "group": group, "salary": NSDecimalNumber(string: "1.5")])
        stack.context.delete(tag)
        commits.append(try store.save())
        return (store, commits)
    }

    @Test
    func `Relationships of each kind, and objects that were deleted and came again, are those of the commit`() throws {
        let (store, commits) = try scene()
        let first = try store.open(commits[0]), second = try store.open(commits[1]), third = try store.open(commits[2])
        let ada = try #require(try first.person("Ada"))
        #expect((ada.value(forKey: "group") as? NSManagedObject)?.value(forKey: "title") as? String == "g")
        #expect((ada.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1)
        #expect((ada.value(forKey: "partner") as? NSManagedObject)?.value(forKey: "name") as? String == "Ben")
        func titles(_ context: NSManagedObjectContext) throws -> [String] {
            let tasks = try #require(try context.person("Ada")).value(forKey: "tasks") as? NSOrderedSet
            return (tasks?.array ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
        }
        #expect(try titles(first) == ["one", "two", "three"] && titles(second) == ["three", "one"])
        let changed = try #require(try second.person("Ada"))
        #expect(changed.value(forKey: "age") as? Int == 10 && changed.value(forKey: "partner") == nil)
        #expect((changed.value(forKey: "tags") as? Set<NSManagedObject>)?.isEmpty == true)
        #expect(try second.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).count == 1)
        #expect(try third.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).isEmpty)
        #expect(try first.persons() == ["Ada", "Ben"] && second.persons() == ["Ada"] && third.persons() == ["Ada", "Ben", "Cy"])
        let old = try #require(try first.person("Ben")), new = try #require(try third.person("Ben"))
        #expect(old.objectID != new.objectID && new.value(forKey: "age") as? Int == 20)
        #expect(failure { _ = try third.existingObject(with: old.objectID) } != nil)
    }

    @Test
    func `Fetches of each shape answer as of the commit`() throws {
        let (store, commits) = try scene()
        let context = try store.open(commits[0])
        #expect(try context.persons("age == 1") == ["Ada"] && context.persons("age >= 10").isEmpty && context.persons("email == 'a@x'") == ["Ada"])
        #expect(try context.persons("group.title == 'g' AND ANY tags.label == 'x'") == ["Ada"])
        #expect(try context.persons("SUBQUERY(tasks, $t, $t.title == 'two').@count == 1") == ["Ada"])
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        let sums = NSFetchRequest<NSDictionary>(entityName: "Person")
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = ["name", "age"]
        sums.propertiesToGroupBy = ["name", "age"]
        sums.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        #expect(try context.fetch(sums).map { $0["age"] as? Int } == [2, 1])
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
        ids.resultType = .managedObjectIDResultType
        ids.fetchLimit = 1
        ids.fetchOffset = 1
        #expect(try context.fetch(ids).count == 1)
        let list = NSFetchRequest<NSManagedObject>(entityName: "Person")
        list.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: list, managedObjectContext: context, sectionNameKeyPath: "group.title", cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 2 && controller.sections?.map(\.name) == ["g"])
    }

    @Test
    func `The past stays as it is while others save and compact, and the present knows the same objects`() throws {
        let (store, commits) = try scene()
        let context = try store.open(commits[1])
        let ada = try #require(try context.person("Ada"))
        let now = try store.stack.context.existingObject(with: ada.objectID)
        now.setValue(99, forKey: "age")
        _ = try store.save()
        try store.stack.persistentStore.compactRecordLog()
        now.setValue(100, forKey: "age")
        _ = try store.save()
        context.refreshAllObjects()
        #expect(ada.value(forKey: "age") as? Int == 10)
        #expect(try context.persons() == ["Ada"] && context.store?.commitNumber == commits[1])
        let gone = try #require(failure { _ = try store.open(commits[1]) })
        #expect(gone.domain == NSCocoaErrorDomain && gone.code == NSPersistentStoreOpenError)
        #expect((gone.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .noSuchCommit)
        #expect(gone.localizedDescription.contains("commits \(commits[2] + 1) to \(store.commit)"), "\(gone.localizedDescription)")
    }

    @Test
    func `A date finds the last commit at or before it`() throws {
        let store = try PastStore()
        store.stack.insert("Person", ["name": "Ada"])
        let first = try store.save(), log = try #require(store.stack.store.log)
        let time = try #require(try log.commit(first)).timestamp
        let date = Date(timeIntervalSince1970: Double(time) / 1_000_000)
        // The second commit has a later time.
        Thread.sleep(forTimeInterval: 0.01)
        store.stack.insert("Person", ["name": "Ben"])
        let second = try store.save()
        #expect(try store.open(date).store?.commitNumber == first && store.open(date as NSDate).persons() == ["Ada"])
        #expect(try store.open(Date()).store?.commitNumber == second)
        let early = try #require(failure { _ = try store.open(Date(timeIntervalSince1970: 0)) })
        #expect(early.code == NSPersistentStoreOpenError && early.localizedDescription.contains("at or before"))
    }

    @Test(arguments: [UInt64.max as any Sendable, 1000, 0, -1, 2.5, "3", true, Double.nan, Date.distantPast, Date(timeIntervalSince1970: .infinity)])
    func `A commit that the log does not have, or a value that names none, is an error`(value: any Sendable) throws {
        let store = try PastStore()
        store.stack.insert("Person", ["name": "Ada"])
        _ = try store.save()
        let error = try #require(failure { _ = try store.open(value) })
        #expect(error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreOpenError, "\(error)")
        #expect(error.userInfo[NSFilePathErrorKey] as? String == store.stack.url.path)
    }

    @Test
    func `Numbers of each integer type name a commit`() throws {
        let (store, commits) = try scene()
        let commit = commits[0]
        let values: [Any] = [
            Int(commit), Int64(commit), UInt32(commit), commit, NSNumber(value: commit), NSNumber(value: Int32(commit)),
            NSNumber(value: Double(commit)),
        ]
        for value in values { #expect(try store.open(value).persons() == ["Ada", "Ben"], "\(type(of: value))") }
    }

    @Test
    func `Everything that would write is refused, and nothing is written`() throws {
        let (store, commits) = try scene()
        let before = try Data(contentsOf: store.stack.url)
        let context = try store.open(commits[0], TestStack.model(), [NSPersistentHistoryTrackingKey: true])
        let past = try #require(context.store), coordinator = try #require(context.persistentStoreCoordinator)
        #expect(past.isReadOnly)
        past.isReadOnly = false
        #expect(past.isReadOnly, "the past cannot be made writable")
        _ = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        let error = try #require(failure { try context.save() })
        #expect(error.code == CocoaError.Code.fileWriteNoPermission.rawValue && error.localizedDescription.contains("commit \(commits[0])"))
        context.rollback()
        #expect(failure { try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Tag"))) } != nil)
        #expect(failure { try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["label": "y"]])) } != nil)
        #expect(failure { _ = try past.compactRecordLog() } != nil)
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        #expect(failure { try context.obtainPermanentIDs(for: [tag]) } != nil)
        coordinator.setMetadata(["key": "value"], for: past)
        let options: [String: Any] = [NSRecordLogAsOfOption: commits[0]]
        #expect(failure { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .recordLog, at: store.stack.url, options: options) } != nil)
        #expect(failure {
            try NSPersistentStoreCoordinator(managedObjectModel: TestStack.model()).destroyPersistentStore(
                at: store.stack.url, ofType: NSRecordLogStoreType, options: options)
        } != nil)
        try coordinator.remove(past)
        #expect(try Data(contentsOf: store.stack.url) == before)
    }

    @Test
    func `One coordinator takes a store once, present or past; two coordinators have one each`() throws {
        let (store, commits) = try scene()
        let options: [String: Any] = [NSRecordLogAsOfOption: commits[0]]
        let same = try #require(failure { try store.stack.coordinator.addPersistentStore(type: .recordLog, at: store.stack.url, options: options) })
        #expect(same.code == NSPersistentStoreOperationError)
        let link = store.stack.url.deletingLastPathComponent().appendingPathComponent("link-\(UUID()).heartwood")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.stack.url)
        defer { try? FileManager.default.removeItem(at: link) }
        let other = try #require(failure { try store.stack.coordinator.addPersistentStore(type: .recordLog, at: link, options: options) })
        #expect(other.code == NSPersistentStoreOperationError && other.localizedDescription.contains("another coordinator"))
        #expect(store.stack.coordinator.persistentStores.count == 1)
    }

    @Test(arguments: [NSInMemoryStoreType, NSBinaryStoreType, NSSQLiteStoreType])
    func `Only record logs in files have a past`(type: String) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID())")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let error = try #require(failure {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: [NSRecordLogAsOfOption: 1])
        })
        #expect(error.code == NSPersistentStoreOpenError && !FileManager.default.fileExists(atPath: url.path))
        let missing = try #require(failure { try coordinator.addPersistentStore(type: .recordLog, at: url, options: [NSRecordLogAsOfOption: 1]) })
        #expect(missing.code == CocoaError.Code.fileReadNoSuchFile.rawValue && !FileManager.default.fileExists(atPath: url.path))
    }

    @Test
    func `A description of a container's store takes the option`() throws {
        let (store, commits) = try scene()
        let container = NSPersistentContainer(name: "Past", managedObjectModel: TestStack.model())
        let description = NSPersistentStoreDescription(url: store.stack.url)
        description.setOption(NSNumber(value: commits[1]), forKey: NSRecordLogAsOfOption)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        #expect(try container.viewContext.persons() == ["Ada"])
    }

    @Test
    func `A past store is copied and moved to a store of its own, which goes on from there`() throws {
        let (store, commits) = try scene()
        let context = try store.open(commits[1]), coordinator = try #require(context.persistentStoreCoordinator), past = try #require(context.store)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID()).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        _ = try coordinator.migratePersistentStore(past, to: url, options: nil, withType: NSRecordLogStoreType)
        let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        #expect(try reader.persons() == ["Ada"])
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: reader).setValue("Dan", forKey: "name")
        try reader.save()
        #expect(try reader.persons() == ["Ada", "Dan"])
    }
}
