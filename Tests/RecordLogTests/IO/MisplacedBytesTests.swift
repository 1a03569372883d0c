import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Whole, valid pieces of a store at wrong offsets are never read as other content.
@Suite struct MisplacedBytesTests {
    /// Checks that the bytes open as a committed state with consistent indexes, or are refused as corrupt.
    /// - Returns: the number of commits found; nil if both openings were refused.
    @discardableResult
    private func check(
        _ bytes: [UInt8], _ sample: SampleStore, _ states: [[UInt64: SampleStore.Person]], _ message: @autoclosure () -> String
    ) throws -> Int? {
        var newest: Int?
        for isReadOnly in [true, false] {
            do {
                let store = try SmallStore.open(bytes, sample, isReadOnly: isReadOnly)
                guard let found = SampleStore(reading: store) else {
                    #expect(store.snapshot().sequence == 0, "\(message())")
                    continue
                }
                let contents = try found.contents(store.snapshot())
                newest = states.firstIndex(of: contents)
                #expect(newest != nil, "\(message())")
                #expect(try found.mismatch(store.snapshot(), contents) == nil, "\(message())")
            } catch let error as StoreError {
                #expect(error.code == .corrupt, "\(message()): \(error)")
            }
        }
        return newest
    }

    @Test
    func `Two swapped frames are not read`() throws {
        let (sample, states) = try SmallStore.make()
        let bytes = try SmallStore.bytes(sample), frames = try SmallStore.frames(sample)
        var equal = 0
        for (index, a) in frames.enumerated() {
            for b in frames[(index + 1)...] where a.count == b.count {
                var swapped = bytes
                swapped.replaceSubrange(a, with: bytes[b])
                swapped.replaceSubrange(b, with: bytes[a])
                try check(swapped, sample, states, "\(a) and \(b)")
                equal += 1
            }
            // Neighbours may have any size.
            guard index + 1 < frames.count else { continue }
            let next = frames[index + 1]
            var swapped = bytes
            swapped.replaceSubrange(a.lowerBound..<next.upperBound, with: bytes[next] + bytes[a])
            try check(swapped, sample, states, "\(a) and its neighbour")
        }
        #expect(equal > 20)
    }

    /// The same commits are in another file, with frames of the same layout, offsets and sizes.
    @Test
    func `A frame of another store is not read`() throws {
        let (sample, states) = try SmallStore.make()
        let other = try SampleStore {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 4096
        }
        for number in 0..<6 {
            let picture = number == 1 ? SampleStore.Picture(fill: 8, count: 1100) : nil
            try other.insert(.init(name: "NAME \(number)", age: Int64(number) + 100, group: 1, picture: picture))
            if number == 2 { try other.store.checkpoint() }
        }
        let bytes = try SmallStore.bytes(sample), others = try SmallStore.bytes(other)
        let frames = try SmallStore.frames(sample)
        #expect(try SmallStore.frames(other) == frames)
        for frame in frames {
            var mixed = bytes
            mixed.replaceSubrange(frame, with: others[frame])
            try check(mixed, sample, states, "\(frame)")
        }
        // The other store's header before this one's frames, also superblock by superblock.
        for piece in [0..<512, 4096..<4608, 0..<Int(FileFormat.dataStart)] {
            var mixed = bytes
            mixed.replaceSubrange(piece, with: others[piece])
            try check(mixed, sample, states, "\(piece)")
        }
    }

    /// A superblock is a hint and a lower bound: an older one costs a replay, and hides nothing.
    @Test
    func `An old superblock hides nothing`() throws {
        let sample = try SampleStore {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 4096
        }
        var superblocks: [[UInt8]] = []
        var states: [[UInt64: SampleStore.Person]] = [[:]]
        for number in 0..<6 {
            superblocks.append(Array(try SmallStore.bytes(sample)[..<Int(FileFormat.dataStart)]))
            try sample.insert(.init(name: "name \(number)", age: 1, group: 1))
            states.append(sample.people)
            if number == 2 { try sample.store.checkpoint() }
        }
        let bytes = try SmallStore.bytes(sample)
        for (number, old) in superblocks.enumerated() {
            for pieces in [[0..<512], [4096..<4608], [0..<512, 4096..<4608]] {
                var mixed = bytes
                for piece in pieces { mixed.replaceSubrange(piece, with: old[piece]) }
                #expect(try check(mixed, sample, states, "superblock \(number)") == states.count - 1, "superblock \(number), \(pieces)")
            }
        }
    }

    @Test
    func `Garbage behind the log is not read`() throws {
        let (sample, states) = try SmallStore.make()
        let bytes = try SmallStore.bytes(sample), end = Int(sample.store.log.end)
        let frames = try SmallStore.frames(sample)
        for seed in 1...40 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = [1, 63, 64, 512, 4096, 70_000].randomElement(using: &random) ?? 1
            let words = (0..<(count + 7) / 8).map { _ in random.next() }
            var garbage = words.withUnsafeBytes { Array($0[..<count]) }
            // Some of the garbage looks like a frame, or was one.
            if seed % 3 == 0, let frame = frames.randomElement(using: &random) { garbage = Array(bytes[frame]) + garbage }
            #expect(try check(Array(bytes[..<end]) + garbage, sample, states, "seed \(seed)") == states.count - 1, "seed \(seed)")
        }
    }

    /// The cut is between frames. The header may know of later commits; with relaxed durability it may not.
    @Test(arguments: [Durability.full, .relaxed])
    func `A file cut between frames is read up to the cut`(durability: Durability) throws {
        let (sample, states) = try SmallStore.make(durability)
        let bytes = try SmallStore.bytes(sample), frames = try SmallStore.frames(sample)
        var seen: Set<Int> = []
        for frame in frames {
            guard let newest = try check(Array(bytes[..<frame.lowerBound]), sample, states, "cut at \(frame.lowerBound)") else { continue }
            seen.insert(newest)
        }
        // The cuts leave out the whole file, so no result has the newest commit.
        #expect(seen == Set(0..<states.count - 1))
    }

    /// A reader once accepted a file that ends within its header, and then read past its end.
    @Test
    func `A file cut within its header is refused`() throws {
        let (sample, _) = try SmallStore.make()
        let bytes = try SmallStore.bytes(sample)
        for length in [0, 1, 511, 512, 1024, 1088, 4096, 5184, 8191] {
            for isReadOnly in [true, false] where length > 0 || isReadOnly {
                let error = #expect(throws: StoreError.self) { try SmallStore.open(Array(bytes[..<length]), sample, isReadOnly: isReadOnly) }
                #expect(error?.code == .corrupt || error?.code == .notAStore, "cut at \(length): \(String(describing: error))")
            }
        }
    }
}
