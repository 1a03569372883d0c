import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The past of stores that were migrated since, got indexes or a history since, or can only be read.
@Suite struct PastVersionTests {
    private static let before: Sketch = "Person: name:string age:int32"
    private static let after: Sketch = "Person: title:string~name age:int64 email:string=none"

    /// A store with Ada of the first version, whose second commit is of the second version.
    private func migrated() throws -> (chain: Chain, commit: UInt64) {
        let chain = try Chain()
        var commit: UInt64 = 0
        try chain.with(Self.before.model) { context in
            context.make("Person", ["name": "Ada", "age": 36])
            try context.save()
            commit = context.store?.commitNumber ?? 0
        }
        try chain.with(Self.after.model) { context in
            let ada = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
            ada.setValue("Ada Lovelace", forKey: "title")
        }
        return (chain, commit)
    }

    @Test
    func `Before a migration a store has the model and the metadata of then`() throws {
        let (chain, commit) = try migrated()
        let options: [String: Any] = [NSRecordLogAsOfOption: commit]
        let names = try chain.with(Self.before.model, options: options) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String }
        }
        #expect(names == ["Ada"])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .recordLog, at: chain.url, options: options)
        #expect(Self.before.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!Self.after.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let present = try chain.metadata()
        #expect(Self.after.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: present), "the present is the new version")
    }

    @Test(arguments: [false, true])
    func `Another model is the usual error, with the hashes of then, and no option migrates the past`(migrates: Bool) throws {
        let (chain, commit) = try migrated()
        let before = try Data(contentsOf: chain.url)
        var options: [String: Any] = migrates ? Chain.automatic : [:]
        options[NSRecordLogAsOfOption] = commit
        let error = try #require(failure { try chain.with(Self.after.model, options: options) { _ in } })
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        let metadata = try #require(error.userInfo["metadata"] as? [String: Any])
        #expect(Self.before.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(error.localizedDescription.contains("past"))
        #expect(try Data(contentsOf: chain.url) == before && chain.scratch.names == ["store"])
    }

    @Test
    func `An index that was made later is missing in the past, and fetches scan`() throws {
        func model(isIndexed: Bool) -> NSManagedObjectModel {
            let model = Self.before.model, person = model.entitiesByName["Person"]
            if isIndexed, let person, let name = person.attributesByName["name"] { person.indexes = [TestStack.index("byName", [name])] }
            return model
        }
        let chain = try Chain()
        var commit: UInt64 = 0
        try chain.with(model(isIndexed: false)) { context in
            for number in 0..<50 { context.make("Person", ["name": "p\(number)"]) }
            try context.save()
            commit = context.store?.commitNumber ?? 0
        }
        try chain.with(model(isIndexed: true)) { context in
            (context.store as? RecordLogStore)?.indexing.wait()
            context.make("Person", ["name": "late"])
        }
        let past = try chain.with(model(isIndexed: true), options: [NSRecordLogAsOfOption: commit]) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: "name == 'p7'")
            return (try context.fetch(request).count, try context.explain(request).lines.joined())
        }
        #expect(past.0 == 1 && !past.1.contains("byName"), "\(past.1)")
    }

    @Test
    func `The history has the transactions up to the commit, and its tokens`() throws {
        let store = try PastStore(options: [NSPersistentHistoryTrackingKey: true])
        var commits: [UInt64] = []
        for name in ["Ada", "Ben", "Cy"] {
            store.stack.insert("Person", ["name": name])
            commits.append(try store.save())
        }
        for (index, commit) in commits.enumerated() {
            let context = try store.open(commit, TestStack.model(), [NSPersistentHistoryTrackingKey: true])
            let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let found = (try context.execute(all) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(found?.map(\.transactionNumber) == (1...Int64(index + 1)).map(\.self), "commit \(commit)")
            let token = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
            let later = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let behind = (try store.stack.context.execute(later) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            #expect(behind?.count == commits.count - index - 1, "what has happened since then")
            #expect(failure { try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token)) } != nil)
        }
    }

    @Test
    func `A file that can only be read, in a folder that can only be read, shows its past`() throws {
        let (chain, commit) = try migrated()
        let folder = chain.url.deletingLastPathComponent().path
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: chain.url.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
        let count = try chain.with(Self.before.model, options: [NSRecordLogAsOfOption: commit]) { context in
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
        }
        #expect(count == 1 && chain.scratch.names == ["store"])
    }

    @Test
    func `A commit before the store had a model is an error that says so`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID()).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        let log = try LogStore.open(path: url.path)
        try log.write { try $0.setSystemValue(1000, [1]) }
        let commit = log.snapshot().sequence
        try log.close()
        let stack = try TestStack(.recordLog, at: url)
        stack.insert("Person", ["name": "Ada"])
        try stack.context.save()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let error = try #require(failure {
            try coordinator.addPersistentStore(type: .recordLog, at: url, options: [NSRecordLogAsOfOption: commit])
        })
        #expect(error.code == NSPersistentStoreOpenError && error.localizedDescription.contains("no model as of its commit \(commit)"))
    }
}
