import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Returns values of the objects that `request` describes, each row as a `Decodable` structure of the caller's.
    ///
    /// ```swift
    /// struct BookRow: Decodable {
    ///     let title: String?
    ///     let author: String?
    ///     enum CodingKeys: String, CodingKey { case title, author = "author.name" }
    /// }
    /// let rows = try context.values(Book.fetchRequest(), as: BookRow.self)
    /// ```
    ///
    /// A coding key is the name of an attribute or a path as in `AttributePath`. Order, window, condition and unsaved changes are as in the form with
    /// key paths, which is faster than Swift's decoding.
    /// - Throws: `DecodingError` where a key is no path of the entity, where a value is missing or of another type, and for a type that wants a list,
    ///   a nested container or a superclass's part; the errors of `fetch(_:)`.
    public final func values<Result, Row: Decodable>(_ request: NSFetchRequest<Result>, as type: Row.Type) throws -> [Row] {
        let fetch = try specification(ofValues: request)
        leaveReplacedFiles()
        adoptKeys()
        return try usingRows {
            do {
                if let rows = try decodeRows(type, fetch) { return rows }
            } catch is RowDecoder.NeedsObjects {
                // Nothing was given to the caller yet.
            }
            return try decodeObjects(type, fetch)
        }
    }

    private final func decodeRows<Row: Decodable>(_ type: Row.Type, _ fetch: FetchSpecification) throws -> [Row]? {
        guard isStored(fetch) else { return nil }
        let parts = try storeQueries(for: fetch)
        guard parts.count == 1, let (store, query) = parts.first else { return parts.isEmpty ? [] : nil }
        guard let (view, reader) = try valueReader(ValueTable(), query, in: store) else { return nil }
        let decoder = rowDecoder(fetch, reader), rows = RowList<Row>()
        defer { decoder.end() }
        let statistics = try readingRows(of: store) {
            try view.execute(query) { row in
                rows.append(try decoder.decode(type, row))
                return true
            }
        }
        if let statistics { lastQuery = statistics }
        return statistics == nil ? nil : rows.finish()
    }

    private final func decodeObjects<Row: Decodable>(_ type: Row.Type, _ fetch: FetchSpecification) throws -> [Row] {
        let (context, isOwn) = valueContext(fetch)
        let objects = try context.fetchObjects(fetch)
        if !isOwn { lastQuery = context.lastQuery }
        queries.lastQueryWasInMemory = true
        let decoder = rowDecoder(fetch, nil)
        defer { decoder.end() }
        return try objects.map { object in
            let row = try decoder.decode(type, object)
            if let failure = context.readingFailure { throw failure }
            return row
        }
    }

    private final func rowDecoder(_ fetch: FetchSpecification, _ reader: ValueBatchReader?) -> RowDecoder {
        RowDecoder(fetch.entity, reader, mayRead: { [self] column in
            var along = fetch
            along.columns = column.path.map { [$0] } ?? []
            return isStored(along)
        }, value: NSManagedObjectContext.value)
    }
}
