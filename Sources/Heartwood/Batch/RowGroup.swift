import RecordLog

/// Rows that were built and are still to be written, with hashes of their unique values.
///
/// Whether a value is taken is asked of a table as large as the batch, and the processor waits for each answer. For a group of rows it waits
/// for all of them at once.
final class RowGroup {
    /// So many questions are under way in a processor at once.
    static let size = 16

    private var memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 8)
    private var capacity = 4096
    private var used = 0
    /// Where each row ends, and where its hashes do.
    private var ends: [(byte: Int, hash: Int)] = []
    private(set) var hashes: [UInt64] = []

    deinit {
        memory.deallocate()
    }

    var count: Int { ends.count }

    func removeAll() {
        used = 0
        ends.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
    }

    /// - Parameter addHashes: appends to `hashes`.
    func append(_ body: UnsafeRawBufferPointer, _ addHashes: (inout [UInt64]) -> Void) {
        if used + body.count > capacity { grow(body.count) }
        if let start = body.baseAddress { (memory + used).copyMemory(from: start, byteCount: body.count) }
        used += body.count
        addHashes(&hashes)
        ends.append((used, hashes.count))
    }

    @inline(never)
    private func grow(_ more: Int) {
        capacity = max(capacity * 2, used + more)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        grown.copyMemory(from: memory, byteCount: used)
        memory.deallocate()
        memory = grown
    }

    /// A row's bytes; valid until the next one is appended.
    subscript(place: Int) -> UnsafeRawBufferPointer {
        let start = place == 0 ? 0 : ends[place - 1].byte
        return UnsafeRawBufferPointer(start: memory + start, count: ends[place].byte - start)
    }

    /// The places of a row's hashes.
    func hashes(of place: Int) -> Range<Int> { (place == 0 ? 0 : ends[place - 1].hash)..<ends[place].hash }
}
