/// One page of a b-tree, in a buffer of its own. Source: SQLite, "Database File Format", 1.6.
struct TreePage {
    enum Kind: UInt8 {
        case indexInterior = 2, tableInterior = 5, indexLeaf = 10, tableLeaf = 13

        var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
        var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    }

    /// 0 if the buffer has no page.
    var number: UInt32 = 0
    let bytes: UnsafeMutableRawPointer
    var kind = Kind.tableLeaf
    var cellCount = 0
    /// The offset of the cells' offsets.
    var cells = 0
    /// Of a leaf the cell, of an interior page the child that the scan is at.
    var index = 0

    /// The offset of the page's own header: page 1 begins with the database's.
    var start: Int { number == 1 ? DatabaseHeader.Layout.size : 0 }

    enum Layout {
        static let cellCount = 3
        static let rightChild = 8
        static let leafHeader = 8
        static let interiorHeader = 12
    }
}

/// The pages from a tree's root to the one where a scan is.
///
/// (1) A path has at most `depthMax` pages, so that a cycle of pages is found.
/// (2) A scan enters at most as many pages as there are, so that it ends even if pages occur twice.
/// (3) A buffer keeps its page until another one takes its depth. Pages never change, because a page store is one state.
struct TreePath: ~Copyable {
    let pages: PageStore
    let root: UInt32
    let isTable: Bool
    private(set) var depth = 0
    private var entered = 0
    private let levels: UnsafeMutablePointer<TreePage>
    private var allocated = 0

    /// As in SQLite: a tree of this depth has more pages than a file can.
    static let depthMax = 20

    init(pages: PageStore, root: UInt32, isTable: Bool) {
        self.pages = pages
        self.root = root
        self.isTable = isTable
        levels = .allocate(capacity: Self.depthMax)
    }

    deinit {
        for level in 0..<allocated { levels[level].bytes.deallocate() }
        levels.deallocate()
    }

    /// The deepest page.
    var top: UnsafeMutablePointer<TreePage> {
        @inline(__always) get { levels + (depth - 1) }
    }

    /// Makes the path empty and begins to count pages anew.
    mutating func reset() {
        depth = 0
        entered = 0
    }

    mutating func pop() { depth -= 1 }

    mutating func pushRoot() throws(SQLiteFileError) { try push(root, from: 0, keeping: true) }

    /// - Parameter keeping: whether the page is likely to be read again.
    mutating func pushChild(keeping: Bool) throws(SQLiteFileError) {
        let page = top.pointee
        try push(try child(of: page, at: page.index), from: page.number, keeping: keeping)
    }

    private mutating func push(_ number: UInt32, from parent: UInt32, keeping: Bool) throws(SQLiteFileError) {
        guard depth < Self.depthMax else { throw .corrupt(pages.path, page: parent, "the tree of page \(root) is deeper than any can be") }
        entered += 1
        guard entered <= pages.presentPages else {
            throw .corrupt(pages.path, page: parent, "the tree of page \(root) has more pages than the file: a page occurs twice")
        }
        if depth == allocated {
            (levels + depth).initialize(to: TreePage(bytes: pages.makeBuffer()))
            allocated += 1
        }
        depth += 1
        if top.pointee.number != number { try load(number, from: parent, keeping: keeping) }
        top.pointee.index = 0
    }

    private func load(_ number: UInt32, from parent: UInt32, keeping: Bool) throws(SQLiteFileError) {
        let page = top
        // After an error the buffer has no page.
        page.pointee.number = 0
        page.pointee.cellCount = 0
        try pages.read(number, from: parent, into: page.pointee.bytes)
        let start = number == 1 ? DatabaseHeader.Layout.size : 0
        let bytes = UnsafeRawPointer(page.pointee.bytes)
        guard let kind = TreePage.Kind(rawValue: bytes.byte(start)), kind.isTable == isTable else {
            let tree = isTable ? "a table" : "an index"
            throw .corrupt(pages.path, page: number, offset: start, "this is no page of \(tree): its kind is \(bytes.byte(start))")
        }
        let count = bytes.half(start + TreePage.Layout.cellCount)
        let cells = start + (kind.isLeaf ? TreePage.Layout.leafHeader : TreePage.Layout.interiorHeader)
        guard cells + 2 * count <= pages.usableSize else {
            throw .corrupt(pages.path, page: number, offset: start + TreePage.Layout.cellCount, "\(count) cells do not fit into a page")
        }
        // A file has a hundred times as many leaves as other pages. In a large one the next search of a leaf comes too late for the cache.
        if keeping, !kind.isLeaf || pages.cacheHoldsAll { pages.keep(number, page.pointee.bytes) }
        page.pointee.kind = kind
        page.pointee.cellCount = count
        page.pointee.cells = cells
        page.pointee.number = number
    }

    /// The offset of a cell, which has at least four bytes.
    @inline(__always)
    func cell(_ index: Int) throws(SQLiteFileError) -> Int {
        let page = top
        let offset = UnsafeRawPointer(page.pointee.bytes).half(page.pointee.cells + 2 * index)
        guard offset >= page.pointee.cells + 2 * page.pointee.cellCount, offset <= pages.usableSize - 4 else { throw outside(index, offset) }
        return offset
    }

    @inline(never)
    private func outside(_ index: Int, _ offset: Int) -> SQLiteFileError {
        let page = top.pointee
        let cellOffset = page.cells + 2 * index
        return .corrupt(pages.path, page: page.number, offset: cellOffset, "cell \(index) begins outside of the page's cells, at \(offset)")
    }

    private func child(of page: TreePage, at index: Int) throws(SQLiteFileError) -> UInt32 {
        let bytes = UnsafeRawPointer(page.bytes)
        if index >= page.cellCount { return bytes.word(page.start + TreePage.Layout.rightChild) }
        return bytes.word(try cell(index))
    }

    /// Goes down from the deepest page along first children, to a leaf.
    mutating func descendToFirstLeaf() throws(SQLiteFileError) {
        while !top.pointee.kind.isLeaf { try pushChild(keeping: false) }
    }

    mutating func descendToLastLeaf() throws(SQLiteFileError) {
        while !top.pointee.kind.isLeaf {
            top.pointee.index = top.pointee.cellCount
            try pushChild(keeping: true)
        }
    }
}
