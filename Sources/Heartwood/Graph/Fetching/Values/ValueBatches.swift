import Dispatch
import Foundation
import RecordLog

/// Rows of values, read a batch at a time from one state of the store, whatever is saved meanwhile.
///
/// A record log's rows are found at once, eight bytes each, and their values are read batch by batch. Unsaved changes, other stores, a child
/// context and a fetch over several stores have all values read at once. The batches need no context any more: any thread may ask for the next one,
/// one thread at a time.
public final class ValueBatches<Row>: @unchecked Sendable {
    // Unchecked: `next` holds the lock.
    private let lock = NSLock()
    private let size: Int
    private var source: Source

    enum Source {
        case made(ArraySlice<Row>)
        case rows(ArraySlice<RowReference>, ValueBatchReader, RecordLogView)
    }

    init(_ source: Source, size: Int) {
        self.source = source
        self.size = Swift.max(size, 1)
    }

    /// Returns the next rows, `size` of them or the last ones; nil at the end.
    /// - Throws: the errors of a value that is missing or does not fit, and of reading the store. The batch is then left out.
    public func next() throws -> [Row]? {
        lock.lock()
        defer { lock.unlock() }
        switch source {
        case .made(let rows):
            guard !rows.isEmpty else { return nil }
            source = .made(rows.dropFirst(size))
            return Array(rows.prefix(size))
        case .rows(let references, let reader, let view):
            guard !references.isEmpty else { return nil }
            source = .rows(references.dropFirst(size), reader, view)
            let rows = RowList<Row>(expected: Swift.min(size, references.count))
            try view.read(references.prefix(size), reader, into: rows)
            return rows.finish()
        }
    }
}

/// `for try await` reads each batch on another thread than the caller's.
extension ValueBatches: AsyncSequence {
    public struct AsyncIterator: AsyncIteratorProtocol {
        let batches: ValueBatches<Row>

        public mutating func next() async throws -> [Row]? {
            let batches = batches
            try Task.checkCancellation()
            let rows = try await withCheckedThrowingContinuation { continuation in
                // The rows are new, and nobody else has them.
                DispatchQueue.global().async { continuation.resume(with: Result { Confined(value: try batches.next()) }) }
            }
            return rows.value
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(batches: self) }
}

extension NSManagedObjectContext {
    /// Returns the values that `values(_:_:)` gives, in batches that are read when they are asked for.
    ///
    /// ```swift
    /// let batches = try context.valueBatches(Book.fetchRequest(), \.title, \.pages, size: 500)
    /// while let rows = try batches.next() { … }     // or: for try await rows in batches
    /// ```
    /// - Parameter size: the rows of a batch.
    /// - Throws: as `values(_:_:)`, for what is known before the values are read.
    public final func valueBatches<Entity: NSManagedObject, each Value>(
        _ request: NSFetchRequest<Entity>, _ attributes: repeat KeyPath<Entity, each Value>, size: Int = 1000
    ) throws -> ValueBatches<(repeat each Value)> { try valueBatches(request, repeat AttributePath(each attributes), size: size) }

    /// Returns values by the names of their attributes, in batches. The form with key paths describes it.
    public final func valueBatches<Result, each Value>(
        _ request: NSFetchRequest<Result>, _ attributes: repeat AttributePath<each Value>, size: Int = 1000
    ) throws -> ValueBatches<(repeat each Value)> {
        let fetch = try specification(ofValues: request)
        return try batches(try ValueTable(repeat each attributes, of: fetch.entity), fetch, size)
    }

    private final func batches<Row>(_ table: ValueTable, _ fetch: FetchSpecification, _ size: Int) throws -> ValueBatches<Row> {
        let found = try readingValues(table, fetch) { try foundRows(table, $0) }
        if let (rows, reader, view) = found { return ValueBatches(.rows(rows[...], reader, view), size: size) }
        return ValueBatches(.made(try rows(table, of: fetch)[...]), size: size)
    }

    /// The rows of a fetch of values in one record log; nil where others have to be asked.
    private final func foundRows(_ table: ValueTable, _ fetch: FetchSpecification) throws -> ([RowReference], ValueBatchReader, RecordLogView)? {
        guard isStored(fetch), let (store, query) = try onlyStoreQuery(for: fetch), let (found, reader) = try valueReader(table, query, in: store),
            let view = found.logView
        else { return nil }
        var rows: [RowReference] = []
        let statistics = try readingRows(of: store) {
            try view.execute(query) { row in
                rows.append(row.reference)
                return true
            }
        }
        guard let statistics else { return nil }
        lastQuery = statistics
        return (rows, reader, view)
    }
}
