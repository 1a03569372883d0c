import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// Conversions of stores with many rows.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct LargeConversionTests {
    private static let rows = 200_000

    /// Calls `body` with a store of many persons in few teams. Each tenth person has a key that leaves a gap.
    private static func withStore(_ body: (CoreDataStoreFile) throws -> Void) throws {
        try CoreDataStoreFiles.withMadeStore("one-to-many") { made in
            try CoreDataStoreFiles.execute(
                """
                DELETE FROM ZPERSON;
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(rows))
                INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZTEAM, ZNAME) SELECT n + n / 10, 1, 1, 1 + n % 3, 'person ' || n FROM numbers;
                UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows * 2) WHERE Z_ENT = 1;
                """, at: made.store)
            try body(made)
        }
    }

    @Test
    func `Many rows come along in several commits, also where keys leave gaps`() throws {
        try Self.withStore { made in
            let new = made.folder.appendingPathComponent("New.heartwood")
            let report = try SQLiteConversion(made.store, model: nil, keepsHistory: false).run(to: new)
            #expect(report.objects == Self.rows + 3 && report.dangling.count == 0)
            let (context, store) = try Self.open(new)
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "team.name == %@", "one")
                #expect(try context.count(for: request) == (1...Self.rows).filter { 1 + $0 % 3 == 2 }.count)
                let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                try context.obtainPermanentIDs(for: [object])
                #expect(object.objectID.key.row == UInt64(Self.rows * 2 + 1))
            }
            try context.persistentStoreCoordinator?.remove(store)
        }
    }

    private static func open(_ new: URL) throws -> (NSManagedObjectContext, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try StoredModel.read(at: new))
        let store = try coordinator.addPersistentStore(type: .recordLog, at: new)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    @Test
    func `A commit of the owner that comes before the exchange keeps the old store in place`() throws {
        try Self.withStore { made in
            let model = try CoreDataStoreModel.find(storeAt: made.store.path).model
            let conversion = SQLiteConversion(made.store, for: model, configuration: nil, keepsHistory: false)
            let exchange = SQLiteExchange(conversion: conversion) { step in
                guard step == .written else { return }
                try CoreDataStoreFiles.execute("DELETE FROM ZPERSON WHERE Z_PK = 1", at: made.store)
            }
            let error = #expect(throws: NSError.self) { try exchange.run() }
            #expect(error?.code == NSPersistentStoreTimeoutError, "\(String(describing: error))")
            #expect(CoreDataFile.isClearDatabase(made.store))
            let report = try SQLiteExchange(conversion: conversion).run()
            #expect(report.objects == Self.rows + 2 && !CoreDataFile.isClearDatabase(made.store))
        }
    }
}
