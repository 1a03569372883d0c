import Foundation
import Testing

@testable import Heartwood

/// A store with the objects of a sample, and the expected state of each.
final class CombinedStore {
    let sample: CombinedSample
    let kind: StoreKind
    let stack: TestStack
    /// The expected state of each case's object in each entity; only the test writes it.
    var expected: [[ValueState]]
    /// Columns that have taken another column's value.
    var sources: [Int: Int] = [:]
    /// Expected texts by case and column that belong to no state. A composite may take its elements from two contexts.
    var mixed: [[Int]: String] = [:]
    /// The last writing context, if its own objects must show the stored state.
    var writer: NSManagedObjectContext?

    /// A new store with only the targets.
    init(_ kind: StoreKind, _ sample: CombinedSample) throws {
        var sample = sample
        // Only stores whose rows are in a record log derive.
        if !StoreKind.planning.contains(kind) { sample.derivedFrom = nil }
        (self.kind, self.sample) = (kind, sample)
        stack = try TestStack(kind, model: sample.model())
        expected = []
        for label in ["0", "1"] { stack.insert("Target", ["label": label]) }
        try stack.context.save()
    }

    /// A store at `url` with the content of `other`.
    /// - Parameter sample: a sample with other columns; their values come from the columns of `other` with the same origin.
    init(_ kind: StoreKind, _ sample: CombinedSample, at url: URL, like other: CombinedStore, options: [String: Any] = [:]) throws {
        (self.kind, self.sample) = (kind, sample)
        stack = try TestStack(kind, model: sample.model(), at: url, options: options)
        let positions = sample.columns.map { column in other.sample.columns.firstIndex { $0.origin == column.origin } }
        expected = other.expected.map { states in positions.map { $0.map { states[$0] } ?? .initial } }
    }

    // MARK: Objects

    /// Inserts an object of each case into each entity; nil leaves the initial value.
    func insert(_ states: (CombinedCase) -> [ValueState?], into context: NSManagedObjectContext) throws {
        expected = sample.cases.map { states($0).map { $0 ?? .initial } }
        for (number, item) in sample.cases.enumerated() {
            for entity in sample.entities {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue("\(number)", forKey: "key")
                try set(states(item), of: number, in: object)
            }
        }
    }

    /// The objects of all cases in a context.
    func objects(in context: NSManagedObjectContext) throws -> [(entity: String, number: Int, object: NSManagedObject)] {
        try sample.entities.flatMap { entity in
            try stack.fetch(entity, in: context).map { (entity, try Self.number($0.value(forKey: "key")), $0) }
        }
    }

    static func number(_ key: Any?) throws -> Int { try #require(Int(key as? String ?? "")) }

    /// Makes the changes of each case to its objects; with `shift` the changes of another case.
    func change(in context: NSManagedObjectContext, shift: Int = 0) throws {
        for (_, number, object) in try objects(in: context) { try set(changes(number, shift), of: number, in: object) }
    }

    func changes(_ number: Int, _ shift: Int = 0) -> [ValueState?] { sample.cases[(number + shift) % sample.cases.count].changes }

    func set(_ states: [ValueState?], of number: Int, in object: NSManagedObject) throws {
        for (column, state) in zip(sample.columns, states) {
            if let state { object.setValue(try value(column, state, number, in: object.managedObjectContext), forKey: column.name) }
        }
    }

    /// The targets in the last context.
    private var targets: (context: NSManagedObjectContext, byLabel: [String: NSManagedObject])?

    private func value(_ column: CombinedSample.Column, _ state: ValueState, _ number: Int, in context: NSManagedObjectContext?) throws -> Any? {
        let value = column.value(state, number)
        guard column.kind == .reference, let label = value as? String, let context else { return value }
        if targets?.context !== context {
            let found = try stack.fetch("Target", in: context)
            targets = (context, Dictionary(uniqueKeysWithValues: found.map { ($0.value(forKey: "label") as? String ?? "", $0) }))
        }
        return targets?.byLabel[label]
    }

    /// The values for a batch request: null for an unset column, an ID for a target, a composite's elements by their paths.
    func dictionary(_ states: [ValueState?], of number: Int) throws -> [String: Any] {
        var result: [String: Any] = [:]
        for (column, state) in zip(sample.columns, states) {
            guard let state else { continue }
            let value = try value(column, state, number, in: stack.context)
            if column.kind == .composite {
                for element in ["city", "x"] { result["\(column.name).\(element)"] = (value as? [String: Any])?[element] ?? NSNull() }
            } else {
                result[column.name] = (value as? NSManagedObject)?.objectID ?? value ?? NSNull()
            }
        }
        return result
    }

    // MARK: Expectations

    /// Expects that all objects have the changes of their cases.
    func expectChanges(shift: Int = 0) {
        for number in expected.indices { expected[number] = expected[number].changed(by: changes(number, shift)) }
    }

    /// The expected text of each column, by case.
    func plains() -> [[String]] {
        let sources = sample.columns.indices.map { self.sources[$0] ?? $0 }
        return expected.enumerated().map { number, states in
            sources.map { (mixed.isEmpty ? nil : mixed[[number, $0]]) ?? sample.columns[$0].plain(states[$0], number) }
        }
    }

    /// Compares the values read from an object with the expected ones.
    func compare(
        _ entity: String, _ number: Int, _ location: String, with all: [[String]], into found: inout Differences, _ read: (String) -> Any?
    ) {
        guard all.indices.contains(number) else { return found.add("\(location): \(entity) \(number) is there and was never made") }
        for (column, plain) in zip(sample.columns, all[number]) {
            found.expect(plain, column.kind.plain(read(column.name))) { "\(location): \(entity) \(number).\(column.name) (\(describe(number)))" }
            guard column.origin == sample.derivedFrom else { continue }
            found.expect(plain, column.kind.plain(read("derived"))) { "\(location): \(entity) \(number).derived (\(describe(number)))" }
        }
    }

    /// The changes of a case as text.
    func describe(_ number: Int) -> String {
        let item = sample.cases[number]
        return zip(sample.columns, zip(item.before, item.changes)).compactMap { column, states in
            states.1.map { "\(column.name) \(states.0)→\($0)" }
        }.joined(separator: ", ")
    }
}
