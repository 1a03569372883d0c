/// Visits each page of trees, and their overflow pages, and goes on behind a damaged one.
///
/// (1) A page is visited once. A second reference to it is a fault, so cycles end.
/// (2) A tree has at most `TreePath.depthMax` levels, with a buffer for each.
final class TreeWalk {
    /// The pages and entries of one tree.
    struct Extent {
        var pages = 0
        var overflowPages = 0
        var entries = 0
        var faults = 0
    }

    private let pages: PageStore
    private let pointers: PointerMap?
    private let report: (StructureFinding) -> Void
    private(set) var map: PageMap
    private var buffers: [UnsafeMutableRawPointer] = []
    private let overflow: UnsafeMutableRawPointer

    // Of the tree that is walked.
    private var owner = ""
    private var user = 0
    private var extent = Extent()
    private var isTable = true
    private var leafLevel: Int?
    private var lastRowid: Int64?
    private var limits: Payload.Limits

    init(_ pages: PageStore, _ pointers: PointerMap?, _ report: @escaping (StructureFinding) -> Void) {
        self.pages = pages
        self.pointers = pointers
        self.report = report
        map = PageMap(pageCount: pages.pageCount, present: pages.presentPages)
        overflow = pages.makeBuffer()
        limits = Payload.Limits(usableSize: pages.usableSize, isTable: true)
    }

    deinit {
        overflow.deallocate()
        for buffer in buffers { buffer.deallocate() }
    }

    /// - Parameter isTable: nil for a tree of unknown kind.
    func walk(_ root: UInt32, owner: String, isTable: Bool?) -> Extent {
        self.owner = owner
        user = map.add(owner)
        extent = Extent()
        leafLevel = nil
        lastRowid = nil
        guard let isTable = isTable ?? kind(of: root)?.isTable else {
            found(root, nil, "the page is of no tree")
            return extent
        }
        self.isTable = isTable
        limits = Payload.Limits(usableSize: pages.usableSize, isTable: isTable)
        visit(root, from: 0, level: 0, rowidMax: nil)
        return extent
    }

    /// Claims a page that belongs to no tree.
    /// - Returns: false if it has another user, which is reported.
    func claim(_ page: UInt32, user: Int, as owner: String?, from parent: UInt32?) -> Bool {
        guard let fault = map.claim(page, for: user) else { return true }
        report(StructureFinding(owner, page: parent, fault))
        return false
    }

    func addUser(_ name: String) -> Int { map.add(name) }

    private func kind(of root: UInt32) -> TreePage.Kind? {
        guard let _ = try? pages.read(root, from: 0, into: overflow) else { return nil }
        return TreePage.Kind(rawValue: UnsafeRawPointer(overflow).byte(root == 1 ? DatabaseHeader.Layout.size : 0))
    }

    private func found(_ page: UInt32?, _ offset: Int?, _ message: String) {
        extent.faults += 1
        report(StructureFinding(owner, page: page, offset: offset, message))
    }

    private func found(_ error: SQLiteFileError) {
        extent.faults += 1
        report(StructureFinding(owner, error))
    }

    // MARK: Pages

    private func visit(_ number: UInt32, from parent: UInt32, level: Int, rowidMax: Int64?) {
        guard level < TreePath.depthMax else { return found(parent, nil, "the tree is deeper than any can be") }
        if let fault = map.claim(number, for: user) { return found(parent == 0 ? nil : parent, nil, fault) }
        extent.pages += 1
        if level == buffers.count { buffers.append(pages.makeBuffer()) }
        let buffer = buffers[level]
        do throws(SQLiteFileError) {
            try pages.read(number, from: parent, into: buffer)
            try checkPointer(number, level == 0 ? .root : .tree, parent: level == 0 ? 0 : parent)
        } catch {
            return found(error)
        }
        guard let page = header(number, buffer) else { return }
        if page.kind.isLeaf { checkLevel(level, number) }
        checkSpace(page)
        for index in 0..<page.cellCount { visitCell(index, of: page, level, rowidMax) }
        if !page.kind.isLeaf {
            let child = UnsafeRawPointer(buffer).word(page.start + TreePage.Layout.rightChild)
            visit(child, from: number, level: level + 1, rowidMax: rowidMax)
        }
    }

    private func checkLevel(_ level: Int, _ page: UInt32) {
        if let leafLevel, leafLevel != level { found(page, nil, "this leaf is on level \(level), others on level \(leafLevel)") }
        leafLevel = leafLevel ?? level
    }

    private func checkPointer(_ page: UInt32, _ kind: PointerMap.Kind, parent: UInt32) throws(SQLiteFileError) {
        // Page 1 has no entry.
        guard page > 1, let fault = try pointers?.fault(of: page, kind, parent: parent) else { return }
        found(page, nil, fault)
    }

