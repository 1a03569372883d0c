/// The b-tree of an index, filled from left to right.
///
/// The entry between two leaves is in their parent, and in no leaf. A full leaf waits with one entry more until it is known whether another
/// follows. If none does, the leaf's last entry goes up, and the waiting one gets a leaf of its own.
final class IndexTree {
    private let pages: PageWriter
    private let cells: CellWriter
    private let leaf: CellPage
    private let levels: InteriorLevels
    /// The entry that did not fit. It is empty if there is none.
    private var held = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private let spare: UnsafeMutableRawPointer

    init(pages: PageWriter) {
        self.pages = pages
        cells = CellWriter(pages: pages, isTable: false)
        leaf = CellPage(.indexLeaf, size: pages.pageSize)
        levels = InteriorLevels(pages: pages, kind: .indexInterior)
        spare = .allocate(byteCount: 2 * pages.pageSize, alignment: 16)
    }

    deinit { spare.deallocate() }

    /// - Parameter record: behind those so far, in the index's order.
    func append(_ record: UnsafeRawBufferPointer) throws(SQLiteBuildError) {
        let cell = try cells.make(record, rowid: nil)
        if held.count > 0 {
            try levels.add(try pages.append(leaf), divider: UnsafeRawBufferPointer(held))
            leaf.reset()
            held = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        if !add(cell) {
            held = UnsafeMutableRawBufferPointer(start: spare, count: cell.count)
            held.copyMemory(from: cell)
        }
    }

    private func add(_ cell: UnsafeRawBufferPointer) -> Bool {
        guard let place = leaf.append(cell.count) else { return false }
        UnsafeMutableRawBufferPointer(start: place, count: cell.count).copyMemory(from: cell)
        return true
    }

    /// - Returns: the number of the root.
    func finish() throws(SQLiteBuildError) -> UInt32 {
        if held.count > 0 { try splitLeaf() }
        return try pages.append(try levels.finish(leaf))
    }

    private func splitLeaf() throws(SQLiteBuildError) {
        let last = leaf.removeLast()
        // The leaf writes zeroes over the entry.
        let divider = UnsafeMutableRawBufferPointer(start: spare + pages.pageSize, count: last.count)
        divider.copyMemory(from: last)
        try levels.add(try pages.append(leaf), divider: UnsafeRawBufferPointer(divider))
        leaf.reset()
        guard add(UnsafeRawBufferPointer(held)) else { preconditionFailure("an empty leaf has room for an entry") }
    }
}
