import Synchronization

/// The changes of one table since the last checkpoint: from row number to the address of the row's newest record.
///
/// One writer stores while any number of readers load. Readers see records newer than their snapshot and follow the records' `previous`
/// addresses back (multi-version concurrency through the log), so a commit copies nothing.
///
/// Invariants:
/// 1. A published page does not move as long as the delta lives.
/// 2. A spine never changes after a longer one has replaced it: a reader that still holds it misses only pages made later, whose rows
///    are all newer than the reader's snapshot or older than the base.
/// 3. An address is stored only after its frame is in the file.
final class PrimaryDelta: Sendable {
    /// The addresses of neighbouring rows.
    typealias Page = UnsafeMutablePointer<Atomic<UInt64>>

    private struct Memory: @unchecked Sendable {
        // Unchecked: pages are shared through atomics, and freed only with the delta.
        var spines: [UnsafeMutablePointer<Atomic<UInt>>] = []
        var pages: [Page] = []
    }

    private let memory = Mutex(Memory())
    private let spine = Atomic<UInt>(0)
    private let spineCount = Atomic<Int>(0)

    /// Marks the address of a deletion's record.
    static let tombstoneBit: UInt64 = 1 << 63
    /// Small enough that making a page costs no more than the change itself.
    static let rowsPerPage: UInt64 = 128

    init() {}

    deinit {
        memory.withLock { memory in
            for page in memory.pages { page.deallocate() }
            for spine in memory.spines { spine.deallocate() }
        }
    }

    /// The newest record of a row: 0 for none, else its address, with `tombstoneBit` for a deletion.
    @inline(__always)
    func load(_ row: UInt64) -> UInt64 {
        let index = Int(truncatingIfNeeded: row / Self.rowsPerPage)
        // The count is read first: the spine that is read then is at least as long.
        guard index < spineCount.load(ordering: .acquiring),
            let pages = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: spine.load(ordering: .acquiring)),
            let page = Page(bitPattern: pages[index].load(ordering: .acquiring))
        else { return 0 }
        return page[Int(row % Self.rowsPerPage)].load(ordering: .acquiring)
    }

    /// An empty page.
    static func makePage() -> Page {
        let page = Page.allocate(capacity: Int(rowsPerPage))
        for index in 0..<Int(rowsPerPage) { (page + index).initialize(to: Atomic(0)) }
        return page
    }

    /// Stores a row's address. Called only by the writer.
    func store(_ row: UInt64, _ address: UInt64) {
        let index = Int(truncatingIfNeeded: row / Self.rowsPerPage)
        let page = self.page(index) ?? publish(Self.makePage(), at: index)
        page[Int(row % Self.rowsPerPage)].store(address, ordering: .releasing)
    }

    /// Stores a page's addresses, and takes ownership of the page. Called only by the writer.
    func adopt(_ page: Page, number: UInt64) {
        let index = Int(truncatingIfNeeded: number)
        guard let known = self.page(index) else {
            _ = publish(page, at: index)
            return
        }
        for position in 0..<Int(Self.rowsPerPage) {
            let address = page[position].load(ordering: .relaxed)
            if address != 0 { known[position].store(address, ordering: .releasing) }
        }
        page.deallocate()
    }

    /// The page as the writer sees it.
    private func page(_ index: Int) -> Page? {
        guard index < spineCount.load(ordering: .relaxed) else { return nil }
        return UnsafeMutablePointer<Atomic<UInt>>(bitPattern: spine.load(ordering: .relaxed)).flatMap {
            Page(bitPattern: $0[index].load(ordering: .relaxed))
        }
    }

    private func publish(_ page: Page, at index: Int) -> Page {
        if index >= spineCount.load(ordering: .relaxed) { grow(to: index + 1) }
        nonisolated(unsafe) let made = page
        memory.withLock { $0.pages.append(made) }
        UnsafeMutablePointer<Atomic<UInt>>(bitPattern: spine.load(ordering: .relaxed))?[index].store(
            UInt(bitPattern: page), ordering: .releasing)
        return page
    }

    private func grow(to count: Int) {
        let old = spineCount.load(ordering: .relaxed)
        let new = max(16, old * 2, count)
        let made = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: new)
        let known = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: spine.load(ordering: .relaxed))
        for index in 0..<new {
            (made + index).initialize(to: Atomic(index < old ? known?[index].load(ordering: .relaxed) ?? 0 : 0))
        }
        nonisolated(unsafe) let kept = made
        memory.withLock { $0.spines.append(kept) }
        spine.store(UInt(bitPattern: made), ordering: .releasing)
        spineCount.store(new, ordering: .releasing)
    }

    /// Calls `body` with each row that has an address, and the address. Called only by the writer; `body` may store.
    func forEach(_ body: (UInt64, UInt64) -> Void) {
        for index in 0..<spineCount.load(ordering: .relaxed) {
            guard let page = page(index) else { continue }
            for position in 0..<Int(Self.rowsPerPage) {
                let address = page[position].load(ordering: .relaxed)
                if address != 0 { body(UInt64(index) * Self.rowsPerPage + UInt64(position), address) }
            }
        }
    }

    /// Whether the delta may have an address of a row in this range. It tests whole pages.
    func hasRows(in rows: Range<UInt64>) -> Bool {
        var row = rows.lowerBound - rows.lowerBound % Self.rowsPerPage
        while row < rows.upperBound {
            let index = Int(truncatingIfNeeded: row / Self.rowsPerPage)
            if index < spineCount.load(ordering: .acquiring),
                let pages = UnsafeMutablePointer<Atomic<UInt>>(bitPattern: spine.load(ordering: .acquiring)),
                pages[index].load(ordering: .acquiring) != 0
            {
                return true
            }
            row += Self.rowsPerPage
        }
        return false
    }
}
