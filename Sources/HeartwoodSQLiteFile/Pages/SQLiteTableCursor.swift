/// The rows of a table, in the order of their rowids.
///
/// (1) Rowids rise along a scan, or it is an error.
/// (2) A cursor allocates with the depth of its tree and its longest row, not with the count of rows.
package struct SQLiteTableCursor: ~Copyable {
    /// The row at which the cursor stands, once `next` or `find` has returned true.
    package private(set) var row: SQLiteRow

    private var path: TreePath
    private let limits: Payload.Limits
    private var isStarted = false
    private var isAtEnd = false
    private var lastRowid: Int64?

    init(pages: PageStore, root: UInt32, shape: RecordShape) {
        row = SQLiteRow(pages: pages, shape: shape)
        path = TreePath(pages: pages, root: root, isTable: true)
        limits = Payload.Limits(usableSize: pages.usableSize, isTable: true)
    }

    /// Goes to the next row, at first to the first.
    /// - Returns: false behind the last row.
    package mutating func next() throws(SQLiteFileError) -> Bool {
        if !isStarted { try start() }
        guard !isAtEnd else { return false }
        let page = path.top
        if page.pointee.index >= page.pointee.cellCount { guard try nextLeaf() else { return false } }
        try load()
        path.top.pointee.index += 1
        if let lastRowid, row.rowid <= lastRowid { throw disorder(lastRowid) }
        lastRowid = row.rowid
        return true
    }

    /// Makes `next` begin anew with the first row of at least this rowid.
    package mutating func move(toAtLeast rowid: Int64) throws(SQLiteFileError) {
        try descend(to: rowid)
        isStarted = true
    }

    /// Goes to the row of a rowid. A `next` goes on from there.
    /// - Returns: false if there is no such row; then `next` goes to the one behind it.
    package mutating func find(_ rowid: Int64) throws(SQLiteFileError) -> Bool {
        try move(toAtLeast: rowid)
        let page = path.top
        guard page.pointee.index < page.pointee.cellCount, try rowidOfCell(page.pointee.index) == rowid else { return false }
        try load()
        page.pointee.index += 1
        lastRowid = rowid
        return true
    }

    /// Goes to the row of the greatest rowid.
    /// - Returns: false if the table is empty.
    package mutating func last() throws(SQLiteFileError) -> Bool {
        begin()
        try path.pushRoot()
        try path.descendToLastLeaf()
        let page = path.top
        isStarted = true
        guard page.pointee.cellCount > 0 else { return false }
        page.pointee.index = page.pointee.cellCount - 1
        try load()
        page.pointee.index += 1
        lastRowid = row.rowid
        return true
    }

    private mutating func begin() {
        path.reset()
        row.beginScan()
        isStarted = false
        isAtEnd = false
        lastRowid = nil
    }

    private mutating func start() throws(SQLiteFileError) {
        begin()
        try path.pushRoot()
        try path.descendToFirstLeaf()
        isStarted = true
    }

    private mutating func nextLeaf() throws(SQLiteFileError) -> Bool {
        while path.top.pointee.index >= path.top.pointee.cellCount {
            // Up to a page with another child.
            repeat {
                if path.depth == 1 {
                    isAtEnd = true
                    return false
                }
                path.pop()
            } while path.top.pointee.index >= path.top.pointee.cellCount
            path.top.pointee.index += 1
            try path.pushChild(keeping: false)
            try path.descendToFirstLeaf()
        }
        return true
    }

    /// Goes to the leaf, and in it to the first cell, of at least this rowid.
    private mutating func descend(to rowid: Int64) throws(SQLiteFileError) {
        begin()
        try path.pushRoot()
        while true {
            var low = 0, high = path.top.pointee.cellCount
            while low < high {
                let middle = (low + high) / 2
                if try rowidOfCell(middle) < rowid { low = middle + 1 } else { high = middle }
            }
            path.top.pointee.index = low
            if path.top.pointee.kind.isLeaf { return }
            try path.pushChild(keeping: true)
        }
    }

    @inline(__always)
    private func rowidOfCell(_ index: Int) throws(SQLiteFileError) -> Int64 {
        let page = path.top
        let cell = UnsafeRawPointer(page.pointee.bytes) + (try path.cell(index))
        let start = page.pointee.kind.isLeaf ? Varint.read(cell).size : 4
        return Int64(bitPattern: Varint.read(cell + start).value)
    }

    @inline(__always)
    private mutating func load() throws(SQLiteFileError) {
        let page = path.top
        let offset = try path.cell(page.pointee.index)
        let cell = UnsafeRawPointer(page.pointee.bytes) + offset
        let (count, countSize) = Varint.read(cell)
        let (rowid, rowidSize) = Varint.read(cell + countSize)
        row.rowid = Int64(bitPattern: rowid)
        try row.load(path.payload(count, at: offset + countSize + rowidSize, limits))
    }

    @inline(never)
    private func disorder(_ last: Int64) -> SQLiteFileError {
        .corrupt(path.pages.path, page: path.top.pointee.number, "the row \(row.rowid) comes after the row \(last)")
    }
}
