import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import Heartwood

/// An incremental store that is asked for several objects at once, and from several threads.
@Suite struct IncrementalGroupsTests {
    /// Counts the calls for single objects and for several.
    class Counting: DictionaryStore, @unchecked Sendable {
        var singles = 0
        var groups: [Int] = []
        var relationships: [Int] = []
        var asked: [Int] = []

        override var type: String { "Counting" }

        override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
            singles += 1
            return try super.newValuesForObject(with: objectID, with: context)
        }

        override func newValuesForObjects(
            with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
        ) throws -> [NSIncrementalStoreNode] {
            groups.append(objectIDs.count)
            // In another order, as a service may answer.
            return try objectIDs.reversed().map { try super.newValuesForObject(with: $0, with: context) }
        }

        override func newValues(
            forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext?
        ) throws -> [Any] {
            relationships.append(objectIDs.count)
            return try objectIDs.map { try super.newValue(forRelationship: relationship, forObjectWith: $0, with: context) }
        }

        func forget() { (singles, groups, relationships, asked) = (0, [], [], []) }
    }

    /// Tells versions too.
    final class Versioned: Counting, @unchecked Sendable {
        override var type: String { "Versioned" }

        override func versions(
            ofObjectsWith objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
        ) throws -> [NSManagedObjectID: UInt64]? {
            asked.append(objectIDs.count)
            return Dictionary(uniqueKeysWithValues: objectIDs.compactMap { id in version(of: id).map { (id, $0) } })
        }
    }

    private func coordinator(_ storeClass: NSIncrementalStore.Type, _ type: String) throws -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: URL(string: "memory:")!)
        return coordinator
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator, _ count: Int) throws {
        let context = coordinator.newContext()
        for number in 0..<count {
            func insert(_ entity: String, _ key: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue("\(number)", forKey: key)
                return object
            }
            let person = insert("Person", "name")
            person.setValue(insert("Group", "title"), forKey: "group")
            person.setValue(NSSet(array: [insert("Tag", "label"), insert("Tag", "label")]), forKey: "tags")
        }
        try context.save()
    }

    private func people(_ context: NSManagedObjectContext, prefetching paths: [String] = [], asFaults: Bool = true) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.relationshipKeyPathsForPrefetching = paths
        request.returnsObjectsAsFaults = asFaults
        return try context.fetch(request)
    }

    @Test
    func `Prefetching asks for the objects of each step at once`() throws {
        let coordinator = try coordinator(Counting.self, "Counting"), store = try #require(coordinator.persistentStores[0] as? Counting)
        try fill(coordinator, 20)
        store.forget()
        let context = coordinator.newContext(), found = try people(context, prefetching: ["group", "tags"], asFaults: false)
        #expect(found.count == 20 && store.singles == 0 && store.groups == [20, 20, 40] && store.relationships == [20])
        let labels = found.flatMap { ($0.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "label") as? String } }
        #expect(labels.sorted() == (0..<20).flatMap { ["\($0)", "\($0)"] }.sorted())
        #expect(found.allSatisfy { ($0.value(forKey: "group") as? NSManagedObject)?.value(forKey: "title") as? String == $0.value(forKey: "name") as? String })
        #expect(store.singles == 0 && store.groups.count == 3 && store.relationships.count == 1)
    }

    @Test(arguments: [false, true])
    func `A save asks for its objects at once, or for their versions alone`(tellsVersions: Bool) throws {
        let coordinator = try tellsVersions ? coordinator(Versioned.self, "Versioned") : coordinator(Counting.self, "Counting")
        let store = try #require(coordinator.persistentStores[0] as? Counting)
        try fill(coordinator, 20)
        let context = coordinator.newContext(), found = try people(context, asFaults: false)
        for round in 1...3 {
            store.forget()
            for person in found { person.setValue("n\(round)", forKey: "name") }
            try context.save()
            #expect(store.singles == 0)
            #expect(store.asked == (tellsVersions ? [20] : []))
            // A row that this context has saved has a version that only the store can confirm.
            #expect(store.groups == (tellsVersions && round == 1 ? [] : [20]), "\(round)")
        }
        // Another context has changed one of them.
        let other = coordinator.newContext(), late = coordinator.newContext(), stale = try people(late, asFaults: false)
        let changed = try people(other)[3]
        changed.setValue("other", forKey: "name")
        try other.save()
        for person in stale { person.setValue("late", forKey: "name") }
        store.forget()
        let error = #expect(throws: NSError.self) { try late.save() }
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        #expect(code(error) == NSManagedObjectMergeError && conflicts?.map(\.sourceObject.objectID) == [changed.objectID])
        if tellsVersions { #expect(store.groups == [1]) }
        late.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try late.save()
        let reader = coordinator.newContext()
        #expect(try people(reader).allSatisfy { $0.value(forKey: "name") as? String == "late" })
        // An object that is gone.
        let first = try people(context)[0], id = first.objectID, remover = coordinator.newContext()
        first.setValue("gone", forKey: "name")
        remover.delete(remover.object(with: id))
        try remover.save()
        let last = #expect(throws: NSError.self) { try context.save() }
        #expect(code(last) == NSManagedObjectReferentialIntegrityError)
    }

    /// Meets another call inside `execute`, or waits in vain.
    class Meeting: DictionaryStore, @unchecked Sendable {
        private struct Count { var inside = 0, most = 0 }
        private let state = Watched(Count())
        let isOpen = Mutex(false)
        var most: Int { state.withLock { $0.most } }

        override var type: String { "Meeting" }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            guard isOpen.withLock({ $0 }), request is NSFetchRequest<any NSFetchRequestResult> else { return try super.execute(request, with: context) }
            state.withLock { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
            }
            defer { state.withLock { $0.inside -= 1 } }
            _ = state.wait(seconds: supportsConcurrentReads ? 10 : 0.1) { $0.most > 1 }
            return try super.execute(request, with: context)
        }
    }

    final class ConcurrentMeeting: Meeting, @unchecked Sendable {
        override var type: String { "ConcurrentMeeting" }
        override var supportsConcurrentReads: Bool { true }
    }

    @Test(arguments: [false, true])
    func `Reads come at the same time where the store says so, and one after the other elsewhere`(isConcurrent: Bool) async throws {
        let coordinator = try isConcurrent
            ? coordinator(ConcurrentMeeting.self, "ConcurrentMeeting") : coordinator(Meeting.self, "Meeting")
        try fill(coordinator, 3)
        let store = try #require(coordinator.persistentStores[0] as? Meeting)
        store.isOpen.withLock { $0 = true }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    return try await context.perform { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).count }
                }
            }
            for try await count in group { #expect(count == 3) }
        }
        #expect(store.most == (isConcurrent ? 2 : 1))
    }
}
