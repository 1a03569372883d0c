import Foundation

/// A set of objects in a save that break one uniqueness constraint: with a row of the store, or with each other.
/// Source: https://developer.apple.com/documentation/coredata/nsconstraintconflict
open class NSConstraintConflict: NSObject {
    /// The attributes that must be unique together.
    open private(set) var constraint: [String]
    /// The values that occur twice, by attribute.
    open private(set) var constraintValues: [String: Any]
    /// The object whose row already has the values; nil if objects of the context conflict with each other.
    open private(set) var databaseObject: NSManagedObject?
    /// The values of that row; relationships as object IDs.
    open private(set) var databaseSnapshot: [String: Any]?
    /// The objects of the save that have the values, in the order in which they were first changed.
    open private(set) var conflictingObjects: [NSManagedObject]
    /// The values with which each of them was read; empty for an inserted object.
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

    /// Makes an empty conflict, for subclasses in tests.
    public convenience override init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    open override var description: String {
        let values = constraint.map { "\($0) = \(ValueText.of(constraintValues[$0]))" }.joined(separator: ", ")
        let holder = databaseObject.map { "the store's \($0.objectID.uriRepresentation().absoluteString)" } ?? "one another"
        let count = conflictingObjects.count
        return "<NSConstraintConflict on \(values): \(count) \(count == 1 ? "object conflicts" : "objects conflict") with \(holder)>"
    }
}
