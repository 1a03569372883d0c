/// Merges the cursors of several runs of one index into one ordered scan. Of equal entries the newest run's is valid, and a tombstone
/// hides the older ones.
///
/// Invariant: `order` holds the cursors that have an entry, by entry in the direction of the scan, equal ones newest first.
final class MergeCursor {
    /// Newest first. Keeps the cursors in `order` alive.
    private let cursors: [RunCursor]
    private let isDescending: Bool
    private let keepsTombstones: Bool
    private let order: UnsafeMutablePointer<Input>
    private var count = 0
    private var isStarted = false
    /// Whether the first two cursors may have equal entries: false if the first was just found to be before the second.
    private var mayBeEqual = true

    private struct Input {
        let cursor: Unmanaged<RunCursor>
        /// The run's age: 0 for the newest.
        let age: Int
    }

    init(cursors: [RunCursor], isDescending: Bool, keepsTombstones: Bool) {
        self.cursors = cursors
        self.isDescending = isDescending
        self.keepsTombstones = keepsTombstones
        order = .allocate(capacity: max(1, cursors.count))
        for (age, cursor) in cursors.enumerated() where cursor.isValid {
            (order + count).initialize(to: Input(cursor: .passUnretained(cursor), age: age))
            count += 1
            var index = count - 1
            while index > 0, isAfter(index - 1, index) {
                swap(&order[index - 1], &order[index])
                index -= 1
            }
        }
    }

    deinit {
        order.deallocate()
    }

    @inline(__always)
    private func key(_ index: Int) -> UnsafeRawBufferPointer { order[index].cursor._withUnsafeGuaranteedRef { $0.key } }

    /// The entry that the last `next` found; valid until the next one.
    @inline(__always)
    var entry: UnsafeRawBufferPointer { count > 0 ? key(0) : UnsafeRawBufferPointer(start: nil, count: 0) }
    var isTombstone: Bool { count > 0 && order[0].cursor._withUnsafeGuaranteedRef { $0.isTombstone } }

    /// Whether the cursor at `a` belongs behind the one at `b`.
    @inline(__always)
    private func isAfter(_ a: Int, _ b: Int) -> Bool {
        let difference = KeyBytes.compare(key(a), key(b))
        if difference == 0 { return order[a].age > order[b].age }
        return (difference > 0) != isDescending
    }

    /// Moves to the next entry.
    /// - Returns: false at the end.
    func next() throws(StoreError) -> Bool {
        if isStarted, count > 0 { try advance(0) }
        isStarted = true
        while count > 0 {
            // Skips the equal entries of older runs.
            while count > 1, mayBeEqual, KeyBytes.compare(key(0), key(1)) == 0 { try advance(1) }
            if keepsTombstones || !isTombstone { return true }
            try advance(0)
        }
        return false
    }

    /// Goes on to the first entry at or after `key`, which is in no cursor's memory; stays where it is if it is past it. Ascending only.
    /// - Returns: false at the end.
    /// - Complexity: O(runs · log entries).
    func seek(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        var kept = 0
        for index in 0..<count {
            let input = order[index]
            try input.cursor.guaranteed { cursor throws(StoreError) in try cursor.seek(key) }
            guard input.cursor._withUnsafeGuaranteedRef({ $0.isValid }) else { continue }
            order[kept] = input
            var at = kept
            while at > 0, isAfter(at - 1, at) {
                swap(&order[at - 1], &order[at])
                at -= 1
            }
            kept += 1
        }
        count = kept
        mayBeEqual = true
        isStarted = false
        return try next()
    }

    /// Takes the next entries' rows, as many as the buffer holds.
    /// - Returns: the number of rows; fewer than the buffer holds only at the end.
    func take(_ table: TableID, into rows: UnsafeMutableBufferPointer<RowReference>) throws(StoreError) -> Int {
        guard !rows.isEmpty else { return 0 }
        var taken = 0
        try forEach { entry in
            rows[taken] = RowReference(table: table, row: IndexEntry.row(of: entry))
            taken &+= 1
            return taken < rows.count
        }
        return taken
    }

    /// Takes the rows of the next entry and of those behind it with the same key, as many as are at hand and the buffer, which is not empty, holds.
    /// - Returns: the number of rows; 0 at the end.
    func takePiece(into rows: UnsafeMutableBufferPointer<UInt64>) throws(StoreError) -> Int {
        guard try next() else { return 0 }
        rows[0] = IndexEntry.row(of: entry)
        guard count == 1 else { return 1 }
        let rest = UnsafeMutableBufferPointer(rebasing: rows[1...])
        return 1 &+ order[0].cursor._withUnsafeGuaranteedRef { $0.takeSteps(into: rest) }
    }

    /// Calls `body` with the following entries until it returns false.
    @inline(__always)
    func forEach(_ body: (UnsafeRawBufferPointer) -> Bool) throws(StoreError) {
        if isStarted, count > 0 { try advance(0) }
        // The current entry is the first one for `body`.
        isStarted = false
        var goesOn = true
        while count > 0, goesOn {
            while count > 1, mayBeEqual, KeyBytes.compare(key(0), key(1)) == 0 { try advance(1) }
            let cursor = order[0].cursor.takeUnretainedValue()
            let hasOthers = count > 1, bound = hasOthers ? key(1) : cursor.key
            // While this cursor is before all others, only the second's entry needs a comparison.
            repeat {
                if keepsTombstones || !cursor.isTombstone { goesOn = body(cursor.key) }
                try cursor.advance()
            } while cursor.isValid && goesOn && (!hasOthers || isBefore(cursor.key, bound))
            settle(0)
        }
    }

    @inline(__always)
    private func isBefore(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        let difference = KeyBytes.compare(a, b)
        return difference != 0 && (difference < 0) != isDescending
    }

    /// Advances one cursor.
    @inline(__always)
    private func advance(_ index: Int) throws(StoreError) {
        try order[index].cursor.guaranteed { cursor throws(StoreError) in try cursor.advance() }
        settle(index)
    }

    /// Restores the order after a cursor has moved.
    @inline(__always)
    private func settle(_ index: Int) {
        mayBeEqual = true
        if !order[index].cursor._withUnsafeGuaranteedRef({ $0.isValid }) {
            count &-= 1
            var at = index
            while at < count {
                order[at] = order[at &+ 1]
                at &+= 1
            }
            return
        }
        if index == 0, count > 1, isBefore(key(0), key(1)) {
            mayBeEqual = false
            return
        }
        var at = index
        while at &+ 1 < count, isAfter(at, at &+ 1) {
            let moved = order[at]
            order[at] = order[at &+ 1]
            order[at &+ 1] = moved
            at &+= 1
        }
    }
}
