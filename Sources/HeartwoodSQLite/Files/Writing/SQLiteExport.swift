import Foundation
import Heartwood
internal import HeartwoodSQLiteBuilder
import RecordLog

/// Writes a new SQLite file from one commit of a record log.
///
/// (1) Rows are read once, in the order of their keys, and written as they come. No object is made.
/// (2) Orders and owners that the record log has in join tables are sorted by the rows' keys in bounded memory (`SQLiteLinkSorter`).
/// (3) Order keys are multiples of 1024, from 1024 on. Facts, "order": only the order of the values counts.
/// (4) The file is complete once `write` returns. After an error there is none.
struct SQLiteExport {
    let snapshot: Snapshot
    let plan: ExportPlan
    /// The path of the new file, where nothing may be.
    let path: String
    let progress: (Int) -> Void

    static let orderDistance: Int64 = 1024
    /// The number of rows between two calls of `progress`.
    private static let progressStep = 10_000

    /// - Throws: 134030 and others, with the path; the error of `progress` is thrown too.
    func write() throws {
        do {
            let builder = try SQLiteFileBuilder.create(path: path)
            do {
                for table in plan.tables { try write(table, to: builder) }
                for join in plan.joins { try write(join, to: builder) }
                for table in plan.bookkeeping { try write(table, to: builder) }
                for trigger in plan.triggers {
                    try builder.statement(type: "trigger", named: trigger.name, table: trigger.table, sql: trigger.sql)
                }
                try builder.finish()
            } catch {
                builder.abandon()
                throw error
            }
        } catch let error as SQLiteBuildError {
            throw CoreDataFileError.wrap(error)
        } catch {
            throw RecordLogErrors.wrapIfOfEngine(error)
        }
    }

    private func declare(
        _ name: String, _ statement: String, _ columns: Int, hasKey: Bool, _ indexes: [SQLiteIndexDefinition], _ builder: SQLiteFileBuilder
    ) throws -> SQLiteTableBuilder {
        let table = try builder.table(named: name, statement: statement, columns: columns, rowidColumn: hasKey ? 0 : nil)
        for index in indexes {
            let terms = index.terms.map { SQLiteIndexColumn($0.column, isDescending: $0.isDescending) }
            try builder.index(
                named: index.name, statement: index.statement, on: table, columns: terms, isUnique: index.isUnique, where: index.condition)
        }
        return table
    }

    // MARK: Objects

    private func write(_ table: ExportTable, to builder: SQLiteFileBuilder) throws {
        let made = try declare(table.name, table.statement, table.columnCount, hasKey: true, table.indexes, builder)
        let links = try table.links.map { (link: $0, sorter: try sorter(of: $0)) }
        var rows = MergedRows(table.rows.map(\.table.id), snapshot, key: plan.keys.key)
        var writer = ExportRowWriter(snapshot, plan.keys, linkCount: links.count)
        var count = 0
        while let row = try rows.next() {
            for index in links.indices { writer.found[index] = try take(row.key, links[index]) }
            try made.append(rowid: row.key) { record in try writer.write(row.row, table.rows[row.table], to: &record) }
            count += 1
            if count % Self.progressStep == 0 { progress(Self.progressStep) }
        }
        progress(count % Self.progressStep)
    }

    private func take(_ key: Int64, _ part: (link: ExportTable.Link, sorter: SQLiteLinkSorter)) throws -> SQLiteLinkSorter.Link? {
        try part.sorter.take(key) { first, second in
            CoreDataFileError.make(
                NSPersistentStoreSaveError, path,
                "\(part.link.name) has no inverse and the same member \(key) for its owners \(first.first) and \(second.first), and Core Data "
                    + "keeps one owner for a member of such a relationship",
                "Give the relationship an inverse, or take the member from one of them.")
        }
    }

