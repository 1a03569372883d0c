/// Thrown by a store's `save`: rows that are not at the version at which the batch's objects were read.
struct VersionConflicts: Error, @unchecked Sendable {
    // Unchecked: thrown and caught within one save.
    let objects: [NSManagedObject]
    /// What the coordinator knew of the store before the save; nil where the store keeps nothing to compare.
    var known: StoreView?
}

/// Thrown by a store's `save`: values that must be unique and are not.
struct ConstraintViolations: Error, @unchecked Sendable {
    // Unchecked: thrown and caught within one save.
    struct Violation {
        let attributes: [String]
        /// The row that has the value, where the batch does not change or delete it.
        var holder: ObjectKey?
        var objects: [NSManagedObject]
    }

    let list: [Violation]
}
