import CoreData
import Dispatch
import Foundation
import Synchronization
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Names of Apple's platforms that code on Core Data has, beside all modules that it may import.
struct AppleNamesTests {
    @Test
    func `A pool runs its body and hands on what it gives and throws`() throws {
        struct Fault: Error {}
        let number: Int = autoreleasepool { 3 }
        #expect(number == 3)
        #expect(try autoreleasepool { () throws -> Int in 4 } == 4)
        #expect(throws: Fault.self) { try autoreleasepool { throw Fault() } }
        autoreleasepool {}
    }

    @Test
    func `Units of time have their values`() {
        #expect(NSEC_PER_SEC == NSEC_PER_MSEC * 1000 && NSEC_PER_MSEC == NSEC_PER_USEC * 1000 && USEC_PER_SEC * NSEC_PER_USEC == NSEC_PER_SEC)
        #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < 60)
    }

    @Test
    func `Defaults have values by keys`() throws {
        let name = "heartwood-\(UUID().uuidString)", defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        #expect(defaults.value(forKey: "a") == nil)
        defaults.setValue("b", forKey: "a")
        #expect(defaults.value(forKey: "a") as? String == "b" && defaults.string(forKey: "a") == "b")
        defaults.setValue(nil, forKey: "a")
        #expect(defaults.object(forKey: "a") == nil)
    }

    @Test
    func `Standard directories are absolute`() {
        let all = [
            URL.applicationSupportDirectory, .cachesDirectory, .documentsDirectory, .libraryDirectory, .homeDirectory, .temporaryDirectory,
        ]
        #expect(all.allSatisfy { $0.isFileURL && $0.path.hasPrefix("/") && $0.hasDirectoryPath })
    }

    @MainActor @Test
    func `A save's notification comes in a loop, and the loop ends with its task`() async throws {
        let container = NSPersistentContainer(name: "Apps", managedObjectModel: PersistenceController.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
        var failure: Error?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        let context = container.viewContext
        let saves = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSave, object: context)
        var iterator = saves.makeAsyncIterator()
        for title in ["a", "b"] {
            let team = Office.Team(context: context)
            team.title = title
            try context.save()
        }
        // Both wait; none is lost.
        for title in ["a", "b"] {
            let inserted = await iterator.next()?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            #expect((inserted?.first as? Office.Team)?.title == title)
        }
        let task = Task { () -> Int in
            var count = 0
            for await _ in NotificationCenter.default.notifications(named: Notification.Name("never")) { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }
}
