/// Counts the entries of a tree by the cell counts of its pages.
enum TreeCount {
    static func entries(pages: PageStore, root: UInt32, isTable: Bool) throws(SQLiteFileError) -> Int {
        var path = TreePath(pages: pages, root: root, isTable: isTable)
        try path.pushRoot()
        var count = 0
        while true {
            try path.descendToFirstLeaf()
            count += path.top.pointee.cellCount
            // Up to a page with another child. An index has entries in its interior pages too.
            repeat {
                if path.depth == 1 { return count }
                path.pop()
            } while path.top.pointee.index >= path.top.pointee.cellCount
            if !isTable { count += 1 }
            path.top.pointee.index += 1
            try path.pushChild(keeping: false)
        }
    }
}
