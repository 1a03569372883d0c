import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct FeedTests {
    let container = PersistenceController(inMemory: true).container

    nonisolated private func newTaskContext() -> NSManagedObjectContext {
        let taskContext = container.newBackgroundContext()
        taskContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        taskContext.undoManager = nil
        return taskContext
    }

    nonisolated private func importQuakes(_ list: [[String: Any]], in context: NSManagedObjectContext) throws -> Bool {
        var index = 0
        let total = list.count
        let request = NSBatchInsertRequest(entity: Quake.entity(), dictionaryHandler: { dictionary in
            guard index < total else { return true }
            dictionary.addEntries(from: list[index])
            index += 1
            return false
        })
        let result = try context.execute(request) as? NSBatchInsertResult
        return result?.result as? Bool ?? false
    }

    @Test func aLargeFeedIsLoadedAndLoadedAgain() async throws {
        let viewContext = container.viewContext, taskContext = newTaskContext()
        try await taskContext.perform {
            let feed: [[String: Any]] = (0..<2000).map {
                ["code": "q\($0)", "magnitude": Float($0 % 9), "place": "Place \($0)", "time": Date(timeIntervalSince1970: Double($0))]
            }
            let first = try importQuakes(feed, in: taskContext)
            let second = try importQuakes(feed.prefix(10).map { $0.merging(["place": "moved"]) { $1 } }, in: taskContext)
            #expect(first && second)
        }
        try await viewContext.perform {
            let request = NSFetchRequest<Quake>(entityName: "Quake")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Quake.time, ascending: false)]
            request.fetchBatchSize = 20
            let quakes = try viewContext.fetch(request)
            #expect(quakes.count == 2000 && quakes.first?.code == "q1999" && quakes.last?.place == "moved")
            request.predicate = NSPredicate(format: "magnitude >= %f AND place CONTAINS[cd] %@", 7.5, "PLÁCE")
            #expect(try viewContext.count(for: request) == 221)
            let number = NSFetchRequest<NSNumber>(entityName: "Quake")
            number.resultType = .countResultType
            #expect(try viewContext.fetch(number).first?.intValue == 2000)
        }
        let ids = await viewContext.perform { ((try? Quake.fetchRequest().execute()) ?? []).prefix(5).map(\.objectID) }
        try await taskContext.perform {
            let delete = NSBatchDeleteRequest(objectIDs: ids)
            let result = try taskContext.execute(delete) as? NSBatchDeleteResult
            #expect(result?.result as? Bool == true)
        }
        let left = try await container.performBackgroundTask { try $0.count(for: NSFetchRequest<Quake>(entityName: "Quake")) }
        #expect(left == 1995)
    }

    @Test func anotherContextsSaveIsHeardByTypedKeysAndMerged() async throws {
        let viewContext = container.viewContext, background = newTaskContext()
        let old = Quake(context: viewContext)
        old.code = "a"
        try viewContext.save()
        nonisolated(unsafe) var heard: [String: Int] = [:]
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(forName: .NSManagedObjectContextDidSave, object: background, queue: nil) { note in
                for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                    heard[key] = (note.userInfo?[key] as? Set<NSManagedObject>)?.count
                }
            },
            center.addObserver(forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: background, queue: nil) { note in
                let key = NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
                heard["ids"] = (note.userInfo?[key] as? Set<NSManagedObjectID>)?.count
            },
        ]
        defer { tokens.forEach(center.removeObserver) }
        let id = old.objectID
        try await background.perform {
            let same = try #require(try background.existingObject(with: id) as? Quake)
            same.place = "Rome"
            for code in ["b", "c"] { try Quake(context: background).update(from: ["code": code]) }
            #expect(throws: CocoaError.self) { try Quake(context: background).update(from: [:]) }
            for quake in background.insertedObjects where (quake as? Quake)?.code == "" { background.delete(quake) }
            try background.save()
        }
        #expect(heard[NSInsertedObjectsKey] == 2 && heard[NSUpdatedObjectsKey] == 1 && heard["ids"] == 2)
        #expect(heard[NSDeletedObjectsKey] ?? 0 == 0)
        await viewContext.perform { #expect(old.place == "Rome") }
    }

    @Test func twoWritersAreReconciledByEachPolicy() throws {
        for (policy, expected) in [
            (NSMergeByPropertyObjectTrumpMergePolicy, "ours"), (NSMergeByPropertyStoreTrumpMergePolicy, "theirs"), (NSOverwriteMergePolicy, "ours"),
            (NSRollbackMergePolicy, "theirs")]
        {
            let container = PersistenceController(inMemory: true).container
            let ours = container.newBackgroundContext(), theirs = container.newBackgroundContext()
            let id = try ours.performAndWait {
                let quake = Quake(context: ours)
                quake.code = "x"
                try ours.save()
                return quake.objectID
            }
            try theirs.performAndWait {
                let quake = try #require(theirs.object(with: id) as? Quake)
                quake.place = "theirs"
                try theirs.save()
            }
            try ours.performAndWait {
                let quake = try #require(ours.object(with: id) as? Quake)
                quake.place = "ours"
                ours.mergePolicy = NSErrorMergePolicy
                do {
                    try ours.save()
                    Issue.record("saved")
                } catch let error as CocoaError where error.code == .managedObjectMerge {
                    #expect(error.persistentStoreSaveConflicts?.first?.sourceObject === quake)
                }
                ours.mergePolicy = policy
                try ours.save()
                #expect(quake.place == expected)
            }
        }
    }

    @Test func anAsynchronousFetchGivesItsResult() async throws {
        let context = container.viewContext
        await context.perform { for number in 0..<50 { Quake(context: context).code = "\(number)" } }
        try await context.perform { try context.save() }
        let count = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Quake>(entityName: "Quake")) { result in
                continuation.resume(returning: result.finalResult?.count ?? -1)
            }
            context.perform { _ = try? context.execute(request) as? NSAsynchronousFetchResult<Quake> }
        }
        #expect(count == 50)
    }
}
