/// A table and its layouts, newest last.
public final class TableDefinition: Sendable {
    public let id: TableID
    public let name: String
    public let layouts: [RowLayout]
    let nextColumn: UInt16
    /// Whether a row may have a value in separate frames.
    let hasValues: Bool

    init(id: TableID, name: String, layouts: [RowLayout], nextColumn: UInt16) {
        self.id = id
        self.name = name
        self.layouts = layouts
        self.nextColumn = nextColumn
        hasValues = layouts.contains { !$0.valuePositions.isEmpty }
    }

    /// Makes a table's layouts from the columns of each. A layout's ID is its index.
    /// - Parameter defaults: those that each layout states, by its ID; empty if none states any.
    static func layouts(_ lists: [[Column]], defaults: [[ColumnDefault]] = []) -> [RowLayout] {
        let newest = lists.last ?? []
        var layouts: [RowLayout] = []
        // From the newest: of several layouts that state a column's default, the oldest after the row's own holds.
        var holding: [ColumnDefault] = []
        for (index, columns) in lists.enumerated().reversed() {
            let later = index == lists.count - 1 ? [] : newest.filter { column in !columns.contains { $0.id == column.id } }
            let stated = index < defaults.count ? defaults[index] : []
            layouts.append(RowLayout(
                id: LayoutID(rawValue: UInt16(index)), columns: columns, laterColumns: later, stated: stated, defaults: holding))
            for value in stated {
                if let known = holding.firstIndex(where: { $0.column == value.column }) { holding[known] = value } else { holding.append(value) }
            }
        }
        layouts.reverse()
        return layouts
    }

    /// The names of the newest layout's columns for which some layout states a default.
    var defaultedColumns: [String] {
        currentLayout.columns.filter { column in layouts.contains { $0.stated.contains { $0.column == column.id } } }.map(\.name)
    }

    /// The most that the layouts' defaults cost: each layout keeps those of the newer ones.
    var defaultCost: Int { layouts.count * layouts.reduce(0) { $0 + $1.stated.count } }

    /// A copy with other names.
    /// - Parameter columns: the new names by column ID; a column that is not listed keeps its name.
    func renamed(_ name: String, columns: [ColumnID: String]) -> TableDefinition {
        let lists = layouts.map { layout in
            layout.columns.map { Column(id: $0.id, name: columns[$0.id] ?? $0.name, type: $0.type) }
        }
        return TableDefinition(
            id: id, name: name, layouts: Self.layouts(lists, defaults: layouts.map(\.stated)), nextColumn: nextColumn)
    }

    /// The columns that hold values in some layout. No index may use them.
    var valueColumns: Set<ColumnID> {
        Set(layouts.flatMap { layout in layout.valuePositions.map { layout.columns[$0].id } })
    }

    /// The layout of new rows.
    public var currentLayout: RowLayout { layouts[layouts.count - 1] }

    /// - Complexity: O(1), since a layout's ID is its index.
    @inline(__always)
    public func layout(_ id: LayoutID) -> RowLayout? {
        let index = Int(id.rawValue)
        return index < layouts.count ? layouts[index] : nil
    }
}

/// Every table and index of a store, as of one commit. Immutable; row 1 of the system table stores all of it.
public final class Catalog: Sendable {
    public let tables: [TableDefinition]
    public let indexes: [IndexDefinition]
    let nextTable: UInt16
    let nextIndex: UInt16
    private let hasValues: Bool
    private let byID: [TableDefinition?]
    /// By table: the index in `minimums` of its first layout. One more entry ends the last table.
    private let starts: [Int]
    /// By table and layout: the fewest bytes of a row.
    private let minimums: [Int]

    init(tables: [TableDefinition], indexes: [IndexDefinition], nextTable: UInt16, nextIndex: UInt16) {
        self.tables = tables
        self.indexes = indexes
        self.nextTable = nextTable
        self.nextIndex = nextIndex
        hasValues = tables.contains(where: \.hasValues)
        var byID: [TableDefinition?] = []
        for table in tables {
            while byID.count <= Int(table.id.rawValue) { byID.append(nil) }
            byID[Int(table.id.rawValue)] = table
        }
        self.byID = byID
        var starts = [0], minimums: [Int] = []
        for table in byID {
            for layout in table?.layouts ?? [] { minimums.append(layout.minimumBodySize) }
            starts.append(minimums.count)
        }
        self.starts = starts
        self.minimums = minimums
    }

