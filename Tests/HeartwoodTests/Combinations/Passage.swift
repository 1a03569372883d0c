import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// An operation on a store between writing and reading, which must keep its objects.
enum Passage: String, CaseIterable, CustomTestStringConvertible {
    case reopened, compacted, salvaged
    /// Written as a binary archive and again as a record log.
    case throughArchive
    /// Migrated to a model with other columns: in the file itself, by objects into a new one, and by objects of an archive.
    case migratedInPlace, migratedByObjects, migratedArchive

    var testDescription: String { rawValue }

    var kind: StoreKind { self == .migratedArchive ? .binary : .recordLog }

    /// The resulting store, with its expected objects.
    func pass(_ store: CombinedStore) throws -> CombinedStore {
        let stack = store.stack, url = Self.newURL()
        switch self {
        case .reopened:
            try store.copy(to: url)
            return try CombinedStore(store.kind, store.sample, at: url, like: store)
        case .compacted:
            try stack.persistentStore.compactRecordLog()
            store.writer = nil
            return store
        case .salvaged:
            try store.close()
            let report = try StoreSalvage.salvage(path: stack.url.path, to: url.path, options: StoredModel.options)
            #expect(report.tables.allSatisfy { $0.lost == 0 && $0.older == 0 && $0.malformed == 0 && $0.valuesLost == 0 })
            return try CombinedStore(store.kind, store.sample, at: url, like: store)
        case .throughArchive:
            let archive = Self.newURL()
            defer { try? FileManager.default.removeItem(at: archive) }
            let middle = try stack.coordinator.migratePersistentStore(stack.persistentStore, to: archive, withType: NSBinaryStoreType)
            let last = try stack.coordinator.migratePersistentStore(middle, to: url, withType: NSRecordLogStoreType)
            try stack.coordinator.remove(last)
            return try CombinedStore(store.kind, store.sample, at: url, like: store)
        case .migratedInPlace:
            try store.copy(to: url)
            let sample = store.sample.migrated(), model = sample.model()
            let comparison = try ModelComparison(from: StoredModel.read(at: url), to: model)
            let options = [NSRecordLogDurabilityOption: "none"]
            #expect(try RecordLogStore.migrateInPlace(at: url, options: options, configuration: nil, to: model, comparison, .isTold))
            return try CombinedStore(store.kind, sample, at: url, like: store)
        case .migratedByObjects:
            try store.close()
            let sample = store.sample.migrated(), old = store.sample.model(), new = sample.model()
            let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
            manager.usesStoreSpecificMigrationManager = false
            try manager.migrateStore(
                from: stack.url, sourceType: NSRecordLogStoreType, with: .inferredMappingModel(forSourceModel: old, destinationModel: new),
                toDestinationURL: url, destinationType: NSRecordLogStoreType)
            return try CombinedStore(store.kind, sample, at: url, like: store)
        case .migratedArchive:
            try store.copy(to: url)
            return try CombinedStore(store.kind, store.sample.migrated(), at: url, like: store, options: Chain.automatic)
        }
    }

    private static func newURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
    }
}

extension CombinedStore {
    fileprivate func close() throws {
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    }

    /// Closes the store and copies its file, which is deleted with the stack.
    fileprivate func copy(to url: URL) throws {
        try close()
        try FileManager.default.copyItem(at: stack.url, to: url)
    }
}

extension CombinedSample {
    /// A version of the model in which every second column is renamed, one is removed and two are added.
    fileprivate func migrated() -> CombinedSample {
        let kept = columns.indices.filter { $0 != 3 }
        var next = self
        next.columns = kept.map { index in
            let column = columns[index]
            guard index % 2 == 0 else { return column }
            return Column("x_\(column.name)", column.kind, isOptional: column.isOptional, default: column.defaultValue, origin: column.name)
        }
        next.columns.insert(Column("added", .string, default: "new"), at: 1)
        next.columns.append(Column("addedToo", .double))
        next.cases = cases.enumerated().map { turn, item in
            var before = kept.map { item.before[$0] }, changes = kept.map { item.changes[$0] }
            before.insert(.initial, at: 1)
            before.append(.initial)
            changes.insert([nil, .absent, .other][turn % 3], at: 1)
            changes.append([nil, .other][turn % 2])
            return CombinedCase(before: before, changes: changes)
        }
        return next
    }
}
