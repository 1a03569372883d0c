import RecordLog

/// Passes each row of a dictionary's values on as an array.
final class ObjectRows: ValueSink {
    private let width: Int
    private var cells: UnsafeMutablePointer<Any?>
    private var capacity = 128
    private let body: ([Any?]) throws -> Bool

    /// - Parameter body: returns false to end.
    init(_ table: ValueTable, _ body: @escaping ([Any?]) throws -> Bool) {
        width = max(table.columns.count, 1)
        self.body = body
        cells = .allocate(capacity: capacity * width)
    }

    deinit { cells.deallocate() }

    func room(_ rows: Int) -> UnsafeMutableRawPointer {
        if rows > capacity {
            cells.deallocate()
            capacity = rows
            cells = .allocate(capacity: capacity * width)
        }
        return UnsafeMutableRawPointer(cells)
    }

    func take(_ rows: Int) throws -> Bool {
        var taken = 0
        defer { (cells + taken * width).deinitialize(count: (rows - taken) * width) }
        while taken < rows {
            let start = cells + taken * width
            taken += 1
            let values = [Any?](unsafeUninitializedCapacity: width) { buffer, count in
                buffer.baseAddress?.moveInitialize(from: start, count: width)
                count = width
            }
            guard try body(values) else { return false }
        }
        return true
    }
}
