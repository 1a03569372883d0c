import Foundation
import RecordLog

/// Gathers rows and puts them in order.
protocol RowGathering {
    /// - Parameter limit: the rows that are wanted; nil: all.
    init(limit: Int?)
    /// - Parameter part: the place of the row's table among those of the query.
    mutating func append(_ row: RowView, _ order: RowOrder, part: Int, _ scope: QueryScope) throws
    /// Takes over what another thread has gathered.
    mutating func add(_ other: Self)
    mutating func sorted() -> [RowView]
}

/// Gathers rows and sorts them by their keys; of equal ones those of the first table come first, by their numbers.
///
/// Where some rows alone are wanted no more than twice as many are kept: the rest of what came is forgotten, and a row that sorts
/// behind the last one wanted is not taken up.
struct RowSorter: RowGathering {
    private struct Entry {
        let prefix: UInt64
        let start: Int
        let end: Int
        let rank: UInt64
        let row: RowView
    }

    private var arena: [UInt8] = []
    private var entries: [Entry] = []
    private let limit: Int
    /// The key that a row may not be behind, and its prefix; none before the first cut.
    private var bound = UInt64.max
    private var boundKey: [UInt8] = []

    /// So many are gathered before they are sorted and cut.
    private var roomMax: Int { Self.roomMax(limit) }
    static func roomMax(_ limit: Int) -> Int { max(1024, limit * 2) }
    static let limitMax = 100_000

    init(limit: Int?) {
        self.limit = limit.map { $0 <= Self.limitMax ? $0 : Int.max / 4 } ?? Int.max / 4
    }

    mutating func append(_ row: RowView, _ order: RowOrder, part: Int, _ scope: QueryScope) throws {
        // Most rows, where few are wanted.
        if bound != .max, let prefix = order.prefix(of: row), prefix > bound { return }
        let key = scope.key
        key.removeAll()
        try order.appendKey(of: row, to: key, scope)
        let bytes = key.buffer
        // A component's tag tells null from a value; then come the value's own bytes.
        var prefix: UInt64 = 0
        if let tag = bytes.first {
            prefix = Self.prefix(
                KeyBytes.word(UnsafeRawBufferPointer(rebasing: bytes[1...])), isHigh: tag == KeyBuilder.valueTag || tag == ~KeyBuilder.nullTag)
        }
        guard prefix < bound || prefix == bound && !isBehindBound(bytes) else { return }
        let start = arena.count
        arena.append(contentsOf: bytes)
        entries.append(Entry(
            prefix: prefix, start: start, end: arena.count, rank: Self.rank(row, part: part), row: row))
        if entries.count >= roomMax { cut() }
    }

    /// Where a row comes among those of equal keys.
    @inline(__always)
    static func rank(_ row: RowView, part: Int) -> UInt64 { UInt64(part) << 48 | row.reference.row }

    /// The start of a key as a number.
    /// - Parameter isHigh: by the first component's tag, which of null and a value comes last.
    @inline(__always)
    static func prefix(_ word: UInt64, isHigh: Bool) -> UInt64 { word >> 1 | (isHigh ? 1 << 63 : 0) }

    private func isBehindBound(_ key: UnsafeRawBufferPointer) -> Bool {
        !boundKey.isEmpty && boundKey.withUnsafeBytes { KeyBytes.compare(key, $0) > 0 }
    }

    private mutating func cut() {
        sort()
        entries.removeSubrange(min(limit, entries.count)...)
        if let last = entries.last, entries.count == limit {
            bound = last.prefix
            boundKey = Array(arena[last.start..<last.end])
        }
        var kept: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let start = kept.count
            kept.append(contentsOf: arena[entry.start..<entry.end])
            entries[index] = Entry(prefix: entry.prefix, start: start, end: kept.count, rank: entry.rank, row: entry.row)
        }
        arena = kept
    }

    private mutating func sort() {
        arena.withUnsafeBytes { arena in
            entries.sort { a, b in
                if a.prefix != b.prefix { return a.prefix < b.prefix }
                let order = KeyBytes.compare(
                    UnsafeRawBufferPointer(rebasing: arena[a.start..<a.end]), UnsafeRawBufferPointer(rebasing: arena[b.start..<b.end]))
                return order == 0 ? a.rank < b.rank : order < 0
            }
        }
    }

    mutating func add(_ other: RowSorter) {
        let offset = arena.count
        arena.append(contentsOf: other.arena)
        entries += other.entries.map {
            Entry(prefix: $0.prefix, start: $0.start + offset, end: $0.end + offset, rank: $0.rank, row: $0.row)
        }
        if entries.count >= roomMax { cut() }
    }

    mutating func sorted() -> [RowView] {
        sort()
        return entries.map(\.row)
    }
}
