import Foundation
import Heartwood

extension ModelContext {
    /// The values of properties of the models that a descriptor chooses, as tuples, without models.
    ///
    /// ```swift
    /// let rows = try context.values(FetchDescriptor<Book>(), \.title, \.author?.name)  // [(String, String?)]
    /// ```
    ///
    /// The rows have the descriptor's order, window and condition. With one key path the result is an array of its values. `persistentModelID` may be
    /// among them. Models are fetched and read where the store cannot give the rows: for a predicate or a key path that only the program can
    /// evaluate, such as a computed property or a structure, and for a store that Apple's SwiftData or Core Data's code has made in forms of its own.
    /// - Throws: as `fetch(_:)` does; and the stack's error 1570 or 1550 for a value that is missing, or does not fit.
    /// - Complexity: as `fetch(_:)`, and O(key paths) for each row.
    public func values<T: PersistentModel, each Value>(
        _ descriptor: FetchDescriptor<T>, _ keyPaths: repeat KeyPath<T, each Value>
    ) throws -> [(repeat each Value)] {
        takeInSaves()
        let (request, filter) = try request(descriptor)
        if filter == nil, !container.mapped.isFollowing, StoredColumns.areStored(repeat each keyPaths) {
            return try managed.values(request, repeat AttributePath<each Value>(ModelKeys.path(each keyPaths)))
        }
        return try fetch(descriptor).map { model in (repeat model[keyPath: each keyPaths]) }
    }
}

/// Tells which key paths a store gives the values of.
enum StoredColumns {
    static func areStored<T: PersistentModel, each Value>(_ keyPaths: repeat KeyPath<T, each Value>) -> Bool {
        var areStored = true
        for keyPath in repeat each keyPaths { areStored = areStored && isStored(keyPath) }
        return areStored
    }

    /// Whether a row has the value as it is: a scalar, a case by its raw value, an identifier.
    static func isStored<T: PersistentModel, Value>(_ keyPath: KeyPath<T, Value>) -> Bool {
        guard let path = try? PropertyPath.of(keyPath, root: ModelType.of(T.self)) else { return false }
        let type = Unwrapping.wrapped(Value.self)
        // A number without a sign is kept as the signed one of the same bits.
        if type is any UnsignedInteger.Type { return false }
        if type == PersistentIdentifier.self { return true }
        guard let property = path.property, case .attribute(let coding) = property.kind else { return false }
        if path.hasElements { return type is any _PersistentScalar.Type }
        switch coding.form {
        case .scalar: return type is any _PersistentScalar.Type
        case .raw: return type is any RawRepresentable.Type || type is any _PersistentScalar.Type
        case .composite, .json, .transformable: return false
        }
    }
}
