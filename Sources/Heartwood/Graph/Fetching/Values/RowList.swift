/// Collects rows of values for an array.
///
/// Invariant: the first `count` rows are initialized.
final class RowList<Row>: ValueSink {
    private var rows: UnsafeMutablePointer<Row>
    private var capacity: Int
    private var count = 0

    /// - Parameter expected: the number of rows, if known.
    init(expected: Int = 0) {
        capacity = max(expected, 128)
        rows = .allocate(capacity: capacity)
    }

    deinit {
        rows.deinitialize(count: count)
        rows.deallocate()
    }

    func room(_ wanted: Int) -> UnsafeMutableRawPointer {
        if capacity - count < wanted {
            capacity = max(capacity * 2, count + wanted)
            let grown = UnsafeMutablePointer<Row>.allocate(capacity: capacity)
            grown.moveInitialize(from: rows, count: count)
            rows.deallocate()
            rows = grown
        }
        return UnsafeMutableRawPointer(rows + count)
    }

    @inline(__always)
    func append(_ row: Row) {
        if count == capacity { _ = room(1) }
        (rows + count).initialize(to: row)
        count &+= 1
    }

    func take(_ taken: Int) -> Bool {
        count += taken
        return true
    }

    /// Returns all rows, and is empty after that.
    func finish() -> [Row] {
        guard count > 0 else { return [] }
        return [Row](unsafeUninitializedCapacity: count) { buffer, taken in
            buffer.baseAddress?.moveInitialize(from: rows, count: count)
            (taken, count) = (count, 0)
        }
    }
}
