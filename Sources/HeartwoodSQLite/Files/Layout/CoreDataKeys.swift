import Heartwood
internal import HeartwoodSQLiteFile

/// The keys of a table's rows, with the entity number of each.
///
/// Keys come in pages of 4096. A page has a bit for each key as long as its rows are of one entity, and two bytes for each key otherwise.
final class CoreDataKeys {
    private struct Page {
        let number: Int64
        let entity: UInt16
        var bits = [UInt64](repeating: 0, count: 64)
        /// By key; empty while all keys are of `entity`.
        var entities: [UInt16] = []
    }

    private static let pageShift: Int64 = 12
    private static let pageMask: Int64 = 1 << pageShift - 1

    /// Ascending.
    private var pages: [Page] = []
    /// 0 if there are none.
    private(set) var greatest: Int64 = 0

    /// Adds the keys of all rows of a table.
    /// - Parameter entity: the column of entity numbers.
    func learn(_ table: SQLiteTable, entity column: Int) throws {
        try table.forEachRow { row in
            if row.rowid > 0, let entity = try row.integer(column).flatMap(UInt16.init(exactly:)) { add(row.rowid, entity) }
            return true
        }
    }

    /// - Parameter key: above 0, and above all keys before.
    func add(_ key: Int64, _ entity: UInt16) {
        greatest = key
        let number = key >> Self.pageShift, index = Int(key & Self.pageMask)
        if pages.last?.number != number { pages.append(Page(number: number, entity: entity)) }
        let last = pages.count - 1
        pages[last].bits[index >> 6] |= 1 << UInt64(index & 63)
        if pages[last].entities.isEmpty {
            guard pages[last].entity != entity else { return }
            pages[last].entities = Array(repeating: pages[last].entity, count: Int(Self.pageMask) + 1)
        }
        pages[last].entities[index] = entity
    }

    /// - Returns: nil if there is no row with the key.
    func entity(of key: Int64) -> Int64? {
        guard key > 0, let position = position(of: key >> Self.pageShift) else { return nil }
        let index = Int(key & Self.pageMask)
        guard pages[position].bits[index >> 6] & 1 << UInt64(index & 63) != 0 else { return nil }
        return Int64(pages[position].entities.isEmpty ? pages[position].entity : pages[position].entities[index])
    }

    private func position(of number: Int64) -> Int? {
        if number < pages.count, pages[Int(number)].number == number { return Int(number) }
        var low = 0, high = pages.count
        while low < high {
            let middle = (low + high) / 2
            if pages[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < pages.count && pages[low].number == number ? low : nil
    }
}
