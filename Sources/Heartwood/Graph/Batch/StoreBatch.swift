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
    let runtime: EntityRuntime
    let rows: BatchRows
    /// Decides about a row whose unique values another row has.
    let policy: NSMergePolicyType
    /// 0 for all rows in one commit.
    let rowsPerCommit: Int
    let counted = CountedRows()
}

package struct BatchUpdate {
    let target: BatchTarget
    let values: [(name: String, value: Any)]
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
    mutating func add(_ key: ObjectKey, isCounted: Bool = true) {
        if isCounted { count += 1 }
        if collectsKeys { keys.append(key) }
    }

    mutating func add(_ other: BatchOutcome) {
        count += other.count
        keys += other.keys
    }
}

/// Thrown by a store whose rows cannot answer a query; nothing was changed.
package struct UnansweredQuery: Error {}

/// Thrown by a store when a batch request would give two rows the same unique values.
package struct BatchConstraintViolation: Error {
    let attributes: [String]
    /// The row that has the values.
    let holder: ObjectKey

    init(_ attributes: [String], holder: ObjectKey) {
        self.attributes = attributes
        self.holder = holder
    }
}
