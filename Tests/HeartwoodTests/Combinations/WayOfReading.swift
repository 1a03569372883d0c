import Foundation
import Testing

@testable import Heartwood

/// A way of reading the stored values. Each way reads every object.
enum WayOfReading: CaseIterable {
    /// In the writing context, with its objects after the save, and again after a refresh.
    case writer, refreshedWriter
    /// In a context that has read nothing: faults that fire, objects that the fetch reads, the same in batches, objects that were read and
    /// refreshed, committed values, and a fetch of a few properties.
    case faults, whole, batched, refreshed, committed, chosen
    /// As dictionaries: all columns of a row in one request, and each column in one of its own.
    case dictionaries, chosenDictionaries
    /// The number of objects with a value, through an index and a scan; and all objects in the order of a column.
    case counts, order

    /// All of them, or two fixed ones and some of the others in turn.
    static func ways(all: Bool, turn: Int) -> [WayOfReading] {
        if all || CombinedSample.isLong { return allCases }
        let others = allCases.filter { $0 != .faults && $0 != .dictionaries }
        return [.faults, .dictionaries, others[turn % others.count], others[(turn + 4) % others.count]]
    }

    func read(_ store: CombinedStore, _ location: String, into found: inout Differences) throws {
        let stack = store.stack, context = stack.anew(), all = store.plains()
        switch self {
        case .writer:
            if let writer = store.writer { try compare(store, location, all, try store.objects(in: writer), into: &found) }
        case .refreshedWriter:
            stack.context.refreshAllObjects()
            try compare(store, location, all, try store.objects(in: stack.context), into: &found)
        case .faults: try compare(store, location, all, try store.objects(in: context), into: &found)
        case .refreshed:
            let objects = try store.objects(in: context)
            context.refreshAllObjects()
            try compare(store, location, all, objects, into: &found)
        case .whole, .batched, .chosen:
            let objects = try store.sample.entities.flatMap { entity in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                if self != .chosen { request.returnsObjectsAsFaults = false }
                if self == .batched { request.fetchBatchSize = 7 }
                if self == .chosen { request.propertiesToFetch = ["key"] + store.sample.columns.suffix(3).map(\.name) }
                return try context.fetch(request).map { (entity: entity, number: try CombinedStore.number($0.value(forKey: "key")), object: $0) }
            }
            try compare(store, location, all, objects, into: &found)
        case .committed:
            for (entity, number, object) in try store.objects(in: context) {
                let values = object.committedValues(forKeys: nil)
                store.compare(entity, number, location, with: all, into: &found) { name in
                    (values[name] as? NSManagedObjectID).map { context.object(with: $0) } ?? values[name]
                }
            }
        case .dictionaries, .chosenDictionaries: try readDictionaries(store, location, all, context, into: &found)
        case .counts: try count(store, location, all, context, into: &found)
        case .order: try order(store, location, all, context, into: &found)
        }
    }

    private func compare(
        _ store: CombinedStore, _ location: String, _ all: [[String]], _ objects: [(entity: String, number: Int, object: NSManagedObject)],
        into found: inout Differences
    ) throws {
        found.expect("\(all.count * store.sample.entities.count)", "\(objects.count)") { "\(location): objects" }
        for (entity, number, object) in objects {
            store.compare(entity, number, location, with: all, into: &found) { object.value(forKey: $0) }
        }
    }

    private func readDictionaries(
        _ store: CombinedStore, _ location: String, _ all: [[String]], _ context: NSManagedObjectContext, into found: inout Differences
    ) throws {
        for entity in store.sample.entities {
            for chosen in self == .dictionaries ? [Array(store.sample.columns.indices)] : store.sample.columns.indices.map({ [$0] }) {
                let request = TestStack.dictionaries(entity, ["key"] + chosen.flatMap { Self.paths(store.sample.columns[$0]) })
                for row in try context.fetch(request) {
                    let number = try CombinedStore.number(row["key"])
                    for index in chosen {
                        let column = store.sample.columns[index]
                        found.expect(all[number][index], column.kind.plain(Self.value(of: column, in: row))) {
                            "\(location): \(entity) \(number).\(column.name) (\(store.describe(number)))"
                        }
                    }
                }
            }
        }
    }

