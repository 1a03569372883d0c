import Foundation

/// What a batch request asks of one store.
enum StoreBatch {
    case insert(BatchInsertion)
    case update(BatchUpdate)
    case delete(BatchTarget)
}

/// Which objects a batch request is about.
enum BatchTarget {
    case query(StoreQuery)
    /// Those of them that are there.
    case keys([ObjectKey])
}

struct BatchInsertion {
    let runtime: EntityRuntime
    let rows: BatchRows
    /// What becomes of a row whose unique values are taken.
    let policy: NSMergePolicyType
    /// 0: all of them.
    let rowsPerCommit: Int
    let counted = CountedRows()
}

struct BatchUpdate {
    let target: BatchTarget
    let values: [(name: String, value: Any)]
}

/// The objects that a batch request has inserted, updated or deleted.
struct BatchOutcome {
    let collectsKeys: Bool
    private(set) var count = 0
    private(set) var keys: [ObjectKey] = []

    init(collectsKeys: Bool) {
        self.collectsKeys = collectsKeys
    }

    /// - Parameter isCounted: false for what follows from the request, and is none of the objects that it is about.
    mutating func add(_ key: ObjectKey, isCounted: Bool = true) {
        if isCounted { count += 1 }
        if collectsKeys { keys.append(key) }
    }

    mutating func add(_ other: BatchOutcome) {
        count += other.count
        keys += other.keys
    }
}

/// Thrown by a store whose rows cannot tell which objects a query matches; nothing was changed.
struct UnansweredQuery: Error {}

/// Thrown by a store: values of a batch request that must be unique and are not.
struct BatchConstraintViolation: Error {
    let attributes: [String]
    /// The row that has the values.
    let holder: ObjectKey

    init(_ attributes: [String], holder: ObjectKey) {
        self.attributes = attributes
        self.holder = holder
    }
}
