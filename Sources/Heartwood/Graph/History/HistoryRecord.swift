import Foundation
import RecordLog

/// A decoded change.
package struct HistoryChange: @unchecked Sendable {
    // Unchecked: nothing changes a tombstone's values.
    /// The change's position in its transaction, from 1; in a store of Core Data's its number among all changes.
    let ordinal: Int64
    let type: NSPersistentHistoryChangeType
    let reference: RowReference
    let entity: NSEntityDescription
    let updatedProperties: Set<NSPropertyDescription>
    let tombstone: [AnyHashable: Any]?

    package init(
        ordinal: Int64, type: NSPersistentHistoryChangeType, reference: RowReference, entity: NSEntityDescription,
        updatedProperties: Set<NSPropertyDescription>, tombstone: [AnyHashable: Any]?
    ) {
        (self.ordinal, self.type, self.reference, self.entity) = (ordinal, type, reference, entity)
        (self.updatedProperties, self.tombstone) = (updatedProperties, tombstone)
    }
}

/// The texts of a transaction.
package struct HistoryTexts: Sendable {
    package var author, contextName, processID, bundleID: String?

    package init(author: String?, contextName: String?, processID: String?, bundleID: String?) {
        (self.author, self.contextName, self.processID, self.bundleID) = (author, contextName, processID, bundleID)
    }
}

/// The state of the store in which transactions were read. It turns their rows and columns into object IDs and property names.
package final class HistorySource: @unchecked Sendable {
    // Unchecked: the weak reference is set once.
    let storeIdentifier: String
    weak let store: NSPersistentStore?
    fileprivate let schema: RecordLogSchema
    /// nil where changes are no rows of a record log.
    fileprivate let snapshotCatalog: Catalog?
    fileprivate let table: TableID
    let path: String
    private let slotBase: UInt64

    init(_ store: RecordLogStore, _ view: RecordLogView, _ table: HistoryTable) {
        self.store = store
        storeIdentifier = store.identifier
        schema = view.schema
        slotBase = view.slotBase
        snapshotCatalog = view.snapshot.catalog
        path = store.log?.path ?? store.url?.path ?? ""
        self.table = table.id
    }

    /// For a store whose changes are no rows of a record log.
    package init(_ store: NSPersistentStore, _ schema: RecordLogSchema, path: String) {
        self.store = store
        storeIdentifier = store.identifier
        self.schema = schema
        slotBase = store.slotBase
        snapshotCatalog = nil
        self.path = path
        table = TableID(rawValue: NSPersistentHistoryToken.Position.noTable)
    }

    func key(_ reference: RowReference) -> ObjectKey { ObjectKey(rawValue: reference.rawValue &+ slotBase) }
}

