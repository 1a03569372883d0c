import Foundation

/// The part of a batch request that one store executes.
package enum StoreBatch {
    case insert(BatchInsertion)
    case update(BatchUpdate)
    case delete(BatchTarget)
}

/// The objects that a batch request targets.
package enum BatchTarget {
    case query(StoreQuery)
    /// Keys of objects that no longer exist are ignored.
    case keys([ObjectKey])
}

package struct BatchInsertion {
    package let runtime: EntityRuntime
    package let rows: BatchRows
    /// Decides about a row whose unique values another row has.
    package let policy: NSMergePolicyType
    /// 0 for all rows in one commit.
    package let rowsPerCommit: Int
    package let counted = CountedRows()
}

package struct BatchUpdate {
    package let target: BatchTarget
    package let values: [(name: String, value: Any)]
}

/// The objects that a batch request has inserted, updated or deleted.
package struct BatchOutcome {
    let collectsKeys: Bool
    private(set) var count = 0
    private(set) var keys: [ObjectKey] = []

    init(collectsKeys: Bool) {
        self.collectsKeys = collectsKeys
    }

    /// - Parameter isCounted: false for a row that the request affects but does not target.
    package mutating func add(_ key: ObjectKey, isCounted: Bool = true) {
        if isCounted { count += 1 }
        if collectsKeys { keys.append(key) }
    }

    mutating func add(_ other: BatchOutcome) {
        count += other.count
        keys += other.keys
    }
}

/// Thrown by a store whose rows cannot answer a query; nothing was changed.
package struct UnansweredQuery: Error {
    package init() {}
}

/// Thrown by a store when a batch request would give two rows the same unique values.
package struct BatchConstraintViolation: Error {
    let attributes: [String]
    /// The row that has the values.
    let holder: ObjectKey

    package init(_ attributes: [String], holder: ObjectKey) {
        self.attributes = attributes
        self.holder = holder
    }
}
