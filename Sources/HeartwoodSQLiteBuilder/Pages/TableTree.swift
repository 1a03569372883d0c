/// The b-tree of a table, filled from left to right.
final class TableTree {
    private let pages: PageWriter
    private let cells: CellWriter
    private let leaf: CellPage
    private let levels: InteriorLevels
    private let divider: UnsafeMutableRawPointer
    /// Of the newest row.
    private(set) var lastRowid: Int64 = 0
    private(set) var count = 0

    init(pages: PageWriter) {
        self.pages = pages
        cells = CellWriter(pages: pages, isTable: true)
        leaf = CellPage(.tableLeaf, size: pages.pageSize)
        levels = InteriorLevels(pages: pages, kind: .tableInterior)
        divider = .allocate(byteCount: Varint.sizeMax, alignment: 1)
    }

    deinit { divider.deallocate() }

    /// - Parameter rowid: above those of the rows so far.
    func append(rowid: Int64, _ record: UnsafeRawBufferPointer) throws(SQLiteBuildError) {
        let cell = try cells.make(record, rowid: rowid)
        if let place = leaf.append(cell.count) {
            UnsafeMutableRawBufferPointer(start: place, count: cell.count).copyMemory(from: cell)
        } else {
            try endLeaf()
            guard let place = leaf.append(cell.count) else { preconditionFailure("an empty leaf has room for a cell") }
            UnsafeMutableRawBufferPointer(start: place, count: cell.count).copyMemory(from: cell)
        }
        lastRowid = rowid
        count += 1
    }

    private func endLeaf() throws(SQLiteBuildError) {
        let number = try pages.append(leaf)
        // Rowids up to this one are in the leaf or before it.
        let size = Varint.write(UInt64(bitPattern: lastRowid), to: divider)
        try levels.add(number, divider: UnsafeRawBufferPointer(start: divider, count: size))
        leaf.reset()
    }

    /// - Returns: the number of the root.
    func finish() throws(SQLiteBuildError) -> UInt32 { try pages.append(try finishExceptRoot()) }

    /// - Returns: the root, which is not written yet.
    func finishExceptRoot() throws(SQLiteBuildError) -> CellPage { try levels.finish(leaf) }
}
