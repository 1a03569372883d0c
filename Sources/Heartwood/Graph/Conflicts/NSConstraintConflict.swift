import Foundation

/// Objects of a save that would break one uniqueness constraint: with a row of the store, or among themselves.
/// Source: https://developer.apple.com/documentation/coredata/nsconstraintconflict
open class NSConstraintConflict: NSObject {
    /// The attributes that the model calls unique together.
    open private(set) var constraint: [String]
    /// The values that are taken, by attribute.
    open private(set) var constraintValues: [String: Any]
    /// The object whose row has the values already; nil where objects of the context conflict among themselves.
    open private(set) var databaseObject: NSManagedObject?
    /// The values of that row; relationships as object IDs.
    open private(set) var databaseSnapshot: [String: Any]?
    /// The objects of the save that have the values, in the order in which they were first changed.
    open private(set) var conflictingObjects: [NSManagedObject]
    /// For each of them the values that it was read with; empty for one that was inserted.
    open private(set) var conflictingSnapshots: [[AnyHashable: Any]]

    public init(
        constraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
        conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
    ) {
        self.constraint = constraint
        self.databaseObject = databaseObject
        var snapshot: [String: Any]?
        for case (let key as String, let value) in databaseSnapshot ?? [:] { snapshot = (snapshot ?? [:]).merging([key: value]) { $1 } }
        self.databaseSnapshot = snapshot
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
        var values: [String: Any] = [:]
        if let object = conflictingObjects.first ?? databaseObject {
            for name in constraint { values[name] = object.value(forKey: name) ?? NSNull() }
        }
        constraintValues = values
        super.init()
    }

    /// A conflict of nothing, as a test's own class starts from.
    public convenience override init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    open override var description: String {
        let values = constraint.map { "\($0) = \(ValueText.of(constraintValues[$0]))" }.joined(separator: ", ")
        let holder = databaseObject.map { "the store's \($0.objectID.uriRepresentation().absoluteString)" } ?? "one another"
        return "<NSConstraintConflict on \(values): \(conflictingObjects.count) objects conflict with \(holder)>"
    }
}
