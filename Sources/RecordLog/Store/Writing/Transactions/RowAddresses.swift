import Synchronization

/// The addresses of the rows that a transaction has written, by row number, in pages like those of a `PrimaryDelta`, which takes them over.
///
/// A single row is stored without a page, since most commits write one. Pages are found by a hash table with open addressing. The last page
/// used is cached, so changes in row order search the table once for every 128 rows.
///
/// Invariants:
/// 1. `single` is empty if any page exists.
/// 2. The number of buckets is 0 or a power of two, and a quarter of them is free, so that a search ends.
/// 3. `last` is the page of a bucket, and `lastNumber` its number, or both are unset.
struct RowAddresses: ~Copyable {
    private typealias Bucket = (number: UInt64, page: PrimaryDelta.Page?)

    private var single: (row: UInt64, address: UInt64) = (0, 0)
    private var buckets: UnsafeMutableBufferPointer<Bucket>
    private var pageCount = 0
    private var last: PrimaryDelta.Page?
    private var lastNumber = UInt64.max

    init() {
        buckets = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    deinit {
        for bucket in buckets { bucket.page?.deallocate() }
        buckets.deallocate()
    }

    var isEmpty: Bool { pageCount == 0 && single.row == 0 }

    /// The address of a row; 0 if none was set.
    /// - Complexity: O(1) on average.
    @inline(__always)
    mutating func address(_ row: UInt64) -> UInt64 {
        if row / PrimaryDelta.rowsPerPage == lastNumber, let last { return last[Self.index(row)].load(ordering: .relaxed) }
        return findAddress(row)
    }

    /// - Parameter row: not 0.
    @inline(__always)
    mutating func set(_ row: UInt64, _ address: UInt64) {
        if row / PrimaryDelta.rowsPerPage == lastNumber, let last {
            last[Self.index(row)].store(address, ordering: .relaxed)
        } else {
            setElsewhere(row, address)
        }
    }

    @inline(__always)
    private static func index(_ row: UInt64) -> Int { Int(truncatingIfNeeded: row % PrimaryDelta.rowsPerPage) }

    @inline(never)
    private mutating func findAddress(_ row: UInt64) -> UInt64 {
        guard pageCount > 0 else { return row == single.row ? single.address : 0 }
        let number = row / PrimaryDelta.rowsPerPage
        guard let page = buckets[search(number)].page else { return 0 }
        (last, lastNumber) = (page, number)
        return page[Self.index(row)].load(ordering: .relaxed)
    }

    @inline(never)
    private mutating func setElsewhere(_ row: UInt64, _ address: UInt64) {
        if pageCount == 0 {
            if single.row == 0 || single.row == row {
                single = (row, address)
                return
            }
            let first = single
            single = (0, 0)
            page(first.row / PrimaryDelta.rowsPerPage)[Self.index(first.row)].store(first.address, ordering: .relaxed)
        }
        page(row / PrimaryDelta.rowsPerPage)[Self.index(row)].store(address, ordering: .relaxed)
    }

    /// Finds or makes a page, and caches it as the last one.
    private mutating func page(_ number: UInt64) -> PrimaryDelta.Page {
        if (pageCount + 1) * 4 > buckets.count * 3 { grow() }
        let bucket = search(number)
        let page = buckets[bucket].page ?? PrimaryDelta.makePage()
        if buckets[bucket].page == nil {
            buckets[bucket] = (number, page)
            pageCount += 1
        }
        (last, lastNumber) = (page, number)
        return page
    }

    /// The bucket that a page has, or would have.
    private func search(_ number: UInt64) -> Int {
        let mask = buckets.count - 1
        // The upper half of the product depends on all bits of the number.
        var index = Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while buckets[index].page != nil, buckets[index].number != number { index = (index + 1) & mask }
        return index
    }

    private mutating func grow() {
        let old = buckets
        buckets = .allocate(capacity: max(4, old.count * 2))
        buckets.initialize(repeating: (0, nil))
        for entry in old where entry.page != nil { buckets[search(entry.number)] = entry }
        old.deallocate()
    }

    /// Rows below `end` with their addresses, in order.
    func forEach<Failure: Error>(below end: UInt64 = .max, _ body: (UInt64, UInt64) throws(Failure) -> Void) throws(Failure) {
        if single.row != 0, single.row < end { try body(single.row, single.address) }
        var numbered: [(number: UInt64, page: PrimaryDelta.Page)] = []
        for bucket in buckets {
            if let page = bucket.page { numbered.append((bucket.number, page)) }
        }
        numbered.sort { $0.number < $1.number }
        for (number, page) in numbered {
            for index in 0..<PrimaryDelta.rowsPerPage {
                let row = number * PrimaryDelta.rowsPerPage + index, address = page[Int(index)].load(ordering: .relaxed)
                guard row < end else { return }
                if address != 0 { try body(row, address) }
            }
        }
    }

    /// Moves all addresses to a delta, where they hide older ones. None is left here.
    mutating func move(to delta: PrimaryDelta) {
        if single.row != 0 { delta.store(single.row, single.address) }
        for index in buckets.indices {
            guard let page = buckets[index].page else { continue }
            delta.adopt(page, number: buckets[index].number)
            buckets[index].page = nil
        }
        self = RowAddresses()
    }
}
