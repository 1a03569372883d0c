/// The order of a column's values in an index. The numbers are stored.
public enum Collation: UInt8, Sendable {
    /// By the bytes of the encoded key; for text, by its UTF-8.
    case binary = 1
}

/// One column of an index.
public struct IndexPart: Hashable, Sendable {
    public var column: ColumnID
    public var ascending: Bool
    public var collation: Collation

    public init(column: ColumnID, ascending: Bool, collation: Collation = .binary) {
        self.column = column
        self.ascending = ascending
        self.collation = collation
    }
}

/// An index over one table. Its entries are derived from the rows, never logged.
public struct IndexDefinition: Hashable, Sendable {
    public let id: IndexID
    public let table: TableID
    public let name: String
    /// The columns; empty if a registered extractor makes the keys.
    public let parts: [IndexPart]
    /// The name of the extractor in `StoreOptions.extractors`.
    public let extractorName: String?

    package init(id: IndexID, table: TableID, name: String, parts: [IndexPart], extractorName: String?) {
        (self.id, self.table, self.name, self.parts, self.extractorName) = (id, table, name, parts, extractorName)
    }

    /// Whether the index has several entries a row. Spec: FORMAT.md, "Keys".
    var hasTerms: Bool { extractorName?.hasPrefix("terms:") ?? false }
}

extension Catalog {
    /// Whether the index of a number has several entries a row.
    func hasTerms(_ index: Int) -> Bool { self.index(IndexID(rawValue: UInt16(index)))?.hasTerms ?? false }
}

/// Makes index keys from rows.
///
/// The same row must always give the same key: entries are not logged, and rebuilding an index makes them again.
public protocol IndexKeyExtractor: Sendable {
    /// Appends the key of `row`.
    /// - Returns: false if the index has no entry for the row.
    func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool
}

/// Makes several terms from a row, for an index that has one entry for each. Its name starts with "terms:".
public protocol IndexTermExtractor: IndexKeyExtractor {
    /// The columns that the terms depend on, by name; nil for all. An update that changes none of them changes no term.
    var columnNames: [String]? { get }

    /// Appends the terms of `row`, each once.
    func appendTerms(of row: UnsafeRowView, layout: RowLayout, to terms: TermList)
}

extension IndexTermExtractor {
    public func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool { false }
}

/// Makes keys from columns.
final class ColumnKeyExtractor: IndexKeyExtractor {
    private let parts: [IndexPart]

    init(_ parts: [IndexPart]) {
        self.parts = parts
    }

    func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
        for part in parts {
            key.append(column: layout.access(of: part.column), of: row, descending: !part.ascending)
        }
        return true
    }
}
