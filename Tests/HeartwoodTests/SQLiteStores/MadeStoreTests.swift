import Foundation
import Testing

@testable import Heartwood

/// Small stores with each feature of the layout, and stores whose bytes break its rules.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct MadeStoreTests {
    /// Stores whose models only their makers know: they have no cache.
    private static let withoutModel: Set = ["old-without-cache", "cache-empty", "old-constraints"]

    @Test
    func `A store of each feature has the objects that its maker put into it`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            var count = 0
            for store in stores where !store.name.hasPrefix("hostile-") && !Self.withoutModel.contains(store.name) {
                do {
                    _ = try ExpectedObjects(store).check()
                    count += 1
                } catch {
                    Issue.record("\(store): \(error)")
                }
            }
            #expect(count > 40)
        }
    }

    @Test
    func `A store whose bytes break a rule is refused with a typed error, or is read as far as it can be`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            for made in stores where made.name.hasPrefix("hostile-") {
                let refusal = try made.refusal()
                do {
                    let (context, store) = try ExpectedObjects(made).open()
                    try Self.readAll(context)
                    #expect(refusal == nil || Self.isReadAnyway.contains(made.name), "\(made) was read: \(refusal ?? "")")
                    try context.persistentStoreCoordinator?.remove(store)
                } catch let error as NSError {
                    #expect(error.domain == NSCocoaErrorDomain && !error.localizedDescription.isEmpty, "\(made): \(error)")
                    #expect(error.localizedDescription.contains(made.store.path), "\(made): \(error.localizedDescription)")
                }
            }
        }
    }

    /// Stores whose caches are damaged, so that their models are guessed from their tables; and text that is no UTF-8, which comes with
    /// replacement characters, as SQLite gives it.
    private static let isReadAnyway: Set = [
        "hostile-text",
        "hostile-cache-bomb", "hostile-cache-cut", "hostile-cache-other", "hostile-cache-plain", "hostile-cache-text",
    ]

    private static func readAll(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                for object in try context.fetch(request) {
                    for property in object.entity.properties {
                        let value = object.value(forKey: property.name)
                        for member in (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array ?? [] {
                            _ = (member as? NSManagedObject)?.isFault
                        }
                        // A getter cannot throw; the context remembers the error.
                        if let failure = context.readingFailure { throw failure }
                    }
                }
            }
        }
    }
}
