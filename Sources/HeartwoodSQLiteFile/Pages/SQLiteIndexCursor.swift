/// The entries of an index, or the rows of a table WITHOUT ROWID, in the order of their keys.
package struct SQLiteIndexCursor: ~Copyable {
    /// The entry at which the cursor stands, once `next` has returned true.
    package private(set) var row: SQLiteRow

    /// The side of an equal key on which `move` stops.
    package enum Side: Sendable {
        case before, after
    }

    private let keyColumns: [KeyColumn]
    /// The row's columns that make up the key. A table without rowids has its columns in another order than its key.
    private let keyPositions: [Int]
    private var path: TreePath
    private let limits: Payload.Limits
    /// The field with the rowid of the row, for an index of a table that has rowids.
    private let rowidField: Int?
    private var isStarted = false
    private var isAtEnd = false
    /// Whether the next entry is the deepest page's cell, which stands between the child just scanned and the next.
    private var isBetweenChildren = false

    init(pages: PageStore, root: UInt32, shape: RecordShape, keyColumns: [KeyColumn], rowidField: Int?) {
        keyPositions = keyColumns.indices.map { field in shape.columns.firstIndex { $0.field == field } ?? field }
        row = SQLiteRow(pages: pages, shape: shape)
        path = TreePath(pages: pages, root: root, isTable: false)
        limits = Payload.Limits(usableSize: pages.usableSize, isTable: false)
        self.keyColumns = keyColumns
        self.rowidField = rowidField
    }

    /// Goes to the next entry, at first to the first.
    /// - Returns: false behind the last entry.
    package mutating func next() throws(SQLiteFileError) -> Bool {
        if !isStarted { try start() }
        guard !isAtEnd else { return false }
        if isBetweenChildren {
            isBetweenChildren = false
            path.top.pointee.index += 1
            try path.pushChild(keeping: true)
            try path.descendToFirstLeaf()
        }
        while path.top.pointee.index >= path.top.pointee.cellCount {
            if path.depth == 1 {
                isAtEnd = true
                return false
            }
            path.pop()
            isBetweenChildren = path.top.pointee.index < path.top.pointee.cellCount
        }
        try load(path.top.pointee.index)
        if !isBetweenChildren { path.top.pointee.index += 1 }
        if let rowidField { row.rowid = try row.storedRowid(field: rowidField) }
        return true
    }

    /// Makes `next` go to the first entry behind this position. The key has values for the first columns, or for all.
    package mutating func move(_ side: Side, key: [SQLiteValue]) throws(SQLiteFileError) {
        begin()
        try path.pushRoot()
        while true {
            var low = 0, high = path.top.pointee.cellCount
            while low < high {
                let middle = (low + high) / 2
                try load(middle)
                let order = try compare(with: key)
                // A search compares few entries, some of them more than once.
                row.beginScan()
                if order < 0 || (order == 0 && side == .after) { low = middle + 1 } else { high = middle }
            }
            path.top.pointee.index = low
            if path.top.pointee.kind.isLeaf { break }
            try path.pushChild(keeping: true)
        }
        isStarted = true
    }

    /// The order of the cursor's entry to a key: negative if the entry comes first, 0 if all values of the key are equal.
    package func compare(with key: [SQLiteValue]) throws(SQLiteFileError) -> Int {
        precondition(key.count <= keyColumns.count, "a key has more values than its index has columns")
        for column in key.indices {
            let order = try row.compare(keyPositions[column], with: key[column], keyColumns[column], path.pages.path)
            if order != 0 { return keyColumns[column].isDescending ? -order : order }
        }
        return 0
    }

    private mutating func begin() {
        path.reset()
        row.beginScan()
        isStarted = false
        isAtEnd = false
        isBetweenChildren = false
    }

    private mutating func start() throws(SQLiteFileError) {
        begin()
        try path.pushRoot()
        try path.descendToFirstLeaf()
        isStarted = true
    }

    private mutating func load(_ index: Int) throws(SQLiteFileError) {
        let page = path.top
        let offset = try path.cell(index)
        let start = page.pointee.kind.isLeaf ? 0 : 4
        let (count, size) = Varint.read(UnsafeRawPointer(page.pointee.bytes) + offset + start)
        row.rowid = 0
        try row.load(path.payload(count, at: offset + start + size, limits))
    }
}
