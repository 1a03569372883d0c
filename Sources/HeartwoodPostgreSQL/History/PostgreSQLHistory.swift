import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The history of a store: its transactions by their numbers on the server.
///
/// A number is given before the commit, so a later commit may have a lower one. Only transactions below all running ones are read: a reader that has
/// passed a number meets no lower one later.
struct PostgreSQLHistory: StoreHistory {
    let source: HistorySource
    private let layout: PostgreSQLLayout
    private let read: (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult

    static let visible = "number < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    /// The transactions of one statement.
    private static let transactionsMax = 500
    /// Ends the loop of `forEach`.
    private struct End: Error {}

    init(
        _ store: PostgreSQLStore, _ layout: PostgreSQLLayout, path: String,
        _ read: @escaping (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult
    ) {
        (self.layout, self.read) = (layout, read)
        source = HistorySource(store, layout.schema, path: path)
    }

    private func table(_ name: String) -> String { SQLName.quoted(layout.name) + "." + name }

    private func run(_ text: String, _ numbers: Int64...) throws -> PostgreSQLResult {
        var parameters = PostgreSQLParameters()
        for number in numbers { parameters.addInt64(number) }
        return try read(PostgreSQLStatement(text), parameters)
    }

    /// The number of the newest transaction that was deleted.
    private func floor() throws -> Int64 {
        let result = try run("SELECT convert_from(value, 'UTF8') FROM \(table(StoreTables.values)) WHERE key = '\(StoreTables.Key.history)'")
        return result.count == 0 ? 0 : Int64(try result.text(0, 0)) ?? 0
    }

    // MARK: Positions

    func newestPosition() throws -> NSPersistentHistoryToken.Position {
        let newest = try run("SELECT number, time FROM \(table(StoreTables.transactions)) WHERE \(Self.visible) ORDER BY number DESC LIMIT 1")
        guard newest.count > 0 else { return .init(table: NSPersistentHistoryToken.Position.noTable, number: try floor(), time: 0) }
        return .init(table: NSPersistentHistoryToken.Position.noTable, number: try newest.int64(0, 0), time: try newest.double(0, 1))
    }

    func selection(_ times: HistorySelection.Times) throws -> HistorySelection { HistorySelection([1..<UInt64.max], times) }

    func number(of position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        let newest = try newestPosition().number
        guard position.table == NSPersistentHistoryToken.Position.noTable, position.number >= 0, position.number <= newest else {
            throw expired("names a transaction that the store has not")
        }
        let known = try run("SELECT time FROM \(table(StoreTables.transactions)) WHERE number = $1", position.number)
        if known.count > 0, try known.double(0, 0) != position.time { throw expired("names a transaction of another history") }
        return UInt64(position.number)
    }

    func number(behind position: NSPersistentHistoryToken.Position) throws -> UInt64 {
        let number = try number(of: position)
        guard try number >= UInt64(floor()) else { throw expired("is older than the rest of the history") }
        return number + 1
    }

    // MARK: Transactions

    func forEach(_ selection: HistorySelection, isWhole: Bool, _ body: (HistoryRecord) throws -> Bool) throws {
        do {
            for range in selection.ranges {
                var next = range.lowerBound
                while let last = try forEachPart(from: next, to: range.upperBound, selection.times, body) { next = UInt64(last) + 1 }
            }
        } catch is End {}
    }

    /// - Returns: the last number that was read; nil behind the last transaction.
    private func forEachPart(
        from first: UInt64, to end: UInt64, _ times: HistorySelection.Times, _ body: (HistoryRecord) throws -> Bool
    ) throws -> Int64? {
        let result = try run(
            "SELECT number, time, author, context_name, process_id, bundle_id FROM \(table(StoreTables.transactions))"
                + " WHERE number >= $1 AND number < $2 AND \(Self.visible) ORDER BY number LIMIT \(Self.transactionsMax)",
            Int64(clamping: first), Int64(clamping: end))
        guard result.count > 0 else { return nil }
        let last = try result.int64(result.count - 1, 0)
        let changes = try changes(from: try result.int64(0, 0), to: last)
        func text(_ line: Int, _ column: Int) throws -> String? { try result.isNull(line, column) ? nil : result.text(line, column) }
        for line in 0..<result.count {
            let number = try result.int64(line, 0), time = try result.double(line, 1)
            guard times.holds(for: time) else { continue }
            let texts = HistoryTexts(
                author: try text(line, 2), contextName: try text(line, 3), processID: try text(line, 4), bundleID: try text(line, 5))
            guard try body(HistoryRecord(number, time, texts, changes[number] ?? [], source)) else { throw End() }
        }
        return last
    }

    private func changes(from first: Int64, to last: Int64) throws -> [Int64: [HistoryChange]] {
        let result = try run(
            "SELECT number, place, entity, row, kind, updated, kept FROM \(table(StoreTables.changes))"
                + " WHERE number BETWEEN $1 AND $2 ORDER BY number, place", first, last)
        var changes: [Int64: [HistoryChange]] = [:]
        for line in 0..<result.count {
            guard let change = try change(result, line) else { continue }
            changes[try result.int64(line, 0), default: []].append(change)
        }
        return changes
    }

    /// - Returns: nil for a row of an entity that the model lacks.
    private func change(_ result: PostgreSQLResult, _ line: Int) throws -> HistoryChange? {
        guard let key = layout.key(try result.int64(line, 3), try result.int16(line, 2)), let entity = layout.entity(of: key),
            let kind = HistoryChanges.Kind(rawValue: try result.text(line, 4))
        else { return nil }
        let runtime = entity.table.runtime
        var updated: Set<NSPropertyDescription> = []
        if kind == .update, try !result.isNull(line, 5) {
            for name in (try? JSONDecoder().decode([String].self, from: Data(result.text(line, 5).utf8))) ?? [] {
                // An element stands for its composite attribute.
                if let index = runtime.index(of: name) { updated.insert(runtime.entity.propertiesByIndex[runtime.declaredIndex(index)]) }
            }
        }
        let kept = try result.isNull(line, 6) ? nil : PreservedValues.tombstone(result.text(line, 6), runtime)
        return HistoryChange(
            ordinal: try result.int64(line, 0) << 16 | Int64(truncatingIfNeeded: try result.int64(line, 1)),
            type: kind == .insert ? .insert : kind == .update ? .update : .delete, reference: layout.reference(key), entity: runtime.entity,
            updatedProperties: updated, tombstone: kept)
    }

    func check(_ record: HistoryRecord) throws -> Int { try record.check { _ in 0 } }
}
