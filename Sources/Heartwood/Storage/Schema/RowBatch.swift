/// Rows that were built and are still to be written, with hashes of their unique values.
///
/// Whether a value is taken is asked of a table as large as the batch, and the processor waits for each answer. For a group of rows it waits
/// for all of them at once.
struct RowBatch {
    /// So many questions are under way in a processor at once.
    static let size = 16

    private var bytes: [UInt8] = []
    /// Where each row ends, and where its hashes do.
    private var ends: [(byte: Int, hash: Int)] = []
    private(set) var hashes: [UInt64] = []

    var count: Int { ends.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
    }

    /// - Parameter addHashes: appends to `hashes`.
    mutating func append(_ body: UnsafeRawBufferPointer, _ addHashes: (inout [UInt64]) -> Void) {
        bytes.append(contentsOf: body)
        addHashes(&hashes)
        ends.append((bytes.count, hashes.count))
    }

    /// Gives each row's bytes, and the places of its hashes.
    func forEach(_ body: (UnsafeRawBufferPointer, Range<Int>) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { bytes in
            var start = (byte: 0, hash: 0)
            for end in ends {
                try body(UnsafeRawBufferPointer(rebasing: bytes[start.byte..<end.byte]), start.hash..<end.hash)
                start = end
            }
        }
    }
}
