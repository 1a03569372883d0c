/// The interior pages of a tree that grows from left to right, from the parents of its leaves up to its root.
///
/// (1) A child comes with its divider: the cell between it and the next child. The last child has none.
/// (2) A full page waits with one child more until it is known whether two follow it. So every page gets a cell: if the tree ends there,
///     the page gives its last child to the new one.
final class InteriorLevels {
    private let pages: PageWriter
    private let kind: PageKind
    private var levels: [Level] = []
    private let spare: UnsafeMutableRawPointer

    private final class Level {
        let page: CellPage
        /// The child that did not fit; 0 if there is none.
        var heldChild: UInt32 = 0
        var heldCount = 0
        let held: UnsafeMutableRawPointer

        init(_ kind: PageKind, size: Int) {
            page = CellPage(kind, size: size)
            held = .allocate(byteCount: size, alignment: 16)
        }

        deinit { held.deallocate() }

        var divider: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: held, count: heldCount) }

        /// Holds the child if the page is full.
        func add(_ child: UInt32, _ divider: UnsafeRawBufferPointer) {
            if let cell = page.append(PageFormat.childSize + divider.count) {
                cell.setWord(child, at: 0)
                UnsafeMutableRawBufferPointer(start: cell + PageFormat.childSize, count: divider.count).copyMemory(from: divider)
                return
            }
            heldChild = child
            heldCount = divider.count
            UnsafeMutableRawBufferPointer(start: held, count: heldCount).copyMemory(from: divider)
        }
    }

    init(pages: PageWriter, kind: PageKind) {
        self.pages = pages
        self.kind = kind
        spare = .allocate(byteCount: pages.pageSize, alignment: 16)
    }

    deinit { spare.deallocate() }

    func add(_ child: UInt32, divider: UnsafeRawBufferPointer) throws(SQLiteBuildError) { try add(child, divider, to: 0) }

    private func add(_ child: UInt32, _ divider: UnsafeRawBufferPointer, to height: Int) throws(SQLiteBuildError) {
        if height == levels.count { levels.append(Level(kind, size: pages.pageSize)) }
        let level = levels[height]
        if level.heldChild != 0 {
            level.page.lastChild = level.heldChild
            level.heldChild = 0
            try add(try pages.append(level.page), level.divider, to: height + 1)
            level.page.reset()
        }
        level.add(child, divider)
    }

    /// Ends the tree.
    /// - Parameter lastLeaf: it is not written yet, nor is the root afterwards.
    /// - Returns: the root.
    func finish(_ lastLeaf: CellPage) throws(SQLiteBuildError) -> CellPage {
        var top = lastLeaf, height = 0
        while height < levels.count {
            let child = try pages.append(top), level = levels[height]
            if level.heldChild != 0 { try split(level, height) }
            level.page.lastChild = child
            top = level.page
            height += 1
        }
        return top
    }

    /// The page's last cell goes up, its child becomes the page's last, and a new page has the held child.
    private func split(_ level: Level, _ height: Int) throws(SQLiteBuildError) {
        let cell = level.page.removeLast()
        level.page.lastChild = UInt32(bigEndian: cell.loadUnaligned(as: UInt32.self))
        // The page writes zeroes over the cell.
        let divider = UnsafeMutableRawBufferPointer(start: spare, count: cell.count - PageFormat.childSize)
        divider.copyMemory(from: UnsafeRawBufferPointer(rebasing: cell[PageFormat.childSize...]))
        let number = try pages.append(level.page)
        try add(number, UnsafeRawBufferPointer(divider), to: height + 1)
        level.page.reset()
        level.add(level.heldChild, level.divider)
        level.heldChild = 0
    }
}
