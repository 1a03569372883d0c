import Foundation
import Synchronization
import Testing

@testable import Heartwood

/// A document that records its events, with short timers.
final class Manuscript: ManagedDocument, @unchecked Sendable {
    // Unchecked: like its superclass; its own state is under a lock.
    private let told = Mutex<[String]>([])
    // Copied under the lock: the sanitizer does not see how an array is handed over.
    var events: [String] { told.withLock { $0.map(\.self) } }
    /// A store that is added beside the document's own.
    nonisolated(unsafe) var besides: URL?

    convenience init(_ url: URL, main: Bool = false) {
        self.init(
            fileURL: url, managedObjectModel: TestStack.model(),
            concurrencyType: main ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
        autosaveDelay = .infinity
        fileCheckInterval = .infinity
        persistentStoreOptions = [NSRecordLogDurabilityOption: "none"]
    }

    private func note(_ event: String) { told.withLock { $0.append(event) } }

    override func handleError(_ error: any Error) { note("error \((error as NSError).code)") }
    override func fileDidMove(to url: URL) { note("moved to \(url.lastPathComponent)") }
    override func fileWasRemoved() { note("removed") }
    override func fileWasReplaced() { note("replaced") }

    override func configurePersistentStoreCoordinator(
        for url: URL, ofType fileType: String, modelConfiguration configuration: String?, storeOptions: [String: Any]?
    ) throws {
        try super.configurePersistentStoreCoordinator(
            for: url, ofType: fileType, modelConfiguration: configuration, storeOptions: storeOptions)
        if let besides {
            try container.persistentStoreCoordinator.addPersistentStore(type: .recordLog, at: besides)
        }
    }

    // MARK: For tests

    @discardableResult
    func add(_ name: String) async -> NSManagedObjectID {
        let context = managedObjectContext
        return await context.perform {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            return person.objectID
        }
    }

    /// The names in the document.
    var names: [String] {
        get async throws {
            let context = managedObjectContext
            return try await context.perform {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map { $0.value(forKey: "name") as? String ?? "-" }.sorted()
            }
        }
    }

    /// The names in a file.
    static func names(in url: URL) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        return try coordinator.newContext().fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
            .map { $0.value(forKey: "name") as? String ?? "-" }.sorted()
    }

    static func until(_ condition: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<4000 {
            if try await condition() { return }
            // Conditions are about the state, the events and the store together, which change on several threads.
            try await Task.sleep(for: .milliseconds(3))
        }
        Issue.record("it did not come to that in time", sourceLocation: sourceLocation)
    }

    /// The code of the thrown error.
    static func failure(_ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) async -> Int? {
        do {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
            return nil
        } catch {
            return code(error)
        }
    }
}
