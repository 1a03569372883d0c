import Synchronization

/// The foldings of all scalars, in pages of 256, each made at its first use and never changed.
enum ScalarFoldings {
    typealias Page = UnsafePointer<ScalarFolding>

    private static let pageSize = 256
    /// By page number: the page's address; 0 until it is made. Never freed.
    private static let pages = Pages()

    private struct Pages: @unchecked Sendable {
        // Unchecked: the pointer never changes, and each page's address is atomic.
        let list: UnsafeMutablePointer<Atomic<UInt>>

        init() {
            let count = 0x110000 / ScalarFoldings.pageSize
            list = .allocate(capacity: count)
            for index in 0..<count { (list + index).initialize(to: Atomic(0)) }
        }
    }

    @inline(__always)
    static func folding(of value: UInt32) -> ScalarFolding { page(Int(value >> 8))[Int(value & 0xFF)] }

    @inline(__always)
    static func page(_ number: Int) -> Page {
        if let known = Page(bitPattern: pages.list[number].load(ordering: .acquiring)) { return known }
        return make(number)
    }

    /// Two threads may make a page at once; the first one is kept.
    @inline(never)
    private static func make(_ number: Int) -> Page {
        let page = UnsafeMutablePointer<ScalarFolding>.allocate(capacity: pageSize)
        for index in 0..<pageSize {
            let scalar = Unicode.Scalar(UInt32(number * pageSize + index))
            (page + index).initialize(to: scalar.map { ScalarFolding($0) } ?? ScalarFolding())
        }
        let (isFirst, known) = pages.list[number].compareExchange(
            expected: 0, desired: UInt(bitPattern: page), ordering: .acquiringAndReleasing)
        guard !isFirst, let other = Page(bitPattern: known) else { return Page(page) }
        page.deallocate()
        return other
    }
}