    /// Whether a row has at least the bytes that its layout requires.
    @inline(__always)
    func isWellFormed(_ row: UnsafeRowView) -> Bool {
        let table = Int(row.reference.table.rawValue)
        guard row.byteCount >= RowLayout.nullsOffset, table &+ 1 < starts.count else { return false }
        let index = starts[table] &+ Int(row.layoutID.rawValue)
        return index < starts[table &+ 1] && row.byteCount >= minimums[index]
    }

    /// The smallest size of a body in a well-formed row's layout.
    func minimumSize(of row: UnsafeRowView) -> Int {
        Int(minimums[starts[Int(row.reference.table.rawValue)] &+ Int(row.layoutID.rawValue)])
    }

    /// The most layouts of all tables together, so that a hostile catalog makes few objects.
    static let layoutsMax = 1 << 16

    /// The most that the defaults of all tables together cost (`TableDefinition.defaultCost`), for the same reason.
    static let defaultCostMax = 1 << 20

    var defaultCost: Int { tables.reduce(0) { $0 + $1.defaultCost } }

    static let empty = Catalog(tables: [], indexes: [], nextTable: 1, nextIndex: 1)
    /// The number of the system table's row that holds the catalog.
    static let row: UInt64 = 1

    var layoutCount: Int { tables.reduce(0) { $0 + $1.layouts.count } }

    @inline(__always)
    public func table(_ id: TableID) -> TableDefinition? {
        let index = Int(id.rawValue)
        return index < byID.count ? byID[index] : nil
    }

    /// The bytes of a row, counted as live.
    @inline(__always)
    func liveBytes(of row: UnsafeRowView) -> UInt64 {
        guard hasValues, let table = table(row.reference.table) else { return UInt64(RowRecord.size(ofBody: row.byteCount)) }
        return table.liveBytes(of: row)
    }

    public func table(named name: String) -> TableDefinition? {
        tables.first { $0.name == name }
    }

    public func indexes(on table: TableID) -> [IndexDefinition] {
        indexes.filter { $0.table == table }
    }

    public func index(_ id: IndexID) -> IndexDefinition? {
        indexes.first { $0.id == id }
    }
}

extension Catalog {
    /// 1: the first. 2: layouts state defaults; written only where one does, since a reader of version 1 refuses it.
    private static let version: UInt8 = 2

    /// The error for bytes that are no catalog of a version that this release knows.
    static func unreadable(_ bytes: UnsafeRawBufferPointer, _ path: String, at offset: UInt64?) -> StoreError {
        guard isNewer(bytes) else { return StoreError.corrupt(path, at: offset, "the catalog is malformed") }
        return StoreError(
            .unsupportedVersion, path: path, at: offset, "the catalog has version \(bytes.first ?? 0), newer than \(version)",
            remedy: "Use a newer release.")
    }

