import Foundation
import RecordLog

/// A row's sort key with text parts that only Foundation can compare.
struct LocalizedKey {
    enum Part {
        /// Compared bytewise.
        case bytes([UInt8])
        case text(String?, NSSortDescriptor.TextOrder, isAscending: Bool)
    }

    let parts: [Part]

    /// - Precondition: both are keys of one order.
    func compare(_ other: LocalizedKey) -> ComparisonResult {
        for (a, b) in zip(parts, other.parts) {
            let order: ComparisonResult
            switch (a, b) {
            case (.bytes(let x), .bytes(let y)):
                let sign = x.withUnsafeBytes { x in y.withUnsafeBytes { KeyBytes.compare(x, $0).signum() } }
                order = ComparisonResult(rawValue: sign) ?? .orderedSame
            case (.text(let x, let textOrder, let isAscending), .text(let y, _, _)):
                let ascending = Self.compare(x, y, textOrder)
                order = isAscending ? ascending : ComparisonResult(rawValue: -ascending.rawValue) ?? .orderedSame
            default: preconditionFailure("keys of one order have the same parts")
            }
            if order != .orderedSame { return order }
        }
        return .orderedSame
    }

    private static func compare(_ x: String?, _ y: String?, _ order: NSSortDescriptor.TextOrder) -> ComparisonResult {
        guard let x else { return y == nil ? .orderedSame : .orderedAscending }
        return y.map { order.compare(x, $0) } ?? .orderedDescending
    }
}

/// A `RowSorter` for orders with localized text, in which Foundation makes each comparison.
package struct LocalizedRowSorter: RowGathering {
    private struct Entry {
        let key: LocalizedKey
        let rank: UInt64
        let row: UnsafeRowView

        func precedes(_ other: Entry) -> Bool {
            let order = key.compare(other.key)
            return order == .orderedSame ? rank < other.rank : order == .orderedAscending
        }
    }

    private var entries: [Entry] = []
    private let limit: Int?
    /// The last wanted entry, once `limit` entries exist.
    private var bound: Entry?

    package init(limit: Int?) {
        self.limit = limit.flatMap { $0 <= RowSorter.limitMax ? $0 : nil }
    }

    package mutating func append(_ row: UnsafeRowView, _ order: RowOrder, part: Int, _ scope: QueryScope) throws {
        add(Entry(key: try order.localizedKey(of: row, scope), rank: RowSorter.rank(row, part: part), row: row))
    }

    private mutating func add(_ entry: Entry) {
        if let bound, !entry.precedes(bound) { return }
        entries.append(entry)
        guard let limit, entries.count >= RowSorter.roomMax(limit) else { return }
        entries.sort { $0.precedes($1) }
        entries.removeSubrange(min(limit, entries.count)...)
        bound = entries.last
    }

    package mutating func add(_ other: LocalizedRowSorter) {
        for entry in other.entries { add(entry) }
    }

    package mutating func sorted() -> [UnsafeRowView] {
        entries.sort { $0.precedes($1) }
        return entries.map(\.row)
    }
}