    private func header(_ number: UInt32, _ buffer: UnsafeMutableRawPointer) -> TreePage? {
        var page = TreePage(number: number, bytes: buffer)
        let bytes = UnsafeRawPointer(buffer), start = page.start
        guard let kind = TreePage.Kind(rawValue: bytes.byte(start)), kind.isTable == isTable else {
            found(number, start, "this is no page of \(isTable ? "a table" : "an index"): its kind is \(bytes.byte(start))")
            return nil
        }
        page.kind = kind
        page.cellCount = bytes.half(start + TreePage.Layout.cellCount)
        page.cells = start + (kind.isLeaf ? TreePage.Layout.leafHeader : TreePage.Layout.interiorHeader)
        guard page.cells + 2 * page.cellCount <= pages.usableSize else {
            found(number, start + TreePage.Layout.cellCount, "\(page.cellCount) cells do not fit into a page")
            return nil
        }
        return page
    }

    // MARK: Cells

    /// A cell's parts, as its own bytes state them.
    private struct Cell {
        var start: Int
        var child: UInt32?
        var rowid: Int64?
        /// nil for a cell that has no record.
        var recordSize: Int?
        /// Bytes of the record in the page.
        var localSize = 0
        var recordStart = 0
        var size: Int { recordStart - start + localSize + (hasOverflow ? 4 : 0) }
        var hasOverflow: Bool { recordSize.map { $0 > localSize } ?? false }
    }

    /// - Returns: nil for a cell that is not in its page, or states a record longer than the files.
    private func cell(_ index: Int, of page: TreePage) -> Cell? {
        let bytes = UnsafeRawPointer(page.bytes), start = bytes.half(page.cells + 2 * index)
        guard start >= page.cells + 2 * page.cellCount, start <= pages.usableSize - 4 else { return nil }
        var cell = Cell(start: start), at = start
        if !page.kind.isLeaf {
            cell.child = bytes.word(at)
            at += 4
        }
        if page.kind != .tableInterior {
            let (count, size) = Varint.read(bytes + at)
            guard count <= UInt64(min(pages.presentBytes, Int(Int32.max))) else { return nil }
            at += size
            cell.recordSize = Int(count)
            cell.localSize = Int(count) <= limits.localMax ? Int(count) : limits.localCount(Int(count))
        }
        if page.kind.isTable {
            let (rowid, size) = Varint.read(bytes + at)
            at += size
            cell.rowid = Int64(bitPattern: rowid)
        }
        cell.recordStart = at
        return cell.start + cell.size <= pages.usableSize ? cell : nil
    }

    private func checkSpace(_ page: TreePage) {
        let bytes = UnsafeRawPointer(page.bytes)
        var space = PageSpace()
        for index in 0..<page.cellCount {
            guard let cell = cell(index, of: page) else { continue }
            space.addCell(cell.start, size: cell.size)
        }
        if let fault = space.addFreeBlocks(bytes, start: page.start, usableSize: pages.usableSize) {
            return found(page.number, page.start + 1, fault)
        }
        // A page of 65,536 bytes cannot state where its end is.
        let stated = bytes.half(page.start + 5), contentStart = stated == 0 ? 65536 : stated
        let first = max(contentStart, page.cells + 2 * page.cellCount)
        guard page.cellCount > 0, let offset = space.fault(contentStart: first, usableSize: pages.usableSize) else { return }
        found(page.number, offset, "a cell or a free block overlaps another, or lies before the cells' area, which begins at \(contentStart)")
    }

    private func visitCell(_ index: Int, of page: TreePage, _ level: Int, _ rowidMax: Int64?) {
        guard let cell = cell(index, of: page) else {
            return found(page.number, page.cells + 2 * index, "cell \(index) is not in its page, or is longer than the file")
        }
        if let child = cell.child { visit(child, from: page.number, level: level + 1, rowidMax: cell.rowid ?? rowidMax) }
        if let rowid = cell.rowid { check(rowid, cell.start, page, rowidMax) }
        guard page.kind != .tableInterior else { return }
        extent.entries += 1
        if cell.hasOverflow { followOverflow(cell, page) }
    }

    /// The rows under an interior cell have its rowid or a lower one.
    private func check(_ rowid: Int64, _ offset: Int, _ page: TreePage, _ rowidMax: Int64?) {
        let isInOrder = lastRowid.map { page.kind.isLeaf ? rowid > $0 : rowid >= $0 } ?? true
        if !isInOrder { found(page.number, offset, "the row \(rowid) comes after the row \(lastRowid ?? 0)") }
        if let rowidMax, rowid > rowidMax { found(page.number, offset, "the row \(rowid) is under a page that ends with row \(rowidMax)") }
        lastRowid = rowid
    }

    private func followOverflow(_ cell: Cell, _ page: TreePage) {
        let perPage = pages.usableSize - 4, count = ((cell.recordSize ?? 0) - cell.localSize + perPage - 1) / perPage
        var next = UnsafeRawPointer(page.bytes).word(cell.recordStart + cell.localSize), parent = page.number
        for number in 0..<count {
            guard next != 0 else { return found(parent, nil, "an overflow chain has \(number) of \(count) pages") }
            if let fault = map.claim(next, for: user) { return found(parent, nil, fault) }
            extent.overflowPages += 1
            do throws(SQLiteFileError) {
                try pages.read(next, from: parent, into: overflow)
                try checkPointer(next, number == 0 ? .firstOverflow : .overflow, parent: parent)
            } catch {
                return found(error)
            }
            parent = next
            next = UnsafeRawPointer(overflow).word(0)
        }
        if next != 0 { found(parent, 0, "an overflow chain goes on behind its record") }
    }
}
