import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// The readahead requests for a mapped file.
@Suite struct ReadingAheadTests {
    /// Records the readahead requests for its files.
    private final class Disk: ForwardingFileSystem, @unchecked Sendable {
        let asked = Mutex<[Range<UInt64>]>([])
        let isInMemory = Mutex(false)

        let memory: MemoryFileSystem

        init() {
            memory = MemoryFileSystem()
            super.init(memory)
        }

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { File(try super.open(path, mode), self) }

        /// The ranges requested during `body`.
        func asked(_ body: () throws -> Void) rethrows -> [Range<UInt64>] {
            asked.withLock { $0 = [] }
            try body()
            return asked.withLock { $0 }
        }

        private final class File: ForwardingFile, @unchecked Sendable {
            private let disk: Disk

            init(_ file: any StorageFile, _ disk: Disk) {
                self.disk = disk
                super.init(file)
            }

            override func willRead(_ range: Range<UInt64>) { disk.asked.withLock { $0.append(range) } }
            override func isInMemory(_ address: UnsafeRawPointer) -> Bool { disk.isInMemory.withLock { $0 } }
        }
    }

    private func length(_ ranges: [Range<UInt64>]) -> UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }

    private static let long = String(repeating: "n", count: 380)

    /// A file with ten thousand rows of about 400 bytes, which each test copies.
    private static let file = Result {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files) { $0.segmentShift = 24 }
        try sample.store.write { transaction in
            for number in 0..<10_000 as Range<Int64> {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: "\(number * 7919 % 10_000) \(long)", age: number, group: 1))
            }
        }
        try sample.store.checkpoint()
        try sample.store.close()
        return try #require(files.contents(of: SampleStore.path))
    }

    /// A reopened store of those rows.
    private func make(_ disk: Disk, maps: Bool = true, updating updated: [UInt64] = []) throws -> SampleStore {
        disk.memory.setContents(of: SampleStore.path, to: try Self.file.get())
        let sample = try SampleStore(fileSystem: disk) { $0.segmentShift = 24 }
        try sample.store.write { transaction in
            for row in updated { try sample.put(transaction, row, .init(name: "new \(Self.long)", age: 1, group: 1)) }
        }
        try sample.store.checkpoint()
        try sample.reopen { $0.usesMemoryMapping = maps }
        return sample
    }

    // MARK: Costs

    @Test
    func `A scan requests readahead for its rows once`() throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        for _ in 0..<2 {
            let asked = try disk.asked { try snapshot.scan(sample.table.id) { _ in true } }
            #expect(asked.count < 16, "\(asked)")
            #expect(length(asked) > 3_500_000 && length(asked) < 9_000_000, "\(asked)")
        }
    }

    /// Readahead for pages that are in memory takes a tenth of a scan's time.
    @Test
    func `A scan of rows in memory requests readahead only for its first rows`() throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        disk.isInMemory.withLock { $0 = true }
        let asked = try disk.asked { try snapshot.scan(sample.table.id) { _ in true } }
        #expect(length(asked) < 500_000, "\(asked)")
    }

    @Test
    func `A page that was just written is in memory`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try POSIXFileSystem().open(path, .create)
        try [UInt8](repeating: 7, count: 10_000).withUnsafeBytes { try file.write($0, at: 0) }
        let mapped = try file.map(offset: 0, length: 1 << 20)
        #expect(file.isInMemory(mapped + 9_999))
        // A range behind the end is not in memory, and checking it reads nothing.
        #expect(!file.isInMemory(mapped + 500_000))
    }

    /// A tenth of the rows is behind the others, each between two of those.
    @Test
    func `A scan with some changed rows requests readahead at both positions`() throws {
        let disk = Disk()
        let sample = try make(disk, updating: Array(stride(from: 5, to: 10_000, by: 10))), snapshot = sample.store.snapshot()
        let asked = try disk.asked { try snapshot.scan(sample.table.id) { _ in true } }
        #expect(asked.count < 100, "\(asked.count)")
        #expect(length(asked) > 3_900_000 && length(asked) < 14_000_000, "\(length(asked))")
    }

    /// The rows are stored in the order of another attribute.
    @Test
    func `A scan of scattered rows requests readahead for each piece`() throws {
        let disk = Disk()
        let sample = try make(disk, updating: (0..<10_000).map { $0 * 7919 % 10_000 + 1 }), snapshot = sample.store.snapshot()
        var read = 0
        let asked = try disk.asked {
            try snapshot.scan(sample.table.id) { _ in
                read += 1
                return read < 640
            }
        }
        #expect(asked.count > 100 && asked.count < 300, "\(asked.count)")
    }

    @Test
    func `The first read of a row requests readahead for its frame`() throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        _ = try snapshot.unsafeRow(sample.reference(1))
        let asked = try disk.asked { _ = try snapshot.unsafeRow(sample.reference(5000)) }
        // A page of the primary index, whose beginning comes first, and the frame.
        #expect(asked.count <= 4 && length(asked) <= 80 * 4096, "\(asked)")
        #expect(try disk.asked { _ = try snapshot.unsafeRow(sample.reference(5000)) }.isEmpty)
    }

    @Test
    func `Rows that are read in order get readahead in pieces`() throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        _ = try snapshot.unsafeRow(sample.reference(1))
        let asked = try disk.asked { for row in 1...10_000 as ClosedRange<UInt64> { _ = try snapshot.unsafeRow(sample.reference(row)) } }
        #expect(asked.count > 4 && asked.count < 24, "\(asked.count)")
        #expect(length(asked) > 3_900_000 && length(asked) < 6_000_000, "\(length(asked))")
    }

    @Test
    func `A range requests readahead for its rows before it reads them`() throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        _ = try snapshot.unsafeRow(sample.reference(1))
        var readFirst: Int?
        let asked = try disk.asked {
            _ = try snapshot.rows(sample.byName, .all, limit: 50) { _ in
                if readFirst == nil { readFirst = disk.asked.withLock { $0.count } }
                return true
            }
        }
        #expect(asked.count >= 45 && readFirst == asked.count, "\(asked.count), of them \(String(describing: readFirst)) before the first row")
        // The index scan requests again.
        let again = try disk.asked { _ = try snapshot.rows(sample.byName, .all, limit: 50) { _ in true } }
        #expect(again.count <= 3, "\(again)")
    }

    @Test(arguments: [false, true])
    func `An index scan requests readahead for its blocks`(isDescending: Bool) throws {
        let disk = Disk()
        let sample = try make(disk), snapshot = sample.store.snapshot()
        var rows: [UInt64] = []
        // The first touch of a block requests it too.
        rows = try sample.rows(snapshot, sample.byName)
        let asked = try disk.asked { rows = try sample.rows(snapshot, sample.byName, descending: isDescending) }
        #expect(rows.count == 10_000)
        #expect(asked.count >= 3 && asked.count < 12, "\(asked)")
    }

    @Test
    func `A replay requests readahead for the log`() throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk)
        for number in 0..<600 { try sample.insert(.init(name: String(repeating: "n", count: 700), age: Int64(number), group: 1)) }
        let log = sample.store.log.end
        let asked = try disk.asked { try sample.reopenAfterCrash() }
        #expect(length(asked) > log / 2 && asked.count < 24, "\(asked)")
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A file that is read instead of mapped gets no readahead`() throws {
        let disk = Disk()
        let sample = try make(disk, maps: false), snapshot = sample.store.snapshot()
        let asked = try disk.asked {
            try snapshot.scan(sample.table.id) { _ in true }
            _ = try snapshot.rows(sample.byName, .all) { _ in true }
        }
        #expect(asked.isEmpty)
    }

    /// A damaged index may name any offset: nothing is mapped or requested for it.
    @Test
    func `Offsets behind the file get no readahead`() throws {
        let disk = Disk()
        let sample = try make(disk), file = sample.store.log.file
        let asked = disk.asked {
            for offset in [file.readableEnd + 65_536, 1 << 30, (1 << 37) + 1, 1 << 40, .max / 2, .max] {
                file.askOnce(offset)
                _ = [offset, offset].withUnsafeBufferPointer(file.touch)
            }
        }
        #expect(asked.isEmpty)
        for offset in [1 << 30, 1 << 37] as [UInt64] { #expect(file.alreadyMapped(offset) == nil) }
    }

    // MARK: Scans

    @Test
    func `A forward scan gets readahead without gaps`() {
        var ahead = Readahead(), asked: [Range<UInt64>] = []
        for offset in stride(from: 8192 as UInt64, to: 40 << 20, by: 4032) {
            if let range = ahead.reach(offset) {
                #expect(range.lowerBound >= offset)
                asked.append(range)
            }
        }
        #expect(asked.first == 8192 + 2 * 4032..<8192 + 2 * 4032 + Readahead.least)
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(asked.allSatisfy { $0.count <= Readahead.most } && asked.count < 20)
        #expect(asked.last.map { $0.upperBound >= 40 << 20 } == true)
    }

    @Test
    func `A backward scan gets readahead to the file's beginning`() {
        var ahead = Readahead(), asked: [Range<UInt64>] = []
        for offset in stride(from: 20 << 20 as UInt64, to: 0, by: -4096) {
            if let range = ahead.reach(offset) { asked.append(range) }
        }
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $0.lowerBound == $1.upperBound })
        #expect(asked.count < 20 && asked.last?.lowerBound == 0)
    }

    @Test
    func `Look-ups request no readahead`() {
        var ahead = Readahead(), random = SeededGenerator(seed: 5)
        for _ in 0..<10_000 { #expect(ahead.reach(UInt64.random(in: 0..<1 << 40, using: &random)) == nil) }
    }

    /// Compares with a plain list of all steps: requests are in the direction of the scan, and no offset traps.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `Any steps are allowed`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ahead = Readahead(), two = ReadaheadAtTwoPositions(), offset: UInt64 = 0
        for step in 0..<2000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: offset = UInt64.random(in: 0...UInt64.max, using: &random)
            case 1: offset = UInt64.max - UInt64.random(in: 0...9, using: &random)
            case 2: offset = UInt64.random(in: 0...9, using: &random)
            case 3..<8: offset &-= min(offset, UInt64.random(in: 0...70_000, using: &random))
            default: offset = offset.addingReportingOverflow(UInt64.random(in: 0...70_000, using: &random)).partialValue
            }
            for asked in [ahead.reach(offset), two.reach(offset)].compactMap({ $0 }) {
                #expect(asked.count <= Readahead.most && !asked.isEmpty, "seed \(seed), step \(step)")
                let gap = asked.lowerBound > offset ? asked.lowerBound - offset : offset > asked.upperBound ? offset - asked.upperBound : 0
                #expect(gap <= Readahead.most + Readahead.nearby, "seed \(seed), step \(step)")
            }
        }
    }

    @Test
    func `A scan at two positions gets readahead at both`() {
        var ahead = ReadaheadAtTwoPositions(), asked: [Range<UInt64>] = []
        for step in 0..<2000 as Range<UInt64> {
            if let range = ahead.reach(8192 + step * 4096) { asked.append(range) }
            if step % 3 == 0, let range = ahead.reach(1 << 30 + step * 1024) { asked.append(range) }
        }
        #expect(asked.contains { $0.lowerBound < 1 << 29 && $0.count == 4 << 20 } && asked.contains { $0.lowerBound > 1 << 29 })
        #expect(asked.count < 30)
    }
}
