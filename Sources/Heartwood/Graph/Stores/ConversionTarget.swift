import Foundation
import RecordLog

/// The new record log of a conversion.
package final class ConversionTarget {
    package let schema: RecordLogSchema
    /// Added to a row's reference it gives the object's key.
    package var slotBase: UInt64 { store.slotBase }
    private let store: RecordLogStore
    private let coordinator: NSPersistentStoreCoordinator
    private let log: LogStore

    /// A commit ends after so many bytes or rows, so that memory does not grow with the store: the addresses of its rows stay in memory, 8 bytes
    /// each. The fewer commits, the fewer checkpoints write the indexes.
    private static let bytesMax = 256 << 20, rowsMax = 1 << 18
    /// Memory for the index entries of one commit. The indexes of the entities in one table share it.
    private static let indexMemory = 3 << 20

    /// - Parameter file: `begin` has made it.
    package init(_ file: URL, _ model: NSManagedObjectModel, configuration: String?) throws {
        coordinator = NSPersistentStoreCoordinator(unlisted: model)
        let options: [AnyHashable: Any] = [
            NSRecordLogDurabilityOption: RecordLogDurability.relaxed.rawValue, NSRecordLogAutomaticCompactionOption: false,
            NSRecordLogIndexMemoryOption: max(1 << 20, Self.indexMemory / max(1, Self.indexCount(model))),
        ]
        let made = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: configuration, at: file, options: options)
        guard let store = made.ownLog else {
            throw CoreDataError.unsupported(
                "\(file.path): the program has registered a class of its own for record logs, so no store becomes one. Remove the registration.")
        }
        self.store = store
        let loaded = try store.loaded()
        schema = loaded.schema
        log = loaded.log
    }

    /// The greatest number of indexes over the entities of one table.
    private static func indexCount(_ model: NSManagedObjectModel) -> Int {
        model.entities.filter { $0.superentity == nil }.map { root in
            root.concreteFamily.reduce(0) { $0 + IndexPlan.all(of: $1).count }
        }.max() ?? 0
    }

    /// Makes the file of a new record log with the tables of a model.
    /// - Parameters:
    ///   - metadata: with the store's identifier.
    ///   - numbers: the next new row of each entity's table, and that of the history's; a history is begun for one.
    package static func begin(
        _ file: URL, _ model: NSManagedObjectModel, configuration: String?, metadata: [String: Any], _ numbers: ConversionNumbers
    ) throws {
        let random = StoredUUID(words: (.random(in: 1...UInt64.max), .random(in: 1...UInt64.max)))
        let identity = (metadata[NSStoreUUIDKey] as? String).flatMap(StoredUUID.init) ?? random
        var options = StoredModel.options
        options.durability = .relaxed
        try LogStore.create(path: file.path, as: identity, options: options) { transaction in
            let entities = model.entities(forConfigurationName: configuration) ?? model.entities
            try RecordLogSchemaWriter(transaction: transaction, entities: entities).write()
            var metadata = metadata
            RecordLogMetadata.setVersion(of: model, configuration: configuration, in: &metadata)
            try RecordLogMetadata.write(metadata, model, configuration: configuration, in: transaction)
            var next: [(table: TableID, row: UInt64)] = []
            for (entity, row) in numbers.entities {
                if row > 1, let table = transaction.catalog.table(named: entity) { next.append((table.id, row)) }
            }
            if let row = numbers.history { next.append((try HistoryTable.define(in: transaction).id, max(1, row))) }
            return next.sorted { $0.table.rawValue < $1.table.rawValue }
        }
    }

    // MARK: Writing

    /// Commits what `put` writes, piece by piece.
    /// - Parameter put: writes one row to the transaction, and returns its size; nil at the end.
    package func writeAll(_ put: (Transaction) throws -> Int?) throws {
        var isAtEnd = false
        while !isAtEnd {
            try write { transaction in
                var bytes = 0, rows = 0
                while bytes < Self.bytesMax, rows < Self.rowsMax {
                    guard let size = try put(transaction) else {
                        isAtEnd = true
                        return
                    }
                    bytes += size
                    rows += 1
                }
            }
            // The commit, and a checkpoint beside it, have released memory that the allocator keeps.
            AllocatorMemory.giveBack()
        }
    }

    /// Writes in one commit, if anything is written.
    package func write(_ body: (Transaction) throws -> Void) throws { try log.write { try body($0) } }

    // MARK: The end

    /// The newest commit.
    package func view() throws -> RecordLogView {
        try store.newestLogView()
    }

    /// Writes the catalog again, so that no one damaged frame takes it, then the indexes, and closes the file.
    package func close() throws {
        try write { try $0.repeatCatalog() }
        try log.checkpoint()
        try coordinator.remove(store)
    }

    /// Closes the file of a conversion that failed.
    package func abandon() { try? coordinator.remove(store) }
}

/// The row numbers that a new record log counts as given out, so that no new object gets the key of an old one.
package struct ConversionNumbers {
    /// The next new row, by entity name.
    package var entities: [String: UInt64] = [:]
    /// The next transaction of the history; nil if none is kept.
    package var history: UInt64?

    package init() {}

    /// Whether a file can state them. Spec: FORMAT.md, "System table", row 2.
    package var areFew: Bool {
        var left: UInt64 = 1 << 33
        for row in entities.values + [history ?? 0] {
            guard row <= left else { return false }
            left -= row
        }
        return true
    }

    package mutating func note(_ key: Int64, of entity: String) {
        entities[entity] = max(entities[entity] ?? 1, UInt64(clamping: key) + 1)
    }
}
