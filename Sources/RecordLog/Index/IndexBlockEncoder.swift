/// Gathers the entries of one block and encodes them once all are known.
final class IndexBlockEncoder {
    private struct Place {
        /// Where the entry's key ends.
        var end: Int
        /// Bytes that it begins with like the key before it; 0 for an interval's first.
        var shared: Int
        var row: UInt64
        var isTombstone: Bool
    }

    /// The entries' keys, one after the other, without row numbers.
    private var keys: UnsafeMutableRawPointer
    private var keysCount = 0
    private var keysCapacity = 8192
    private var places: UnsafeMutablePointer<Place>
    private var placesCapacity = 256
    private(set) var entryCount = 0
    private var encoded: UnsafeMutableRawPointer
    private var encodedCapacity = 8192
    /// About how many bytes the block will have.
    private(set) var estimate = 0
    private var lastStart = 0
    private var shortestKey = Int.max

    init() {
        keys = .allocate(byteCount: keysCapacity, alignment: 8)
        places = .allocate(capacity: placesCapacity)
        encoded = .allocate(byteCount: encodedCapacity, alignment: 8)
    }

    deinit {
        keys.deallocate()
        places.deallocate()
        encoded.deallocate()
    }

    var isEmpty: Bool { entryCount == 0 }

    @inline(__always)
    func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) {
        let keyCount = max(0, entry.count &- KeyBuilder.rowSuffixSize)
        if keysCount &+ keyCount > keysCapacity || entryCount == placesCapacity { grow(keyCount) }
        let start = keysCount, end = keysCount &+ keyCount
        if keyCount > 0, let bytes = entry.baseAddress { (keys + start).copyMemory(from: bytes, byteCount: keyCount) }
        let isFirst = entryCount % IndexBlock.Layout.entriesPerInterval == 0
        let shared = isFirst ? 0 : Self.shared(keys, lastStart, start, start, end)
        (places + entryCount).initialize(to: Place(end: end, shared: shared, row: IndexCursor.row(of: entry), isTombstone: isTombstone))
        entryCount &+= 1
        keysCount = end
        shortestKey = min(shortestKey, keyCount)
        estimate &+= keyCount &- shared &+ 5 &+ (isFirst ? IndexBlock.Layout.intervalSize : 0)
        lastStart = start
    }

    @inline(never)
    private func grow(_ more: Int) {
        if keysCount + more > keysCapacity {
            keysCapacity = max(keysCapacity * 2, keysCount + more)
            let grown = UnsafeMutableRawPointer.allocate(byteCount: keysCapacity, alignment: 8)
            grown.copyMemory(from: keys, byteCount: keysCount)
            keys.deallocate()
            keys = grown
        }
        if entryCount == placesCapacity {
            placesCapacity *= 2
            let grown = UnsafeMutablePointer<Place>.allocate(capacity: placesCapacity)
            grown.moveInitialize(from: places, count: entryCount)
            places.deallocate()
            places = grown
        }
    }

    /// How many bytes the keys at `a..<aEnd` and `b..<bEnd` begin with alike.
    @inline(__always)
    private static func shared(_ keys: UnsafeRawPointer, _ a: Int, _ aEnd: Int, _ b: Int, _ bEnd: Int) -> Int {
        let most = min(aEnd &- a, bEnd &- b)
        var count = 0
        while count &+ 8 <= most {
            let difference = UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: a &+ count, as: UInt64.self))
                ^ UInt64(littleEndian: keys.loadUnaligned(fromByteOffset: b &+ count, as: UInt64.self))
            if difference != 0 { return count &+ difference.trailingZeroBitCount / 8 }
            count &+= 8
        }
        while count < most,
            keys.load(fromByteOffset: a &+ count, as: UInt8.self) == keys.load(fromByteOffset: b &+ count, as: UInt8.self)
        {
            count &+= 1
        }
        return count
    }

    /// Writes the block, and starts the next.
    /// - Returns: the block, and its size.
    func emit(to sink: any FrameSink) throws(StoreError) -> (FrameTicket, Int) {
        let size = encode()
        let ticket = try sink.append(.indexBlock, UnsafeRawBufferPointer(start: encoded, count: size))
        keysCount = 0
        entryCount = 0
        estimate = 0
        shortestKey = .max
        return (ticket, size)
    }

    private func encode() -> Int {
        typealias Layout = IndexBlock.Layout
        // Sorted, so what the first and the last have in common all have, as far as they are long enough: of keys from
        // a damaged block one may be the start of another.
        let common = min(Self.shared(keys, 0, places[0].end, lastStart, keysCount), shortestKey, Int(UInt16.max))
        let intervals = (entryCount + Layout.entriesPerInterval - 1) / Layout.entriesPerInterval
        // The keys, and at most three varints an entry: of lengths below 2^32 and a row below 2^48.
        reserve(Layout.intervals + intervals * Layout.intervalSize + common + keysCount + entryCount * 17)
        encoded.storeBytes(of: UInt16(intervals).littleEndian, toByteOffset: Layout.intervalCount, as: UInt16.self)
        encoded.storeBytes(of: UInt16(common).littleEndian, toByteOffset: Layout.commonLength, as: UInt16.self)
        encoded.storeBytes(of: UInt32(entryCount).littleEndian, toByteOffset: Layout.entryCount, as: UInt32.self)
        var at = Layout.intervals + intervals * Layout.intervalSize
        (encoded + at).copyMemory(from: keys, byteCount: common)
        at &+= common
        var start = 0
        for index in 0..<entryCount {
            let place = places[index]
            let from = start &+ common
            // An interval's first key is whole but for what all have in common.
            var shared = 0
            if index % Layout.entriesPerInterval == 0 {
                let interval = Layout.intervals &+ index / Layout.entriesPerInterval &* Layout.intervalSize
                let word = KeyBytes.word(UnsafeRawBufferPointer(start: keys + from, count: place.end &- from))
                encoded.storeBytes(of: word.littleEndian, toByteOffset: interval &+ Layout.intervalWord, as: UInt64.self)
                encoded.storeBytes(of: UInt32(at).littleEndian, toByteOffset: interval &+ Layout.intervalOffset, as: UInt32.self)
            } else {
                // Less than all have in common it is of keys from a damaged block alone.
                shared = max(0, place.shared &- common)
            }
            let rest = place.end &- from &- shared
            at = put(UInt64(shared), at)
            at = put(UInt64(rest) << 1 | (place.isTombstone ? 1 : 0), at)
            (encoded + at).copyMemory(from: keys + (from &+ shared), byteCount: rest)
            at = put(place.row, at &+ rest)
            start = place.end
        }
        return at
    }

    private func reserve(_ count: Int) {
        guard count > encodedCapacity else { return }
        encoded.deallocate()
        encodedCapacity = max(count, encodedCapacity * 2)
        encoded = .allocate(byteCount: encodedCapacity, alignment: 8)
    }

    /// Writes a varint.
    /// - Returns: where the next byte goes.
    @inline(__always)
    private func put(_ value: UInt64, _ at: Int) -> Int {
        var value = value, at = at
        while value >= 0x80 {
            encoded.storeBytes(of: UInt8(truncatingIfNeeded: value) | 0x80, toByteOffset: at, as: UInt8.self)
            value >>= 7
            at &+= 1
        }
        encoded.storeBytes(of: UInt8(value), toByteOffset: at, as: UInt8.self)
        return at &+ 1
    }
}