    static func isNewer(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.first.map { $0 > version } ?? false }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        let version: UInt8 = defaultCost > 0 ? 2 : 1
        writer.append(version)
        writer.append(nextTable)
        writer.append(nextIndex)
        writer.append(UInt32(tables.count))
        for table in tables {
            writer.append(table.id.rawValue)
            writer.append(table.nextColumn)
            writer.append(text: table.name)
            writer.append(UInt32(table.layouts.count))
            for layout in table.layouts {
                writer.append(UInt32(layout.columns.count))
                for column in layout.columns {
                    writer.append(column.id.rawValue)
                    writer.append(column.type.rawValue)
                    writer.append(text: column.name)
                }
                guard version > 1 else { continue }
                writer.append(UInt32(layout.stated.count))
                for value in layout.stated {
                    writer.append(value.column.rawValue)
                    writer.append(UInt32(value.bytes.count))
                    writer.bytes += value.bytes
                }
            }
        }
        writer.append(UInt32(indexes.count))
        for index in indexes {
            writer.append(index.id.rawValue)
            writer.append(index.table.rawValue)
            writer.append(text: index.name)
            writer.append(text: index.extractorName ?? "")
            writer.append(UInt32(index.parts.count))
            for part in index.parts {
                writer.append(part.column.rawValue)
                writer.append(UInt8(part.ascending ? 1 : 0))
                writer.append(part.collation.rawValue)
            }
        }
        return writer.bytes
    }

    /// - Returns: nil if the bytes are not a catalog.
    convenience init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let version = reader.integer(UInt8.self), (1...Self.version).contains(version), let nextTable = reader.integer(UInt16.self),
            let nextIndex = reader.integer(UInt16.self), let tableCount = reader.count(of: 12)
        else { return nil }
        var tables: [TableDefinition] = []
        var seen = IDSet()
        _ = seen.insert(TableID.system.rawValue)
        var layoutCount = 0, defaultCost = 0
        for _ in 0..<tableCount {
            guard let table = Self.readTable(&reader, version, &defaultCost), table.id.rawValue < nextTable, seen.insert(table.id.rawValue)
            else { return nil }
            layoutCount += table.layouts.count
            guard layoutCount <= Self.layoutsMax else { return nil }
            tables.append(table)
        }
        guard let indexCount = reader.count(of: 16) else { return nil }
        var indexes: [IndexDefinition] = []
        var seenIndexes = IDSet()
        // Only if needed: the first use of a dictionary makes the runtime search for conformances.
        let values = tables.contains(where: \.hasValues)
            ? Dictionary(tables.filter(\.hasValues).map { ($0.id, $0.valueColumns) }) { first, _ in first } : nil
        for _ in 0..<indexCount {
            guard let index = Self.readIndex(&reader), index.id.rawValue < nextIndex, seen.contains(index.table.rawValue), index.table != .system,
                seenIndexes.insert(index.id.rawValue),
                values?[index.table].map({ columns in !index.parts.contains { columns.contains($0.column) } }) ?? true
            else { return nil }
            indexes.append(index)
        }
        self.init(tables: tables, indexes: indexes, nextTable: nextTable, nextIndex: nextIndex)
    }

    /// - Parameter defaultCost: of the tables so far.
    private static func readTable(_ reader: inout ByteReader, _ version: UInt8, _ defaultCost: inout Int) -> TableDefinition? {
        guard let id = reader.integer(UInt16.self), let nextColumn = reader.integer(UInt16.self), let name = reader.text(),
            let layoutCount = reader.count(of: 4), layoutCount > 0, layoutCount <= RowLayout.layoutsMax
        else { return nil }
        var layouts: [[Column]] = [], defaults: [[ColumnDefault]] = []
        for _ in 0..<layoutCount {
            guard let columnCount = reader.count(of: 7), columnCount <= RowLayout.columnsMax else { return nil }
            var columns: [Column] = []
            for _ in 0..<columnCount {
                guard let id = reader.integer(UInt16.self), let type = reader.integer(UInt8.self).flatMap(ColumnType.init),
                    let name = reader.text()
                else { return nil }
                columns.append(Column(id: ColumnID(rawValue: id), name: name, type: type))
            }
            layouts.append(columns)
            guard version > 1 else { continue }
            guard let stated = readDefaults(&reader, columns) else { return nil }
            defaults.append(stated)
            defaultCost += layoutCount * stated.count
            guard defaultCost <= defaultCostMax else { return nil }
        }
        return TableDefinition(
            id: TableID(rawValue: id), name: name, layouts: TableDefinition.layouts(layouts, defaults: defaults), nextColumn: nextColumn)
    }

    private static func readDefaults(_ reader: inout ByteReader, _ columns: [Column]) -> [ColumnDefault]? {
        guard let count = reader.count(of: 6), count <= columns.count else { return nil }
        var defaults: [ColumnDefault] = []
        for _ in 0..<count {
            guard let id = reader.integer(UInt16.self), let column = columns.first(where: { $0.id.rawValue == id }),
                !defaults.contains(where: { $0.column == column.id }), let size = reader.integer(UInt32.self),
                size <= ColumnDefault.sizeMax, let bytes = reader.take(Int(size)),
                let value = ColumnDefault(column: column.id, type: column.type, bytes: Array(bytes))
            else { return nil }
            defaults.append(value)
        }
        return defaults
    }

    private static func readIndex(_ reader: inout ByteReader) -> IndexDefinition? {
        guard let id = reader.integer(UInt16.self), let table = reader.integer(UInt16.self), let name = reader.text(),
            let extractor = reader.text(), let partCount = reader.count(of: 4)
        else { return nil }
        var parts: [IndexPart] = []
        for _ in 0..<partCount {
            guard let column = reader.integer(UInt16.self), let ascending = reader.integer(UInt8.self),
                let collation = reader.integer(UInt8.self).flatMap(Collation.init)
            else { return nil }
            parts.append(IndexPart(column: ColumnID(rawValue: column), ascending: ascending != 0, collation: collation))
        }
        return IndexDefinition(
            id: IndexID(rawValue: id), table: TableID(rawValue: table), name: name, parts: parts,
            extractorName: extractor.isEmpty ? nil : extractor)
    }
}
