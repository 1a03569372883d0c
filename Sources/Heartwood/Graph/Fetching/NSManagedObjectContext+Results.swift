import Foundation
import RecordLog

/// Fetches of dictionaries. They describe the stores only, without the unsaved changes of any context.
extension NSManagedObjectContext {
    final func dictionaries(_ fetch: FetchSpecification, _ shape: ResultShape) throws -> [NSDictionary] {
        let reader = storeReader(), parts = try reader.storeQueries(for: fetch)
        if parts.count == 1, let ready = try reader.view(of: parts[0].store).dictionaries(parts[0].query) { return ready }
        let columns = ValueTable(shape.columns, fetch.entity).columns.map { (name: NSString(string: $0.name), kind: $0.kind) }
        var result: [NSDictionary] = []
        try forEachRow(fetch, shape) { cells in
            let dictionary = NSMutableDictionary(capacity: cells.count)
            for index in cells.indices {
                if let value = cells[index].object(kind: columns[index].kind) { dictionary.setObject(value, forKey: columns[index].name) }
            }
            result.append(dictionary)
            return true
        }
        return result
    }

    final func countResults(_ fetch: FetchSpecification, _ shape: ResultShape) throws -> Int {
        guard !shape.isPlain else {
            var stored = fetch
            stored.shape = nil
            stored.includesPendingChanges = false
            return try storeReader().count(stored)
        }
        return try runResults(fetch, shape)
    }

    /// Makes every result.
    /// - Returns: the number of results.
    final func runResults(_ fetch: FetchSpecification, _ shape: ResultShape) throws -> Int {
        var count = 0
        try forEachResult(fetch, shape) { _ in
            count += 1
            return true
        }
        return count
    }

    /// Calls `body` with the values of each result, in the order of the request's properties to fetch, until it returns false. Holds one
    /// batch of results at a time, unless sorting or grouping needs all.
    /// - Precondition: the request's type is `dictionaryResultType`.
    package final func forEachResult<ResultType>(
        _ request: NSFetchRequest<ResultType>, _ body: (UnsafeBufferPointer<RowCell>) throws -> Bool
    ) throws {
        checkQueue()
        let fetch = try FetchSpecification(request, context: self)
        guard let shape = fetch.shape else { preconditionFailure("a request for other results has no properties to give") }
        try forEachRow(fetch, shape, body)
    }

    /// Calls `body` with the values of each result. Where each object gives one result, they are read as typed values are.
    private func forEachRow(
        _ fetch: FetchSpecification, _ shape: ResultShape, _ body: (UnsafeBufferPointer<RowCell>) throws -> Bool
    ) throws {
        if shape.isPlain, shape.overall == nil, try forEachStoredRow(fetch, ValueTable(shape.columns, fetch.entity), body) { return }
        let types = shape.columns.map(\.type.codec)
        var cells: [RowCell] = []
        try forEachResult(fetch, shape) { values in
            cells.removeAll(keepingCapacity: true)
            for (value, type) in zip(values, types) { cells.append(RowCell(object: value.object(as: type))) }
            return try cells.withUnsafeBufferPointer(body)
        }
    }

    /// - Returns: false if rows do not suffice; `body` was not called then.
    private func forEachStoredRow(
        _ fetch: FetchSpecification, _ table: ValueTable, _ body: (UnsafeBufferPointer<RowCell>) throws -> Bool
    ) throws -> Bool {
        var fetch = fetch
        (fetch.shape, fetch.includesPendingChanges) = (nil, false)
        let reader = storeReader()
        return try withoutActuallyEscaping(body) { body in
            let isRead = try reader.readRows(table, fetch, into: CellRows(table, body))
            if isRead, reader !== self { lastQuery = reader.lastQuery }
            return isRead
        }
    }

    /// Calls `body` with values of each row that a request finds in the store, in the request's order, until it returns false.
    /// - Parameter body: also takes what names the objects of rows.
    /// - Returns: false if rows do not suffice; `body` was not called then.
    package final func forEachRow<ResultType>(
        _ request: NSFetchRequest<ResultType>, _ columns: [RowColumn],
        _ body: (UnsafeBufferPointer<RowCell>, RowNames) throws -> Bool
    ) throws -> Bool {
        checkQueue()
        let fetch = try FetchSpecification(request, context: self)
        guard let (store, _) = try onlyStoreQuery(for: fetch) else { return false }
        let names = RowNames { [self] in objectID(for: ObjectKey(rawValue: $0.rawValue &+ store.slotBase)) }
        return try forEachStoredRow(fetch, try ValueTable(columns, fetch.entity)) { try body($0, names) }
    }

