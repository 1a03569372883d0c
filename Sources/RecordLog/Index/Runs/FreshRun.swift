/// A run of an index that no checkpoint has written to the store's file yet.
enum FreshRun: Sendable {
    case memory(ImmutableMemtable)
    /// In a scratch file, since a transaction had too many entries for memory.
    case spilled(SortedRun)

    var isInMemory: Bool {
        if case .memory = self { true } else { false }
    }

    func isSame(as other: FreshRun) -> Bool {
        switch (self, other) {
        case (.memory(let run), .memory(let other)): run === other
        case (.spilled(let run), .spilled(let other)): run === other
        default: false
        }
    }

    /// An upper bound of the number of entries.
    var countMax: Int {
        switch self {
        case .memory(let run): run.countMax
        case .spilled(let run): Int(clamping: run.entryCount)
        }
    }

    var byteCount: Int {
        switch self {
        case .memory(let run): run.byteCount
        case .spilled(let run): Int(clamping: run.byteCount)
        }
    }

    func cursor(_ range: KeyRange, isDescending: Bool) throws(StoreError) -> RunCursor {
        switch self {
        case .memory(let run): RunCursor.over(run, range, isDescending: isDescending)
        case .spilled(let run): try RunCursor.over(run, range, isDescending: isDescending)
        }
    }

    /// The first entry that starts with `key`; nil if there is none.
    func first(prefix key: UnsafeRawBufferPointer) throws(StoreError) -> (row: UInt64, isTombstone: Bool)? {
        switch self {
        case .memory(let run): run.first(prefix: key)
        case .spilled(let run): try run.first(prefix: key)
        }
    }

    /// The number of entries in a range, tombstones included.
    func count(_ range: KeyRange) throws(StoreError) -> Int {
        switch self {
        case .memory(let run): run.count(range)
        case .spilled(let run): try run.count(range)
        }
    }
}
