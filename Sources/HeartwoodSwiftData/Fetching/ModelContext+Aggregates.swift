import Foundation
import Heartwood

extension ModelContext {
    /// Counts, sums, means, least and greatest values over the models that a descriptor chooses, without models.
    ///
    /// ```swift
    /// let (count, pages) = try context.aggregate(FetchDescriptor<Book>(), .count, .sum(\.pages))
    /// ```
    ///
    /// A key path through an optional names its class, `.min(\Book.author?.born)`: the compiler does not find it otherwise.
    ///
    /// The store computes them. Models are fetched and read where it cannot: for a predicate or a key path that only the program can evaluate, and
    /// for unsaved changes, which count as the descriptor's `includePendingChanges` says.
    /// - Throws: as `fetch(_:)` does; 1610 for a sum that does not fit its type.
    /// - Complexity: O(models), or that of the plan.
    public func aggregate<T: PersistentModel, each Value>(
        _ descriptor: FetchDescriptor<T>, _ values: repeat Aggregate<T, each Value>
    ) throws -> (repeat each Value) {
        let areStored = AggregateColumns.areStored(repeat each values)
        guard let request = try storedRequest(descriptor, areStored) else {
            let models = try fetch(descriptor)
            return (repeat try (each values).reduce(models))
        }
        var columns = AggregateColumns()
        repeat try columns.add(each values)
        let rows = try managed.fetch(columns.request(request))
        var reader = AggregateReader(row: rows.first ?? [:])
        return (repeat try (each values).value(reader.next()))
    }

    /// The same for groups of models: those that have the same values of some properties.
    ///
    /// ```swift
    /// let groups = try context.aggregates(FetchDescriptor<Book>(), groupedBy: \.author?.name, values: .count, .max(\.pages))
    /// for (author, (count, longest)) in groups { … }
    /// ```
    ///
    /// The descriptor's order may sort by the properties that are grouped by. Without one the groups have no particular order.
    /// - Throws: as `aggregate(_:_:)` does; the stack's error 134091 for an order by other properties.
    /// - Complexity: O(models), or that of the plan; memory for each group.
    public func aggregates<T: PersistentModel, each Key: Hashable, each Value>(
        _ descriptor: FetchDescriptor<T>, groupedBy keys: repeat KeyPath<T, each Key>, values: repeat Aggregate<T, each Value>
    ) throws -> [(key: (repeat each Key), values: (repeat each Value))] {
        let areStored = AggregateColumns.areStored(repeat each values) && StoredColumns.areStored(repeat each keys)
        guard let request = try storedRequest(descriptor, areStored) else {
            return try groups(try fetch(descriptor), keys: repeat each keys).map { models in
                (key: (repeat models[0][keyPath: each keys]), values: (repeat try (each values).reduce(models)))
            }
        }
        var columns = AggregateColumns()
        repeat try columns.group(each keys)
        repeat try columns.add(each values)
        return try managed.fetch(columns.request(request)).map { row in
            var reader = AggregateReader(row: row, names: columns.keys)
            let key = (repeat try reader.key(each keys))
            return (key: key, values: (repeat try (each values).value(reader.next())))
        }
    }

    /// - Returns: nil where models have to be read.
    private func storedRequest<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ areStored: Bool) throws -> NSFetchRequest<ModelObject>? {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        // A fetch of dictionaries knows no unsaved changes, and its window is one of results. Another store's forms are known to models alone.
        guard areStored, filter == nil, request.fetchLimit == 0, request.fetchOffset == 0, !descriptor.includePendingChanges || !managed.hasChanges,
            !container.hasDataStores, !container.mapped.isFollowing
        else { return nil }
        return request
    }

    private func groups<T: PersistentModel, each Key: Hashable>(_ models: [T], keys: repeat KeyPath<T, each Key>) -> [[T]] {
        var places: [[AnyHashable]: Int] = [:], groups: [[T]] = []
        for model in models {
            var key: [AnyHashable] = []
            repeat key.append(AnyHashable(model[keyPath: each keys]))
            if let place = places[key] {
                groups[place].append(model)
            } else {
                places[key] = groups.count
                groups.append([model])
            }
        }
        return groups
    }
}

/// The columns of a fetch of aggregates.
private struct AggregateColumns {
    private(set) var keys: [String] = []
    private var properties: [Any] = []
    private var count = 0

    static func areStored<T: PersistentModel, each Value>(_ values: repeat Aggregate<T, each Value>) -> Bool {
        var areStored = true
        for value in repeat each values { areStored = areStored && value.isStored }
        return areStored
    }

    mutating func group<T: PersistentModel, Value>(_ keyPath: KeyPath<T, Value>) throws {
        let path = try ModelKeys.path(keyPath)
        keys.append(path)
        properties.append(path)
    }

    mutating func add<T: PersistentModel, Value>(_ aggregate: Aggregate<T, Value>) throws {
        properties.append(try aggregate.column(AggregateReader.name(count)))
        count += 1
    }

    func request(_ terms: NSFetchRequest<ModelObject>) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(terms)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = keys.isEmpty ? nil : keys
        request.relationshipKeyPathsForPrefetching = nil
        if keys.isEmpty { request.sortDescriptors = nil }
        return request
    }
}

/// Reads the columns of a row of aggregates, one after the other.
private struct AggregateReader {
    let row: NSDictionary
    var names: [String] = []
    private var count = 0
    private var keyCount = 0

    init(row: NSDictionary, names: [String] = []) { (self.row, self.names) = (row, names) }

    /// No property of a model has such a name.
    static func name(_ number: Int) -> String { "aggregate \(number)" }

    mutating func next() -> Any? {
        defer { count += 1 }
        return row[Self.name(count)]
    }

    /// - Throws: 1550 where a group has a value that the property's type does not have.
    mutating func key<T: PersistentModel, Key>(_ keyPath: KeyPath<T, Key>) throws -> Key {
        defer { keyCount += 1 }
        let found = row[names[keyCount]]
        guard let value = Self.value(found, Key.self) else {
            throw CocoaError(
                .managedObjectValidation, userInfo: [NSLocalizedDescriptionKey: "\(T.self).\(names[keyCount]) has no value of the type \(Key.self)."])
        }
        return value
    }

    /// A scalar, the case of a raw value, or an identifier; and optionals of them.
    private static func value<Key>(_ object: Any?, _: Key.Type) -> Key? {
        guard let object else { return (Key.self as? any OptionalValue.Type)?.init(nilLiteral: ()) as? Key }
        if let id = object as? NSManagedObjectID { return PersistentIdentifier(id) as? Key }
        let type = Unwrapping.wrapped(Key.self)
        if let scalar = type as? any _PersistentScalar.Type { return scalar.init(_object: object) as? Key }
        return (type as? any RawRepresentable.Type).flatMap { representable($0, object) } as? Key
    }

    private static func representable<Value: RawRepresentable>(_: Value.Type, _ object: Any) -> Any? {
        guard let raw = Value.RawValue.self as? any _PersistentScalar.Type else { return nil }
        return (raw.init(_object: object) as? Value.RawValue).flatMap(Value.init(rawValue:))
    }
}
