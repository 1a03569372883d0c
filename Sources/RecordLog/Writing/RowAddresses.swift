/// Where rows lie that a transaction has changed, by row number.
///
/// A table of open addressing: `Dictionary` made up a tenth of a one-row commit and of a large update. Eight neighbouring rows share
/// one stretch of it, so that a change of many rows, which mostly comes in their order, misses memory once for all of them.
///
/// Invariants:
/// 1. The number of places is 0 or a power of two from 8 on, and a quarter of them is free, so that a search ends.
/// 2. A free place has the row 0, which no row has.
/// 3. A row stands at the first place from its own on that was free when it came; nothing is ever removed.
struct RowAddresses: ~Copyable {
    private var places: UnsafeMutableBufferPointer<(row: UInt64, address: UInt64)>
    private(set) var count = 0
    /// 64 less the number of bits that a stretch has.
    private var shift: UInt64 = 64

    init() {
        places = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    deinit {
        places.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    private func place(_ row: UInt64) -> Int {
        let stretch = ((row >> 3) &* 0x9E37_79B9_7F4A_7C15) >> shift
        var place = Int(truncatingIfNeeded: stretch << 3 | row & 7)
        while places[place].row != row, places[place].row != 0 { place = (place &+ 1) & (places.count &- 1) }
        return place
    }

    /// - Complexity: O(1) on average.
    @inline(__always)
    func address(_ row: UInt64) -> UInt64? {
        guard count > 0 else { return nil }
        let found = places[place(row)]
        return found.row == row ? found.address : nil
    }

    /// - Parameter row: not 0.
    @inline(__always)
    mutating func set(_ row: UInt64, _ address: UInt64) {
        if (count &+ 1) &* 4 > places.count &* 3 { grow() }
        let place = place(row)
        if places[place].row == 0 { count &+= 1 }
        places[place] = (row, address)
    }

    @inline(never)
    private mutating func grow() {
        let old = places
        let capacity = max(8, old.count * 2)
        places = .allocate(capacity: capacity)
        places.initialize(repeating: (0, 0))
        shift = UInt64(64 - (capacity.trailingZeroBitCount - 3))
        for entry in old where entry.row != 0 { places[place(entry.row)] = entry }
        old.deallocate()
    }

    /// In no order.
    @inline(__always)
    func forEach(_ body: (UInt64, UInt64) -> Void) {
        for entry in places where entry.row != 0 { body(entry.row, entry.address) }
    }
}
