import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Returns values of the objects that `request` describes, as tuples, without making objects.
    ///
    /// ```swift
    /// let rows = try context.values(Book.fetchRequest(), \.title, \.pages)  // [(String?, Int64)]
    /// ```
    ///
    /// The rows have the request's order, window and condition. Unsaved changes count as the request's `includesPendingChanges` says. With one key
    /// path the result is an array of its values.
    /// - Throws: 134091 if a key path reads no property as it is, or its type does not fit the property's; 1570 for a value that is missing where
    ///   the type is not optional; 1550 for one that does not fit; the errors of `fetch(_:)`.
    /// - Complexity: as `fetch(_:)`, and O(columns) for each row. If unsaved changes of this context concern the fetch, in a child context, and in a
    ///   store that has no rows to read, objects are made.
    public final func values<Entity: NSManagedObject, each Value>(
        _ request: NSFetchRequest<Entity>, _ attributes: repeat KeyPath<Entity, each Value>
    ) throws -> [(repeat each Value)] { try values(request, repeat AttributePath(each attributes)) }

    /// Returns values by the names of their attributes. The form with key paths describes it.
    public final func values<Result, each Value>(
        _ request: NSFetchRequest<Result>, _ attributes: repeat AttributePath<each Value>
    ) throws -> [(repeat each Value)] {
        let fetch = try specification(ofValues: request)
        return try rows(try ValueTable(repeat each attributes, of: fetch.entity), of: fetch)
    }

    final func specification<Result>(ofValues request: NSFetchRequest<Result>) throws -> FetchSpecification {
        checkQueue("values")
        guard !request.resultType.contains(.dictionaryResultType) else {
            throw CoreDataError.unsupported(
                "A fetch of values has no resultType dictionaryResultType: name the values in the call, and use fetch(_:) for groups.")
        }
        return try FetchSpecification(request, context: self)
    }

    // MARK: Rows

    /// Returns the rows of a fetch.
    /// - Parameter table: lies in memory as `Row` does.
    final func rows<Row>(_ table: ValueTable, of fetch: FetchSpecification) throws -> [Row] {
        try readingValues(table, fetch) { fetch in
            if let rows: [Row] = try wholeTables(table, fetch) { return rows }
            let rows = RowList<Row>()
            if try !readRows(table, fetch, into: rows) { try readObjects(table, fetch, into: rows) }
            return rows.finish()
        }
    }

    /// Reads values of a fetch's objects into a sink.
    final func read(_ table: ValueTable, of fetch: FetchSpecification, into sink: any ValueSink) throws {
        try readingValues(table, fetch) { fetch in
            if try !readRows(table, fetch, into: sink) { try readObjects(table, fetch, into: sink) }
        }
    }

    /// Calls `body` with a fetch that has the paths of the values.
    final func readingValues<Result>(
        _ table: ValueTable, _ fetch: FetchSpecification, _ body: (FetchSpecification) throws -> Result
    ) throws -> Result {
        leaveReplacedFiles()
        var fetch = fetch
        fetch.readiness = FetchReadiness()
        fetch.columns = table.columns.compactMap(\.path)
        adoptKeys()
        return try usingRows {
            do { return try body(fetch) } catch let fault as ColumnFault { throw fault.error(nil) }
        }
    }

    /// Whether no unsaved change concerns a fetch of values.
    final func isStored(_ fetch: FetchSpecification) -> Bool {
        guard parentContext == nil else { return false }
        return pending.changeCount == 0 || !fetch.includesPendingChanges || pendingObjects(for: fetch).isEmpty && !isChangedAlong(fetch)
    }

    /// - Returns: false if the stores' rows do not suffice; the sink has received nothing then.
    final func readRows(_ table: ValueTable, _ fetch: FetchSpecification, into sink: any ValueSink) throws -> Bool {
        guard isStored(fetch) else { return false }
        let parts = try storeQueries(for: fetch)
        guard parts.count < 2 else { return false }
        for (store, query) in parts {
            guard let (view, reader) = try valueReader(table, query, in: store) else { return false }
            let statistics: QueryStatistics? = try readingRows(of: store) {
                guard let statistics = try view.execute(query, { try reader.append($0, to: sink) }) else { return nil }
                _ = try reader.flush(to: sink)
                return statistics
            }
            guard let statistics else { return false }
            lastQuery = statistics
        }
        return true
    }

    /// All rows of a record log's tables, if the fetch asks for them and several threads may read the values.
    private final func wholeTables<Row>(_ table: ValueTable, _ fetch: FetchSpecification) throws -> [Row]? {
        guard isStored(fetch), let (store, query) = try onlyStoreQuery(for: fetch), query.isForAll, let view = try view(of: store).logView,
            let values = try view.wholeTables(table, query)
        else { return nil }
        let rows = try [Row](unsafeUninitializedCapacity: values.capacity) { memory, count in
            guard let start = memory.baseAddress else { return }
            count = try readingRows(of: store) { try values.read(into: UnsafeMutableRawPointer(start)) }
        }
        lastQuery = values.statistics
        return rows
    }

    /// The query of a fetch over one store.
    final func onlyStoreQuery(for fetch: FetchSpecification) throws -> (store: NSPersistentStore, query: StoreQuery)? {
        let parts = try storeQueries(for: fetch)
        return parts.count == 1 ? parts.first.map { ($0.store, $0.query) } : nil
    }

    /// Reads rows of a store, whose faults become errors of the stack.
    final func readingRows<Result>(of store: NSPersistentStore, _ body: () throws -> Result) throws -> Result {
        try ColumnFault.reported(body) { [self] in objectID(for: ObjectKey(rawValue: $0.rawValue &+ store.slotBase)) }
    }

    /// The view of a query's store, and what reads values from its rows; nil where its rows do not suffice.
    final func valueReader(
        _ table: ValueTable, _ query: StoreQuery, in store: NSPersistentStore
    ) throws -> (view: any StoreView, reader: ValueBatchReader)? {
        let view = try view(of: store)
        guard !view.answersRequests else { return nil }
        return try view.valueReader(table, query.runtimes).map { (view, $0) }
    }

    // MARK: Objects

    /// Reads values from objects: where this context's changes count those of this context, else those of a reader.
    private func readObjects(_ table: ValueTable, _ fetch: FetchSpecification, into sink: any ValueSink) throws {
        let (context, isOwn) = valueContext(fetch)
        let objects = try context.fetchObjects(fetch)
        if !isOwn { lastQuery = context.lastQuery }
        queries.lastQueryWasInMemory = true
        let rows = isOwn ? try UnchangedRows(table, fetch, self) : nil
        for object in objects {
            if let rows, !object.hasChanges, let isWanted = try rows.append(object, to: sink) {
                guard isWanted else { return }
                continue
            }
            guard try rows?.flush(to: sink) ?? true else { return }
            do {
                try table.put(at: sink.room(1)) { try Self.value(of: $0, object) }
            } catch let fault as ColumnFault {
                throw fault.error(object.objectID)
            } catch let fault as PredicateFault {
                throw CoreDataError.unsupported("The fetch's expressions cannot be evaluated: \(fault.reason)")
            }
            let isWanted = try sink.take(1)
            if let failure = context.readingFailure { throw failure }
            guard isWanted else { return }
        }
        _ = try rows?.flush(to: sink)
    }

    /// The context whose objects have a fetch's values: this one, or a reader where no change of it counts.
    final func valueContext(_ fetch: FetchSpecification) -> (context: NSManagedObjectContext, isOwn: Bool) {
        let isOwn = parentContext != nil || fetch.includesPendingChanges && pending.changeCount > 0
        return (isOwn ? self : newReader(), isOwn)
    }

    static func value(of column: ValueColumn, _ object: NSManagedObject) throws -> (PredicateValue, isMissing: Bool) {
        if column.isObject, let path = column.path {
            let value = object.value(forKeyPath: path.joined(separator: "."))
            return (value.map { .other($0 as AnyObject) } ?? .null, false)
        }
        let value = try column.expression.value(PredicateScope(subject: object))
        guard value.isNull, column.ifNull != nil, let path = column.path, path.count > 1 else { return (value, false) }
        return (value, try ExpressionNode.keyPath(path.dropLast()).value(PredicateScope(subject: object)).isNull)
    }
}

/// Reads the rows of objects that a context has not changed, whose own values may be older.
private final class UnchangedRows {
    private unowned let context: NSManagedObjectContext
    private let store: NSPersistentStore
    private let view: any StoreView
    private let reader: ValueBatchReader

    /// - Returns: nil where objects have to be asked: in a child context, and where a path leads through changed objects.
    init?(_ table: ValueTable, _ fetch: FetchSpecification, _ context: NSManagedObjectContext) throws {
        guard context.parentContext == nil, !context.isChangedAlong(fetch) else { return nil }
        guard let (store, query) = try context.onlyStoreQuery(for: fetch) else { return nil }
        guard let (view, reader) = try context.valueReader(table, query, in: store) else { return nil }
        (self.context, self.store, self.view, self.reader) = (context, store, view, reader)
    }

    /// - Returns: whether the sink wants more; nil where the object itself has to be asked.
    func append(_ object: NSManagedObject, to sink: any ValueSink) throws -> Bool? {
        guard let row = try view.row(object.key) else { return nil }
        return try context.readingRows(of: store) { try reader.append(row, to: sink) }
    }

    func flush(to sink: any ValueSink) throws -> Bool { try context.readingRows(of: store) { try reader.flush(to: sink) } }
}