    /// The orders of a relationship's members, or their owners, by the members' keys.
    private func sorter(of link: ExportTable.Link) throws -> SQLiteLinkSorter {
        let sorter = SQLiteLinkSorter(beside: path)
        try forEachRank(link.join.forward) { owner, member, _, rank in
            let owner = plan.keys.key(owner)
            try sorter.add(
                SQLiteLinkSorter.Link(key: plan.keys.key(member), first: link.hasOwner ? owner : rank, second: link.hasOwner ? rank : owner))
        }
        try sorter.finish()
        return sorter
    }

    /// Calls `body` with each entry of an index that begins with an owner and ends with a member: the two, the number of the link's row, and the
    /// order key.
    private func forEachRank(_ index: IndexID, _ body: (RowReference, RowReference, UInt64, Int64) throws -> Void) throws {
        var cursor = try snapshot.cursor(index), last = RowReference(rawValue: 0), rank: Int64 = 0
        while let row = try cursor.next() {
            let key = cursor.unsafeKey
            guard key.count >= 2 * KeyBuilder.wordSize, let member = RecordLogView.lastReference(of: key),
                let owner = RecordLogView.lastReference(of: UnsafeRawBufferPointer(rebasing: key[..<KeyBuilder.wordSize]))
            else { continue }
            rank = owner == last ? rank + Self.orderDistance : Self.orderDistance
            last = owner
            try body(owner, member, row, rank)
        }
    }

    // MARK: Join tables

    private func write(_ join: ExportJoin, to builder: SQLiteFileBuilder) throws {
        let made = try declare(join.name, join.statement, 2 + join.orders.count, hasKey: false, join.indexes, builder)
        guard let link = join.join else { return }
        let orders = try join.orders.map { isOfSources in
            try orderKeys(isOfSources ? link.forward : link.inverse ?? link.backward)
        }
        let access = link.layout.access
        var rowid: Int64 = 0
        try snapshot.scan(link.id) { row in
            let source = row.reference(access[JoinTable.sourcePosition]), destination = row.reference(access[JoinTable.destinationPosition])
            guard try !join.mustExist || snapshot.contains(source) && snapshot.contains(destination) else { return true }
            rowid += 1
            try made.append(rowid: rowid) { record in
                record.integer(plan.keys.key(join.isSourceFirst ? source : destination))
                record.integer(plan.keys.key(join.isSourceFirst ? destination : source))
                for order in orders {
                    let rank = try order.take(Int64(row.reference.row)) { _, _ in twice(join.name, row.reference.row) }
                    if let rank { record.integer(rank.first) } else { record.null() }
                }
            }
            return true
        }
    }

    private func twice(_ table: String, _ row: UInt64) -> NSError {
        CoreDataFileError.make(
            NSPersistentStoreSaveError, path, "the pair \(row) of \(table) has two places in the order of one relationship",
            "Check the store with `heartwood verify`.")
    }

    /// The order keys of pairs, by the pairs' rows.
    private func orderKeys(_ index: IndexID) throws -> SQLiteLinkSorter {
        let sorter = SQLiteLinkSorter(beside: path)
        try forEachRank(index) { _, _, row, rank in try sorter.add(SQLiteLinkSorter.Link(key: Int64(row), first: rank, second: 0)) }
        try sorter.finish()
        return sorter
    }

    // MARK: Other tables

    private func write(_ table: ExportPlan.Bookkeeping, to builder: SQLiteFileBuilder) throws {
        let made = try declare(table.name, table.statement, table.columnCount, hasKey: table.hasKey, [], builder)
        for row in table.rows {
            try made.append(rowid: row.rowid) { record in
                if table.hasKey { record.null() }
                for value in row.values {
                    switch value {
                    case .null: record.null()
                    case .integer(let number): record.integer(number)
                    case .text(let text): record.text(text)
                    case .bytes(let bytes): bytes.withUnsafeBytes { record.blob($0) }
                    }
                }
            }
        }
    }
}
