import Foundation
import Testing

@testable import Heartwood

/// Small stores with each feature of the layout, and stores whose bytes break its rules.
@Suite(.enabled(if: MadeStores.areThere, MadeStores.absence)) struct MadeStoreTests {
    /// Stores whose models only their makers know: they have no cache.
    private static let withoutModel: Set = ["old-without-cache", "cache-empty", "old-constraints"]

    @Test("A store of each feature has the objects that its maker put into it") func storesHaveTheirObjects() throws {
        try MadeStores.withAll { folder in
            var count = 0
            for name in try MadeStores.names(in: folder) where !name.hasPrefix("hostile-") && !Self.withoutModel.contains(name) {
                let lines = try MadeStores.lines(name, in: folder)
                let file = folder.appendingPathComponent(try #require(lines[0]["store"] as? String))
                do {
                    _ = try ExpectedObjects(name: name, file: file, lines: lines).check()
                    count += 1
                } catch {
                    Issue.record("\(name): \(error)")
                }
            }
            #expect(count > 40)
        }
    }

    @Test("A store whose bytes break a rule is refused with a typed error, or is read as far as it can be")
    func hostileStoresAreTypedErrors() throws {
        try MadeStores.withAll { folder in
            for name in try MadeStores.names(in: folder) where name.hasPrefix("hostile-") {
                let lines = try MadeStores.lines(name, in: folder)
                let file = folder.appendingPathComponent(try #require(lines[0]["store"] as? String))
                let mayBeRead = lines[0]["refused"] == nil
                do {
                    let (context, store) = try ExpectedObjects(name: name, file: file, lines: lines).open()
                    try Self.readAll(context)
                    #expect(mayBeRead || Self.isReadAnyway.contains(name), "\(name) was read: \(lines[0]["refused"] ?? "")")
                    try context.persistentStoreCoordinator?.remove(store)
                } catch let error as NSError {
                    #expect(error.domain == NSCocoaErrorDomain && !error.localizedDescription.isEmpty, "\(name): \(error)")
                    #expect(error.localizedDescription.contains(file.path), "\(name): \(error.localizedDescription)")
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
