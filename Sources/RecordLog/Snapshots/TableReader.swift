import Synchronization

/// The objects that a look-up of one table's rows needs, without reference counts. The snapshot that made it keeps them alive.
struct TableReader {
    private let delta: Unmanaged<PrimaryDelta>?
    private let flushing: Unmanaged<PrimaryDelta>?
    private let base: Unmanaged<PrimaryBase>?
    private let pages: UnsafeMutablePointer<Atomic<UInt>>?
    private let pageCount: Int

    init(_ state: TableState?) {
        delta = state.map { Unmanaged.passUnretained($0.primary.delta) }
        flushing = state?.primary.flushing.map { Unmanaged.passUnretained($0) }
        base = state?.primary.base.map { Unmanaged.passUnretained($0) }
        pages = state?.primary.base?.resolved
        pageCount = state?.primary.base?.pageCount ?? 0
    }

    /// The row's newest record since the base: 0 for none, else its address, with the tombstone bit for a deletion.
    @inline(__always)
    func known(_ row: UInt64) -> UInt64 {
        guard let delta else { return 0 }
        let address = delta._withUnsafeGuaranteedRef { $0.load(row) }
        if address != 0 { return address }
        guard let flushing else { return 0 }
        return flushing._withUnsafeGuaranteedRef { $0.load(row) }
    }

    /// The row's address in the base; 0 if it has none.
    @inline(__always)
    func baseAddress(_ row: UInt64) throws(StoreError) -> UInt64 {
        let page = Int(truncatingIfNeeded: row / PrimaryBase.rowsPerPage)
        guard page < pageCount, let pages else { return 0 }
        let bytes = pages[page].load(ordering: .acquiring)
        guard bytes != 0 else { return try resolve(row) }
        return PrimaryPage(UnsafeRawPointer(bitPattern: bytes)).address(Int(row % PrimaryBase.rowsPerPage))
    }

    /// Requests the page with a row's address, if it is new.
    /// - Returns: whether it is new.
    @inline(__always)
    func willResolve(_ row: UInt64) -> Bool {
        let page = Int(truncatingIfNeeded: row / PrimaryBase.rowsPerPage)
        guard page < pageCount, let pages, pages[page].load(ordering: .relaxed) == 0 else { return false }
        base?.takeUnretainedValue().willResolve(page)
        return true
    }

    @inline(never)
    private func resolve(_ row: UInt64) throws(StoreError) -> UInt64 {
        try base?.takeUnretainedValue().address(of: row) ?? 0
    }
}
