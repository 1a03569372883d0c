/// Checks the structure of a database: each page of each tree, overflow chains, the list of free pages, the pointer map, and that each page is used
/// once. SQLite calls this an integrity check.
///
/// Memory: 4 bytes a page, and buffers for one path and one row.
struct StructureCheck {
    private let file: SQLiteFile
    private let pages: PageStore
    private let pointers: PointerMap?
    private let report: (StructureFinding) -> Void
    private var result = StructureReport()

    init(_ file: SQLiteFile, _ report: @escaping (StructureFinding) -> Void) {
        self.file = file
        self.report = report
        pages = file.pages
        pointers = file.header.autoVacuum == .none ? nil : PointerMap(pages)
    }

    mutating func run() throws(SQLiteFileError) -> StructureReport {
        guard pages.pageCount > 0 else { return result }
        let walk = TreeWalk(pages, pointers, report)
        claimOwnPages(walk)
        walkTrees(walk)
        try walkFreelist(walk)
        let unused = walk.map.unused()
        result.unusedPages = unused.count
        // Pages that a damaged one leads to seem unused.
        if let first = unused.first, result.trees.allSatisfy(\.isSound) {
            let count = unused.count == 1 ? "1 page is" : "\(unused.count) pages are"
            report(StructureFinding(nil, page: first, "\(count) used by nothing, this one first"))
        }
        return result
    }

    /// The pages with pointers, and the one with the bytes of the locks.
    private mutating func claimOwnPages(_ walk: TreeWalk) {
        let lockPage = LockPage.number(pages.pageSize)
        if lockPage <= pages.pageCount { _ = walk.claim(lockPage, user: walk.addUser("the page of the locks"), as: nil, from: nil) }
        guard let pointers else { return }
        let user = walk.addUser("the pointer map")
        for page in stride(from: UInt32(2), through: UInt32(clamping: min(Int(pages.pageCount), pages.presentPages)), by: 1)
        where pointers.isMap(page) {
            if walk.claim(page, user: user, as: nil, from: nil) { result.pointerMapPages += 1 }
        }
    }

    private mutating func walkTrees(_ walk: TreeWalk) {
        let schemaTable = StructureReport.schemaTable
        add(schemaTable, schemaTable, isIndex: false, walk.walk(1, owner: schemaTable, isTable: true))
        for entry in file.schema.entries where entry.rootPage > 0 && (entry.kind == .table || entry.kind == .index) {
            let isIndex = entry.kind == .index
            // A table without rowids is a tree as an index is.
            let isTable = isIndex ? false : (try? file.table(named: entry.name))?.hasRowids
            add(entry.name, entry.tableName, isIndex: isIndex, walk.walk(entry.rootPage, owner: entry.name, isTable: isTable))
        }
    }

    private mutating func add(_ name: String, _ table: String, isIndex: Bool, _ extent: TreeWalk.Extent) {
        result.trees.append(StructureReport.Tree(
            name: name, tableName: table, isIndex: isIndex, pages: extent.pages, overflowPages: extent.overflowPages, entries: extent.entries,
            isSound: extent.faults == 0))
    }

    // MARK: Free pages

    private enum Trunk {
        static let next = 0
        static let count = 4
        static let leaves = 8
    }

    /// Source: SQLite, "Database File Format", 1.5.
    private mutating func walkFreelist(_ walk: TreeWalk) throws(SQLiteFileError) {
        let buffer = pages.makeBuffer(), bytes = UnsafeRawPointer(buffer)
        defer { buffer.deallocate() }
        try pages.read(1, from: 0, into: buffer)
        let user = walk.addUser("the list of free pages"), stated = bytes.word(DatabaseHeader.Layout.freelistCount)
        var next = bytes.word(DatabaseHeader.Layout.freelistStart), parent: UInt32 = 1
        while next != 0, claimFree(next, user, walk, from: parent) {
            try pages.read(next, from: parent, into: buffer)
            parent = next
            let leaves = Int(bytes.word(Trunk.count))
            guard leaves <= pages.usableSize / 4 - 2 else {
                report(StructureFinding(nil, page: parent, offset: Trunk.count, "a page of free pages states \(leaves) of them, more than fit"))
                break
            }
            for leaf in 0..<leaves { _ = claimFree(bytes.word(Trunk.leaves + 4 * leaf), user, walk, from: parent) }
            next = bytes.word(Trunk.next)
        }
        guard result.freePages != Int(stated) else { return }
        report(StructureFinding(
            nil, page: 1, offset: DatabaseHeader.Layout.freelistCount,
            "the header states \(stated) free pages, and the list has \(result.freePages)"))
    }

    private mutating func claimFree(_ page: UInt32, _ user: Int, _ walk: TreeWalk, from parent: UInt32) -> Bool {
        guard walk.claim(page, user: user, as: nil, from: parent) else { return false }
        result.freePages += 1
        if let fault = try? pointers?.fault(of: page, .free, parent: 0) { report(StructureFinding(nil, page: page, fault)) }
        return true
    }
}

extension SQLiteFile {
    /// Reads every page that is in use. Call it inside of `read`.
    /// - Parameter report: called with each fault.
    /// - Returns: the pages by their use.
    package func checkStructure(_ report: @escaping (StructureFinding) -> Void) throws(SQLiteFileError) -> StructureReport {
        var check = StructureCheck(self, report)
        return try check.run()
    }
}
