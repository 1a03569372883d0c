import Foundation
import RecordLog

/// Names the objects of rows: their URIs and entities.
package final class RowNames {
    private struct Table {
        let entity: String
        /// The URI up to the row's number; nil where numbers do not name the objects.
        let start: String?
    }

    private let id: (RowReference) -> NSManagedObjectID?
    private var tables: [TableID: Table] = [:]

    init(_ id: @escaping (RowReference) -> NSManagedObjectID?) { self.id = id }

    /// The URI of a row's object; an empty text for a row of no known table.
    package func uri(of row: RowReference) -> String {
        if let start = table(of: row)?.start { return start + String(row.row) }
        return id(row)?.uriRepresentation().absoluteString ?? ""
    }

    package func entity(of row: RowReference) -> String { table(of: row)?.entity ?? "" }

    private func table(of row: RowReference) -> Table? {
        if let known = tables[row.table] { return known }
        guard let id = id(row) else { return nil }
        let uri = id.uriRepresentation().absoluteString, number = String(row.row)
        let made = Table(entity: id.entity.name ?? "", start: uri.hasSuffix("/p\(number)") ? String(uri.dropLast(number.count)) : nil)
        tables[row.table] = made
        return made
    }
}
