import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks the rows of one table of entities: entity numbers, versions, values, and to-one references.
final class RowAuditor {
    private struct Attribute {
        let column: Int
        let kind: PropertyKind
        let isTagged: Bool
    }

    private struct Columns {
        var attributes: [Attribute] = []
        var references: [ReferenceAudit] = []
    }

    private let run: AuditRun
    private let table: SQLiteTable
    private let path: String
    private let isUTF8: Bool
    /// By entity number.
    private var columns: [Int64: Columns] = [:]
    private var present: Set<String> = []

    init(_ run: AuditRun, _ store: ExaminedStore, _ table: SQLiteTable, _ entities: [CoreDataLayout.Entity]) throws {
        self.run = run
        self.table = table
        path = store.file.path
        isUTF8 = store.file.header.encoding == .utf8
        for entity in entities {
            var found = Columns()
            for (index, place) in entity.places.enumerated() {
                let property = entity.entity.propertiesByIndex[index]
                switch place {
                case .column(let name)?:
                    guard let column = table.index(ofColumn: name) else { continue }
                    let isTagged = (property as? NSAttributeDescription)?.allowsExternalBinaryDataStorage ?? false
                    found.attributes.append(Attribute(column: column, kind: PropertyKind(property), isTagged: isTagged))
                case .toOne(let name, let key)? where store.found.origin != .schema:
                    guard let relationship = property as? NSRelationshipDescription else { continue }
                    if let audit = try ReferenceAudit(run, store, table, name, key, relationship) { found.references.append(audit) }
                default: continue
                }
            }
            columns[entity.number] = found
        }
        let directory = ExternalValue.directory(of: path).path
        present = Set((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
    }

    func check() throws {
        guard let entityColumn = table.index(ofColumn: "Z_ENT"), let versionColumn = table.index(ofColumn: "Z_OPT") else { return }
        try table.forEachRow { row in
            run.countRow()
            if row.rowid < 1 || row.rowid > CoreDataRows.keyMax {
                run.found(table.name, row: row.rowid, column: "Z_PK", "it is no key of Core Data's")
            }
            guard let number = try row.integer(entityColumn), let columns = columns[number] else {
                let shown = try row.integer(entityColumn).map { "\($0)" } ?? ValueFault.name(try row.kind(entityColumn))
                run.found(table, row.rowid, entityColumn, "it is \(shown), and no entity of the table has this number")
                return true
            }
            if try row.integer(versionColumn).map({ $0 < 1 }) ?? true {
                run.found(table, row.rowid, versionColumn, "it is no version of a row, which is 1 or more")
            }
            for attribute in columns.attributes { try check(attribute, row) }
            for reference in columns.references { try reference.check(row) }
            return true
        }
    }

    private func check(_ attribute: Attribute, _ row: borrowing SQLiteRow) throws {
        let rowid = row.rowid
        func found(_ message: String) { run.found(table, rowid, attribute.column, message) }
        let kind = try row.kind(attribute.column)
        if kind != .null, let fault = try attribute.kind.sqlite.fault?(row, attribute.column, kind, isUTF8) { return found("it has \(fault)") }
        guard attribute.isTagged, let bytes = try row.blob(attribute.column) else { return }
        switch ExternalValue(bytes) {
        case .inline?: break
        case .file(let name)?:
            if !present.contains(name) {
                found("the file \(name) with its value is not there")
            } else if ExternalValue.isLink(name, of: path) {
                found("the file \(name) with its value is a symbolic link or lies behind one, and is not read")
            }
        case nil: found("it has data without the tag that says where the value is")
        }
    }
}
