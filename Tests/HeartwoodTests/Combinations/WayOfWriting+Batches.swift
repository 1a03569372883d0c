import Foundation
import Testing

@testable import Heartwood

/// Batch requests, which write rows without objects.
extension WayOfWriting {
    func insertBatch(_ store: CombinedStore) throws {
        let isOverRows = self == .batchUpsert || self == .batchUpsertOfChanges
        if isOverRows { try insertBefore(store) } else { store.expected = store.sample.cases.map(\.before) }
        if self == .batchPartial { store.expected = store.sample.cases.map { item in item.before.map { _ in .initial } } }
        store.expectChanges()
        if self == .batchObjectHandler {
            // The object has no context, so it cannot be given objects.
            for (index, column) in store.sample.columns.enumerated() where column.kind == .reference {
                for number in store.expected.indices { store.expected[number][index] = .initial }
            }
        }
        let context = store.stack.anew()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for entity in store.sample.entities {
            let rows = try store.sample.cases.indices.map { number in
                let isPartial = self == .batchUpsertOfChanges || self == .batchPartial
                let states: [ValueState?] = isPartial ? store.changes(number) : store.sample.cases[number].after
                return try store.dictionary(states, of: number).merging(["key": "\(number)"]) { $1 }
            }
            var next = 0
            let request: NSBatchInsertRequest
            switch self {
            case .batchDictionaryHandler:
                request = NSBatchInsertRequest(entityName: entity, dictionaryHandler: { row in
                    guard next < rows.count else { return true }
                    for (key, value) in rows[next] { row[key] = value }
                    next += 1
                    return false
                })
            case .batchObjectHandler:
                request = NSBatchInsertRequest(entityName: entity, managedObjectHandler: { object in
                    guard next < rows.count else { return true }
                    for (key, value) in rows[next] where !(value is NSManagedObjectID) {
                        object.setValue(value is NSNull ? nil : value, forKeyPath: key)
                    }
                    next += 1
                    return false
                })
            default: request = NSBatchInsertRequest(entityName: entity, objects: rows)
            }
            try context.execute(request)
        }
    }

    func updateBatches(_ store: CombinedStore) throws {
        for entity in store.sample.entities {
            for number in store.sample.cases.indices {
                let values = try store.dictionary(store.changes(number), of: number)
                guard !values.isEmpty else { continue }
                let request = NSBatchUpdateRequest(entityName: entity)
                request.predicate = NSPredicate(format: "key == %@", "\(number)")
                request.propertiesToUpdate = values
                try store.stack.anew().execute(request)
            }
        }
    }

    /// Each text takes the value of the next one, in one request.
    func moveByExpressions(_ store: CombinedStore) throws {
        let columns = store.sample.columns, texts = columns.indices.filter { columns[$0].kind == .string }
        for (index, text) in texts.enumerated() { store.sources[text] = texts[(index + 1) % texts.count] }
        let values = Dictionary(uniqueKeysWithValues: store.sources.map {
            (AnyHashable(columns[$0].name), NSExpression(forKeyPath: columns[$1].name) as Any)
        })
        for entity in store.sample.entities { _ = try store.stack.updateBatch(entity, nil, values) }
    }
}
