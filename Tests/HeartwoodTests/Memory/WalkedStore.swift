import Foundation
import RecordLog

@_spi(GeneratedCode) @testable import Heartwood

/// A store of numbered items to iterate over.
enum WalkedStore {
    /// The number of items that one fetch requests.
    static let batch = 10_000

    static func model() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        let number = TestStack.attribute("number", .integer64AttributeType), title = TestStack.attribute("title", .stringAttributeType)
        let mood = TestStack.attribute("mood", .integer16AttributeType)
        mood.isTransient = true
        item.properties = [number, title, mood]
        item.indexes = [TestStack.index("byNumber", [number])]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    /// Inserts items numbered from 0 in that order, through the engine, which takes a tenth of the time of objects.
    static func fill(_ stack: TestStack, count: Int) throws {
        let log = stack.store.log!, table = log.snapshot().catalog.tables.first { $0.name == "Item" }!
        let row = RowBuilder()
        for start in stride(from: 0, to: count, by: 10 * batch) {
            try log.write { transaction in
                for number in start..<min(start + 10 * batch, count) {
                    row.begin(table.currentLayout)
                    row.set(0, int64: Int64(number))
                    row.set(1, text: "item \(number % 1000)")
                    try transaction.put(RowReference(table: table.id, row: try transaction.newRow(in: table.id)), body: row.unsafeBody())
                }
            }
        }
    }

    /// The ways to iterate over a store of any size. Each gives one batch after the other.
    enum Way: String, CaseIterable {
        /// `fetchLimit` and `fetchOffset`.
        case offset
        /// Ranges of an indexed attribute.
        case range
        /// One object after another, by ID.
        case id

        /// Calls `body` with every item's number, and `look` after each batch.
        func walk(_ context: NSManagedObjectContext, count: Int, look: () -> Void, _ body: (Int64) -> Void) throws {
            let entity = context.persistentStoreCoordinator!.managedObjectModel.entities[0]
            let store = context.persistentStoreCoordinator!.persistentStores[0]
            for start in stride(from: 0, to: count, by: WalkedStore.batch) {
                let request = NSFetchRequest<NSManagedObject>()
                request.entity = entity
                request.fetchLimit = WalkedStore.batch
                switch self {
                case .offset: request.fetchOffset = start
                case .range: request.predicate = NSPredicate(format: "number >= %ld AND number < %ld", start, start + WalkedStore.batch)
                case .id:
                    for number in start..<min(start + WalkedStore.batch, count) {
                        let key = ObjectKey(slot: context.runtime(for: entity).slot, row: UInt64(number + 1))
                        let id = NSManagedObjectID(entity: entity, key: key, store: store, contextToken: 0)
                        body(context.object(with: id).managedInteger(at: 0) ?? -1)
                    }
                    look()
                    continue
                }
                for item in try context.fetch(request) { body(item.managedInteger(at: 0) ?? -1) }
                look()
            }
        }
    }
}
