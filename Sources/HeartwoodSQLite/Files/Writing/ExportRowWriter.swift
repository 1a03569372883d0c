import Heartwood
internal import HeartwoodSQLiteBuilder
import RecordLog

/// Writes the columns of objects' rows.
struct ExportRowWriter {
    private let snapshot: Snapshot
    private let keys: ExportKeys
    private let values: ExportValues
    /// By sorter of the table: the entry for the row that is written next.
    var found: [SQLiteLinkSorter.Link?]

    init(_ snapshot: Snapshot, _ keys: ExportKeys, linkCount: Int) {
        self.snapshot = snapshot
        self.keys = keys
        values = ExportValues(snapshot)
        found = Array(repeating: nil, count: linkCount)
    }

    func write(_ row: UnsafeRowView, _ rows: ExportTable.Rows, to record: inout SQLiteRecordWriter) throws {
        let accesses = try rows.table.accesses(of: row)
        // The primary key is the row's number in the file.
        record.null()
        for source in rows.sources {
            switch source {
            case .null: record.null()
            case .entityNumber(let number): record.integer(number)
            case .entityName(let name): record.text(name)
            case .version: record.integer(max(1, Int64(row.version)))
            case .value(let property, let form):
                let access = accesses[property]
                if access.isAbsent || row.isNull(access) { record.null() } else { try values.write(form, row, access, to: &record) }
            case .key(let property, let mustExist):
                let reference = Self.reference(accesses[property], row)
                let isKept = try !reference.isNone && (!mustExist || snapshot.contains(reference))
                if isKept { record.integer(keys.key(reference)) } else { record.null() }
            case .entityOfKey(let property):
                let reference = Self.reference(accesses[property], row)
                if reference.isNone { record.null() } else { record.integer(keys.entity(reference)) }
            case .linkFirst(let sorter): Self.write(found[sorter]?.first, to: &record)
            case .linkSecond(let sorter): Self.write(found[sorter]?.second, to: &record)
            }
        }
    }

    private static func reference(_ access: ColumnAccess, _ row: UnsafeRowView) -> RowReference {
        access.isAbsent || row.isNull(access) ? RowReference(rawValue: 0) : row.reference(access)
    }

    private static func write(_ number: Int64?, to record: inout SQLiteRecordWriter) {
        if let number { record.integer(number) } else { record.null() }
    }
}
