import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks one to-one relationship: the key leads to a row of the destination's, and a to-one inverse leads back.
final class ReferenceAudit {
    private let run: AuditRun
    private let table: SQLiteTable
    private let column: Int
    private let entityColumn: Int?
    private let destination: RowFinder
    private let destinationName: String
    /// The column of the inverse in the destination's table, by entity number; empty if it is to-many, or if there is none.
    private let inverses: [Int64: Int]

    /// - Returns: nil for a relationship without a place in the file.
    init?(
        _ run: AuditRun, _ store: ExaminedStore, _ table: SQLiteTable, _ name: String, _ entityKey: String?,
        _ relationship: NSRelationshipDescription
    ) throws {
        guard let column = table.index(ofColumn: name), let entity = relationship.destinationEntity, let finder = try RowFinder(entity, store)
        else { return nil }
        self.run = run
        self.table = table
        self.column = column
        entityColumn = entityKey.flatMap { table.index(ofColumn: $0) }
        destination = finder
        destinationName = entity.name ?? ""
        var inverses: [Int64: Int] = [:]
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            for member in entity.family {
                guard let number = store.contents.numbers.number(of: member), let place = store.layout?.entities[number],
                    let index = member.propertyIndexByName[inverse.name], case .toOne(let back, _)? = place.places[index]
                else { continue }
                inverses[number] = finder.table.index(ofColumn: back)
            }
        }
        self.inverses = inverses
    }

    func check(_ row: borrowing SQLiteRow) throws {
        guard try !row.isNull(column) else { return }
        let rowid = row.rowid
        func found(_ message: String) { run.found(table, rowid, column, message) }
        guard let key = try row.integer(column) else { return found("it has \(ValueFault.name(try row.kind(column))) where a key belongs") }
        let name = destination.table.name
        guard let number = try destination.entity(ofRow: key) else { return run.foundNoRow(key, of: name, table, rowid, column) }
        guard destination.numbers.contains(number) else {
            return found("it refers to row \(key) of \(name), which is of the entity \(number) and not of \(destinationName)")
        }
        if let entityColumn, let stated = try row.integer(entityColumn), stated != number {
            run.found(table, rowid, entityColumn, "it names the entity \(stated), and row \(key) of \(name) is of entity \(number)")
        }
        guard let back = inverses[number] else { return }
        let other = try destination.integer(back)
        guard other != rowid else { return }
        let shown = other.map { "\($0)" } ?? "no key"
        found("it refers to row \(key) of \(name), whose \(destination.table.columns[back].name) has \(shown) and does not refer back")
    }
}
