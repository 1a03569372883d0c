/// A part of the temporary file: entries in the order of their index, each with its length before it.
struct SortedRun {
    let offset: UInt64
    let size: UInt64
}

/// Writes one run at the end of the temporary file.
final class RunWriter {
    private let space: SortSpace
    private let start: UInt64
    private let buffer: UnsafeMutableRawPointer
    private var buffered = 0

    private static let bufferSize = 256 << 10

    init(_ space: SortSpace) {
        self.space = space
        start = space.size
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    func append(_ entry: UnsafeRawBufferPointer) throws(SQLiteBuildError) {
        if buffered + EntrySorter.lengthSize > Self.bufferSize { try flush() }
        (buffer + buffered).storeBytes(of: UInt32(entry.count), as: UInt32.self)
        buffered += EntrySorter.lengthSize
        if entry.count > Self.bufferSize - buffered {
            try flush()
            if entry.count > Self.bufferSize { return try space.append(entry) }
        }
        UnsafeMutableRawBufferPointer(start: buffer + buffered, count: entry.count).copyMemory(from: entry)
        buffered += entry.count
    }

    private func flush() throws(SQLiteBuildError) {
        try space.append(UnsafeRawBufferPointer(start: buffer, count: buffered))
        buffered = 0
    }

    func finish() throws(SQLiteBuildError) -> SortedRun {
        try flush()
        return SortedRun(offset: start, size: space.size - start)
    }
}

/// Reads one run. Its memory is a small buffer, or the longest entry.
final class RunReader {
    private let space: SortSpace
    private let order: EntryOrder
    private var offset: UInt64
    /// The bytes of the run that are not in the buffer yet.
    private var unread: UInt64
    private var buffer: UnsafeMutableRawPointer
    private var capacity = 64 << 10
    private var at = 0
    private var end = 0
    /// The entry at which the reader stands.
    private(set) var entry = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var prefix: UInt64 = 0

    init(_ run: SortedRun, _ order: EntryOrder, _ space: SortSpace) {
        self.space = space
        self.order = order
        offset = run.offset
        unread = run.size
        buffer = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// - Returns: false behind the last entry.
    func next() throws(SQLiteBuildError) -> Bool {
        guard at < end || unread > 0 else { return false }
        try fill(EntrySorter.lengthSize)
        let count = Int((buffer + at).loadUnaligned(as: UInt32.self))
        at += EntrySorter.lengthSize
        try fill(count)
        entry = UnsafeRawBufferPointer(start: buffer + at, count: count)
        prefix = order.prefix(UnsafeRawPointer(buffer + at))
        at += count
        return true
    }

    /// Makes the next bytes of the run lie in the buffer.
    private func fill(_ count: Int) throws(SQLiteBuildError) {
        guard end - at < count else { return }
        let rest = end - at
        guard UInt64(count - rest) <= unread else { throw space.cut() }
        moveRest(rest, count)
        let more = Int(min(UInt64(capacity - rest), unread))
        try space.read(into: UnsafeMutableRawBufferPointer(start: buffer + rest, count: more), at: offset)
        offset += UInt64(more)
        unread -= UInt64(more)
        at = 0
        end = rest + more
    }

    private func moveRest(_ rest: Int, _ count: Int) {
        guard count > capacity else { return (buffer).copyMemory(from: buffer + at, byteCount: rest) }
        let larger = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        larger.copyMemory(from: buffer + at, byteCount: rest)
        buffer.deallocate()
        buffer = larger
        capacity = count
    }
}
