/// Encoded rows that are still to be written, with the hashes of their unique values.
///
/// Each uniqueness check reads from a hash table that may be as large as the batch, and causes a cache miss. The misses of a group of rows overlap.
struct RowBatch {
    /// The number of cache misses that a processor handles at once.
    static let size = 16

    private var bytes: [UInt8] = []
    /// The ends of each row in `bytes` and in `hashes`.
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

    /// Calls `body` with each row's bytes and the range of its hashes.
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
