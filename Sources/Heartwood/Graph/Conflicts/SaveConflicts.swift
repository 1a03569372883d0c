/// Thrown by a store's `save`: the rows of these objects are not at the versions that the context read.
package struct VersionConflicts: Error, @unchecked Sendable {
    // Unchecked: thrown and caught within one save.
    let objects: [NSManagedObject]
    /// The coordinator's state of the store before the save; nil if the store keeps no state to compare.
    package var known: (any StoreView)?
}

/// Thrown by a store's `save`: the save would give several rows the same unique values.
package struct ConstraintViolations: Error, @unchecked Sendable {
    // Unchecked: thrown and caught within one save.
    struct Violation {
        let attributes: [String]
        /// The row that has the value, if the batch does not change or delete it.
        var holder: ObjectKey?
        var objects: [NSManagedObject]
    }

    let list: [Violation]
}