    private func forEachResult(
        _ fetch: FetchSpecification, _ shape: ResultShape, _ body: ([PredicateValue]) throws -> Bool
    ) throws {
        var fetch = fetch
        fetch.shape = nil
        guard shape.overall == nil else { return try forEachResult(fetch, filled(shape, fetch), body) }
        let reader = storeReader()
        let limit = fetch.limit == 0 ? nil : fetch.limit, offset = fetch.offset
        if !shape.isPlain { (fetch.limit, fetch.offset) = (0, 0) }
        let parts = try reader.storeQueries(for: fetch)
        try withoutActuallyEscaping(body) { body in
            func sink() -> ResultSink { ResultSink(shape, limit: shape.isPlain ? nil : limit, offset: shape.isPlain ? 0 : offset, body) }
            if parts.count == 1, let (store, query) = parts.first,
                let statistics = try reader.view(of: store).tabulate(query, shape, into: sink()) {
                lastQuery = statistics
            } else {
                try tabulateObjects(fetch, shape, into: sink())
            }
        }
    }

    /// Fills a shape with the aggregates over all objects that the fetch finds, without its limit.
    private func filled(_ shape: ResultShape, _ fetch: FetchSpecification) throws -> ResultShape {
        guard let overall = shape.overall else { return shape }
        var fetch = fetch, found: [PredicateValue] = []
        (fetch.limit, fetch.offset) = (0, 0)
        try forEachResult(fetch, ResultShape(overall: overall)) { values in
            found = values
            return true
        }
        return shape.filled(found)
    }

    /// The context that reads the stores: this one, or a new one for a child and for a context with changes.
    private func storeReader() -> NSManagedObjectContext { parentContext == nil && pending.changeCount == 0 ? self : newReader() }

    /// Makes a private context without changes.
    final func newReader() -> NSManagedObjectContext {
        let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        reader.readState.generation = effectiveGeneration
        return reader
    }

    /// Evaluates expressions that rows do not suffice for, on the objects of a private context.
    private func tabulateObjects(_ fetch: FetchSpecification, _ shape: ResultShape, into sink: ResultSink) throws {
        let reader = newReader()
        var fetch = fetch
        fetch.returnsObjectsAsFaults = true
        fetch.readiness = FetchReadiness()
        let objects = try reader.fetchObjects(fetch)
        lastQuery = reader.lastQuery
        queries.lastQueryWasInMemory = true
        do {
            func values(_ nodes: [ExpressionNode], _ object: NSManagedObject) throws -> [PredicateValue] {
                let scope = PredicateScope(subject: object)
                let values = try nodes.map { try $0.value(scope).identified }
                if let failure = reader.readingFailure { throw failure }
                return values
            }
            guard let grouped = shape.groups else {
                let columns = shape.columns.map(\.expression), order = shape.order.map(\.expression)
                for object in objects where try !sink.take(try values(columns, object), order: try values(order, object)) { break }
                return try sink.finish()
            }
            let groups = ResultGroups(shape, grouped), key = KeyBuilder()
            var keys: [[PredicateValue]] = []
            for object in objects {
                let found = try values(grouped.keys, object)
                key.removeAll()
                for value in found { value.appendIdentity(to: key) }
                let group = groups.group(key.unsafeBuffer)
                if group.isNew { keys.append(found) }
                let arguments = try values(grouped.aggregates.map(\.argument), object)
                for (accumulator, argument) in zip(groups.accumulators, arguments) { accumulator.take(argument, of: group.number) }
            }
            try groups.finish(into: sink) { keys[$0][$1] }
        } catch let fault as PredicateFault {
            throw CoreDataError.unsupported("The fetch's expressions cannot be evaluated: \(fault.reason)")
        }
    }
}

extension PredicateValue {
    /// Replaces an object of the reader by its ID.
    fileprivate var identified: PredicateValue {
        if case .object(let object) = self { return .objectID(object.objectID) }
        return self
    }
}
