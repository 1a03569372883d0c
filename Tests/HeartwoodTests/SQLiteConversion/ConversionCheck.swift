import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// Converts a store and compares the record log with the objects that are expected of the store.
struct ConversionCheck {
    let expected: ExpectedObjects
    /// The model's file, for a store without a cache.
    var source: URL?

    /// Calls `body` with the new store, which is removed afterwards.
    /// - Returns: what the conversion reported.
    @discardableResult
    func run(
        keepsHistory: Bool = false, _ body: (NSManagedObjectContext, NSPersistentStore) throws -> Void = { _, _ in }
    ) throws -> ConversionReport {
        try CoreDataStoreFiles.withFolder { folder in
            let before = try expected.files(), new = folder.appendingPathComponent("New.heartwood")
            let given = try source.map { (model: try NSManagedObjectModel.load(contentsOf: $0), file: $0) }
            let conversion = SQLiteConversion(expected.file, model: given, keepsHistory: keepsHistory)
            let dry = try conversion.check()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "\(expected.name): a dry run writes nothing")
            var report = try conversion.run(to: new)
            #expect(try expected.files() == before, "\(expected.name): a conversion leaves the store as it was")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["New.heartwood"], "\(expected.name)")
            try verify(new, report)
            try open(new, body)
            (report.bytes, report.doubts) = (nil, dry.doubts)
            #expect(report == dry, "\(expected.name)")
            return report
        }
    }

    /// What `heartwood verify` finds is in the report: values that the old store has too.
    private func verify(_ new: URL, _ report: ConversionReport) throws {
        let verification = try StoreVerification.verify(path: new.path)
        #expect(verification.isSound, "\(expected.name): \(verification.problems.map(\.message))")
        var messages: [String] = []
        try StoreAudit.run(path: new.path) { messages.append($0.message) }
        #expect(messages.count == report.doubts.count, "\(expected.name): \(messages) \(report.doubts)")
    }

    private func open(_ new: URL, _ body: (NSManagedObjectContext, NSPersistentStore) throws -> Void) throws {
        let model = try StoredModel.read(at: new), configuration = try StoredModel.configuration(at: new)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .recordLog, configuration: configuration, at: new)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var expected = expected
        expected.isConverted = true
        try expected.check(store, context)
        try context.performAndWait { try body(context, store) }
        try coordinator.remove(store)
    }
}