    /// A reference is read as its target's label, and a composite as its elements.
    private static func paths(_ column: CombinedSample.Column) -> [String] {
        switch column.kind {
        case .reference: [column.name + ".label"]
        case .composite: [column.name + ".city", column.name + ".x"]
        default: [column.name]
        }
    }

    private static func value(of column: CombinedSample.Column, in row: NSDictionary) -> Any? {
        guard column.kind == .composite else { return row[paths(column)[0]] }
        let elements = Dictionary(uniqueKeysWithValues: ["city", "x"].compactMap { name in row["\(column.name).\(name)"].map { (name, $0) } })
        return elements.isEmpty ? nil : elements
    }

    private func count(
        _ store: CombinedStore, _ location: String, _ all: [[String]], _ context: NSManagedObjectContext, into found: inout Differences
    ) throws {
        for (index, column) in store.sample.columns.enumerated() where column.kind.isComparable && store.sources[index] == nil {
            var values: [String: Any] = [:]
            for state in store.sample.states(of: index) {
                // Unique values differ by their numbers.
                for number in column.kind == .code ? Array(stride(from: 0, to: all.count, by: 7)) : [0] {
                    let value = column.value(state, number)
                    values[column.kind.plain(value)] = value ?? NSNull()
                }
            }
            for (plain, value) in values {
                let wanted = all.count { $0[index] == plain }
                var predicates = [NSPredicate(format: "%K == %@", argumentArray: [column.name, value])]
                if column.kind == .string, let text = value as? String, !text.isEmpty, text.count < 1000 {
                    let arguments = [column.name, text, column.name, text]
                    predicates.append(NSPredicate(format: "%K BEGINSWITH %@ AND %K ENDSWITH %@", argumentArray: arguments))
                }
                for entity in store.sample.entities {
                    for predicate in predicates {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = predicate
                        found.expect("\(wanted)", "\(try context.count(for: request))") {
                            "\(location): how many of \(entity) have \(predicate.predicateFormat.prefix(60))"
                        }
                    }
                }
            }
        }
    }

    private func order(
        _ store: CombinedStore, _ location: String, _ all: [[String]], _ context: NSManagedObjectContext, into found: inout Differences
    ) throws {
        for (index, column) in store.sample.columns.enumerated() where column.kind.isOrdered {
            for entity in store.sample.entities {
                let objects = try store.stack.fetch(entity, sort: [NSSortDescriptor(key: column.name, ascending: true)], in: context)
                let values = objects.map { $0.value(forKey: column.name) }
                found.expect(all.map { $0[index] }.sorted().joined(), values.map(column.kind.plain).sorted().joined()) {
                    "\(location): \(entity) by \(column.name), all values"
                }
                for (before, after) in zip(values, values.dropFirst()) where !Self.isInOrder(before, after) {
                    found.add("\(location): \(entity) by \(column.name): \(column.kind.plain(before)) before \(column.kind.plain(after))")
                }
            }
        }
    }

    private static func isInOrder(_ before: Any?, _ after: Any?) -> Bool {
        switch (before, after) {
        case (nil, _): true
        case (_, nil): false
        case let (a as String, b as String): a == b || !b.unicodeScalars.lexicographicallyPrecedes(a.unicodeScalars)
        case let (a as Date, b as Date): a <= b
        case let (a as NSDecimalNumber, b as NSDecimalNumber): a.decimalValue <= b.decimalValue
        case let (a as NSNumber, b as NSNumber): a.doubleValue <= b.doubleValue
        default: false
        }
    }
}
