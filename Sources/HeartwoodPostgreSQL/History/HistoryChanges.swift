import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The changes of one transaction for the store's history, each row once.
struct HistoryChanges {
    enum Kind: String {
        case insert, update, delete
    }

    private struct Change {
        let key: ObjectKey
        var kind: Kind
        var updated: Set<String>
        /// The values that a deletion keeps, as JSON.
        var kept: String?
    }

    private let layout: PostgreSQLLayout
    private var places: [ObjectKey: Int] = [:]
    private var list: [Change] = []

    init(_ layout: PostgreSQLLayout) { self.layout = layout }

    var isEmpty: Bool { list.isEmpty }

    mutating func note(_ kind: Kind, _ key: ObjectKey, updated: Set<String> = [], kept: String? = nil) {
        guard let place = places[key] else {
            places[key] = list.count
            list.append(Change(key: key, kind: kind, updated: updated, kept: kept))
            return
        }
        // A new row stays new when its members are written. Of a deleted row the history has the deletion only.
        if kind == .delete { list[place].kind = .delete }
        list[place].updated.formUnion(updated)
        list[place].kept = kept ?? list[place].kept
    }

    /// Notes a row that gets values, and the objects at the other ends of the references that change.
    mutating func note(_ row: SavedRow) throws {
        let runtime = row.entity.table.runtime
        let names = row.values.map { runtime.properties[row.entity.fields[$0.place].property].name }
        if row.base == nil { note(.insert, row.key) } else if !names.isEmpty { note(.update, row.key, updated: Set(names)) }
        for (place, value) in row.values where row.entity.fields[place].kind == .toOne {
            guard let inverse = runtime.inverseName(row.entity.fields[place].property) else { continue }
            let ends = [value, row.base == nil ? .null : try row.formerValue(place)]
            for case .reference(let end) in ends { note(.update, end, updated: [inverse]) }
        }
        for (property, source) in row.entity.table.members.enumerated() where source != nil && row.object?.changesMembers(property) == true {
            note(.update, row.key, updated: [runtime.properties[property].name])
        }
    }

    /// Notes the deletion of a row, and the objects that it referred to.
    /// - Parameters:
    ///   - row: as it was; nil where it is unknown.
    ///   - large: reads data that the row has a mark of.
    mutating func note(
        deleted key: ObjectKey, _ entity: BoundEntity, _ row: UnsafeRowView?, _ large: (ColumnAccess, UnsafeRowView) throws -> Data?
    ) throws {
        guard let row else { return note(.delete, key) }
        let kept = try PreservedValues.text(of: row, entity, slotBase: layout.slotBase, large)
        note(.delete, key, kept: kept)
        let accesses = try entity.table.accesses(of: row)
        for field in entity.fields where field.kind == .toOne {
            let access = accesses[field.property]
            guard !access.isAbsent, !row.isNull(access), let inverse = entity.table.runtime.inverseName(field.property) else { continue }
            note(.update, layout.key(row.reference(access)), updated: [inverse])
        }
    }

    /// Notes the members that come to an owner or leave it.
    mutating func note(_ members: [ObjectKey], of owner: ObjectKey, _ property: Int) {
        guard let runtime = layout.entity(of: owner)?.table.runtime else { return }
        note(.update, owner, updated: [runtime.properties[property].name])
        guard let inverse = runtime.inverseName(property) else { return }
        for member in members { note(.update, member, updated: [inverse]) }
    }

    /// Adds the statements that record the transaction.
    /// - Returns: the place of the statement that gives the transaction's number.
    func add(to batch: inout PostgreSQLBatch, _ origin: TransactionOrigin) throws -> Int {
        let schema = SQLName.quoted(layout.name)
        var head = PostgreSQLParameters()
        for text in [origin.author, origin.contextName, TransactionOrigin.processID, TransactionOrigin.bundleID] {
            // The server has no U+0000 in texts.
            if let text { try head.addText(text.replacing("\0", with: "\u{FFFD}")) } else { head.addNull(.text) }
        }
        batch.add(
            PostgreSQLStatement(
                "INSERT INTO \(schema).\(StoreTables.transactions) SELECT \(Self.number),"
                    + " extract(epoch FROM clock_timestamp())::double precision - 978307200, $1, $2, $3, $4 RETURNING number"), head)
        let place = batch.count - 1
        var entities = PostgreSQLArray(of: .int2), rows = PostgreSQLArray(of: .int8), kinds = PostgreSQLArray(of: .text)
        var updated = PostgreSQLArray(of: .text), kept = PostgreSQLArray(of: .text)
        for change in list.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            entities.addInt16(layout.entity(of: change.key)?.number ?? 0)
            rows.addInt64(Int64(change.key.row))
            try kinds.addText(change.kind.rawValue)
            if change.kind == .update { try updated.addText(try PreservedValues.json(change.updated.sorted())) } else { updated.addNull() }
            if let text = change.kept { try kept.addText(text) } else { kept.addNull() }
        }
        var parameters = PostgreSQLParameters()
        for array in [entities, rows, kinds, updated, kept] { try parameters.add(array) }
        batch.add(
            PostgreSQLStatement(
                "INSERT INTO \(schema).\(StoreTables.changes) SELECT \(Self.number), u.place, u.e, u.number, u.kind, u.updated, u.kept"
                    + " FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS u(e, number, kind, updated, kept, place)"), parameters)
        return place
    }

    /// The number of a transaction: that of the server's own. Only those that are below all running ones are read, so none is passed over.
    private static let number = "pg_current_xact_id()::text::bigint"
}