/// A decoded transaction. In a record log its changes stay in the file until they are asked for, however many they are.
package final class HistoryRecord: Sendable {
    let source: HistorySource
    let number: Int64
    let timestamp: Double
    let author, contextName, processID, bundleID: String?
    private let changes: Changes

    private enum Changes: Sendable {
        case encoded(ValueReader?)
        case listed([HistoryChange])
    }

    /// - Throws: if the row's reference to its changes cannot be followed.
    init(_ row: UnsafeRowView, _ table: HistoryTable, _ source: HistorySource, _ snapshot: Snapshot) throws {
        self.source = source
        number = Int64(row.reference.row)
        timestamp = table.timestamp(of: row)
        author = table.text(.author, of: row)
        contextName = table.text(.contextName, of: row)
        processID = table.text(.processID, of: row)
        bundleID = table.text(.bundleID, of: row)
        changes = .encoded(try snapshot.value(table.access(.changes, of: row), of: row))
    }

    /// A transaction of a store that has no record log.
    package init(_ number: Int64, _ timestamp: Double, _ texts: HistoryTexts, _ changes: [HistoryChange], _ source: HistorySource) {
        self.source = source
        self.number = number
        self.timestamp = timestamp
        author = texts.author
        contextName = texts.contextName
        processID = texts.processID
        bundleID = texts.bundleID
        self.changes = .listed(changes)
    }

    /// The number by which a change is known in its store.
    func changeID(_ change: HistoryChange) -> Int64 {
        if case .listed = changes { return change.ordinal }
        return number << 32 | change.ordinal
    }

    var token: NSPersistentHistoryToken {
        NSPersistentHistoryToken([source.storeIdentifier: .init(table: source.table.rawValue, number: number, time: timestamp)])
    }

    /// Whether the changes exist: a salvage may have lost them.
    var hasChanges: Bool {
        if case .encoded(nil) = changes { return false }
        return true
    }

    private func damaged() -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "The changes of transaction \(number) in the history of \(source.path) are damaged. Delete the history up to there "
                + "(NSPersistentHistoryChangeRequest.deleteHistory), and read the store itself.",
            [NSFilePathErrorKey: source.path])
    }

    private func forEachRun(_ body: (inout HistoryDecoder, HistoryDecoder.Run) throws -> Bool) throws {
        guard case .encoded(let value?) = changes else { throw damaged() }
        do {
            var decoder = HistoryDecoder(value)
            while let run = try decoder.next(), try body(&decoder, run) {}
        } catch is HistoryDecoder.Malformed {
            throw damaged()
        }
    }

    /// Checks all changes, so that reading them later cannot fail.
    /// - Parameter limit: gives the limit of a table's row numbers, which all lie below it.
    /// - Returns: the number of changes that `forEachChange` gives.
    /// - Complexity: O(bytes); a run of changes is checked in one step.
    package func check(_ limit: (TableID) -> UInt64) throws -> Int {
        if case .listed(let list) = changes { return list.count }
        var count = 0
        try forEachRun { decoder, run in
            guard let table = source.schema.table(run.table) else { return true }
            guard run.rows.upperBound <= limit(run.table) else { throw HistoryDecoder.Malformed() }
            if run.item == .preservedDeletion { _ = try PreservedColumns.values(decoder.body, decoder.preserved, table.runtime, [:]) }
            count += run.rows.count
            return true
        }
        return count
    }

    /// Calls `body` with each change of an object whose entity the model has, until it returns false.
    func forEachChange(_ body: (HistoryChange) throws -> Bool) throws {
        if case .listed(let list) = changes {
            for change in list { guard try body(change) else { return } }
            return
        }
        var ordinal: Int64 = 0
        var last: (table: TableID, columns: [ColumnID: Int])?
        var known: (written: [HistoryDecoder.Property], found: Set<NSPropertyDescription>)?
        try forEachRun { decoder, run in
            guard let table = source.schema.table(run.table) else {
                ordinal += Int64(run.rows.count)
                return true
            }
            if last?.table != run.table {
                last = (run.table, columns(of: table))
                known = nil
            }
            let byColumn = last?.columns ?? [:]
            var updated: Set<NSPropertyDescription> = []
            if run.item == .updates {
                let found = known?.written == decoder.properties ? known?.found : nil
                updated = found ?? Self.properties(decoder.properties, table.runtime, byColumn)
                known = (decoder.properties, updated)
            }
            let tombstone = run.item == .preservedDeletion
                ? try PreservedColumns.values(decoder.body, decoder.preserved, table.runtime, byColumn) : nil
            let type: NSPersistentHistoryChangeType = run.item == .insertions ? .insert : run.item == .updates ? .update : .delete
            for row in run.rows {
                ordinal += 1
                let change = HistoryChange(
                    ordinal: ordinal, type: type, reference: RowReference(table: run.table, row: row), entity: table.runtime.entity,
                    updatedProperties: updated, tombstone: tombstone)
                guard try body(change) else { return false }
            }
            return true
        }
    }

    /// The property that each column has in the current model.
    private func columns(of table: EntityTable) -> [ColumnID: Int] {
        var result: [ColumnID: Int] = [:]
        for column in source.snapshotCatalog?.table(table.id)?.currentLayout.columns ?? [] {
            if let property = table.runtime.index(of: column.name) { result[column.id] = property }
        }
        return result
    }

    private static func properties(
        _ written: [HistoryDecoder.Property], _ runtime: EntityRuntime, _ byColumn: [ColumnID: Int]
    ) -> Set<NSPropertyDescription> {
        var result: Set<NSPropertyDescription> = []
        for property in written {
            let index: Int? = switch property {
            case .column(let id): byColumn[id]
            case .named(let name): runtime.index(of: name)
            }
            // An element stands for its composite attribute.
            if let index { result.insert(runtime.entity.propertiesByIndex[runtime.declaredIndex(index)]) }
        }
        return result
    }
}
