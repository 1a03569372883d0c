import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Stores whose files are read instead of mapped.
@Suite struct UnmappedFileTests {
    private func make(
        _ fileSystem: any FileSystem = MemoryFileSystem(), rows: Int = 40, path: String = SampleStore.path
    ) throws -> SampleStore {
        let sample = try SampleStore(fileSystem: fileSystem, path: path) {
            $0.segmentShift = 16
            $0.usesMemoryMapping = false
        }
        for number in 0..<rows {
            try sample.insert(.init(name: "\(number) " + String(repeating: "n", count: 4000), age: Int64(number), group: 1))
        }
        try sample.store.checkpoint()
        return sample
    }

    // MARK: Costs

    @Test
    func `A page that was read is not read again`() throws {
        let sample = try make()
        try sample.reopen()
        let opened = sample.store.statistics, size = try sample.store.log.file.storage.size()
        // The header's superblocks, and a page for each structure that the checkpoint names.
        #expect(opened.bytesRead < 40_000, "\(opened)")
        try sample.check(sample.store.snapshot(), sample.people)
        let read = sample.store.statistics
        #expect(read.bytesRead > 160_000 && read.bytesRead < size + size / 4, "\(read), \(size) bytes")
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(sample.store.statistics.reads == read.reads)
    }

    @Test
    func `A row is read with only its frame`() throws {
        let sample = try make()
        try sample.reopen()
        let snapshot = sample.store.snapshot()
        _ = try snapshot.unsafeRow(sample.reference(1))
        let before = sample.store.statistics
        #expect(try snapshot.unsafeRow(sample.reference(20)).map { try sample.person($0, snapshot.value) } == sample.people[20])
        let after = sample.store.statistics
        // The page of its record, that of its frame's header, and the frame.
        #expect(after.reads - before.reads <= 3 && after.bytesRead - before.bytesRead <= 3 * 4096 + 4200)
    }

    /// Consecutive frames are read together.
    @Test
    func `A replay reads each byte once`() throws {
        let sample = try SampleStore { $0.usesMemoryMapping = false }
        for number in 0..<400 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
        let log = sample.store.log.end - FileFormat.dataStart
        try sample.reopenAfterCrash()
        let opened = sample.store.statistics
        #expect(opened.bytesReplayed <= log && opened.bytesReplayed > log / 2)
        // The zeroes behind the log are read as well.
        #expect(opened.bytesRead < log + (2 << 20) && opened.reads < 30, "\(opened), \(log) bytes")
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(sample.store.statistics.reads == opened.reads)
    }

    // MARK: Changes

    /// Another handle's commits are written to bytes that this one has read as zeroes.
    @Test
    func `Bytes read before they were written are read again`() throws {
        let sample = try make(rows: 1)
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        for number in 0..<20 {
            try sample.check(try reader.refresh(), sample.people)
            try sample.insert(.init(name: "later \(number)", age: 1, group: 1))
            if number % 7 == 3 { try sample.store.checkpoint() }
        }
        try sample.check(try reader.refresh(), sample.people)
    }

    /// A transaction reads back its flushed bytes; when it is abandoned, others write other bytes at the same offsets.
    @Test
    func `Bytes flushed by an abandoned transaction are forgotten`() throws {
        struct GivenUp: Error {}
        let sample = try make(rows: 2)
        let end = sample.store.log.end
        func fill(_ transaction: Transaction, _ letter: String) throws -> [UInt64: SampleStore.Person] {
            var people: [UInt64: SampleStore.Person] = [:]
            for number in 0..<700 {
                let row = try transaction.newRow(in: sample.table.id)
                people[row] = .init(name: String(repeating: letter, count: 7000), age: Int64(number), group: 1)
                try sample.put(transaction, row, people[row]!)
            }
            // Most of it is in the file by now.
            #expect(transaction.appender.base > end)
            for (row, person) in people {
                #expect(try transaction.unsafeRow(sample.reference(row)).map { try sample.person($0, transaction.value) } == person)
            }
            return people
        }
        #expect(throws: GivenUp.self) {
            try sample.store.write { transaction in
                _ = try fill(transaction, "a")
                throw GivenUp()
            }
        }
        let new = try sample.store.write { try fill($0, "b") }
        sample.people.merge(new) { $1 }
        #expect(try sample.contents(sample.store.snapshot()) == sample.people)
    }

    @Test
    func `Several threads read the same frames at once`() throws {
        let sample = try make()
        try sample.reopen()
        let snapshot = sample.store.snapshot(), size = try sample.store.log.file.storage.size()
        let (table, wanted) = (sample.table.id, sample.people.count), threads = 4
        let found = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            var count = 0
            try? snapshot.scan(table) { row in
                count += row.byteCount > 4000 ? 1 : 0
                return true
            }
            found.withLock { $0.append(count) }
        }
        #expect(found.withLock { $0 } == Array(repeating: wanted, count: threads))
        #expect(sample.store.statistics.bytesRead < UInt64(threads + 1) * size)
    }

    // MARK: Failures

    /// Whichever read fails, an error is thrown, and nothing wrong is cached.
    @Test
    func `A failed read is an error once and leaves nothing wrong`() throws {
        let system = SimulatedFileSystem()
        let sample = try make(system, rows: 12)
        var failed = 0
        for number in 0..<60 {
            var options = sample.options
            options.isReadOnly = true
            let store = try LogStore.open(path: SampleStore.path, options: options)
            system.failRead(after: number, EIO)
            let reader = try #require(SampleStore(reading: store))
            do {
                #expect(try reader.mismatch(store.snapshot(), sample.people) == nil)
            } catch let error as StoreError {
                #expect(error.code == .io && error.path == SampleStore.path && error.systemErrno == EIO && !error.remedy.isEmpty)
                failed += 1
            }
            system.heal()
            #expect(try reader.mismatch(store.snapshot(), sample.people) == nil, "read \(number)")
        }
        #expect(failed > 12 && failed < 60)
    }

    /// A real file: mapped, it would end this process.
    @Test
    func `A file cut while it is open is an error`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-cut-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try make(POSIXFileSystem(), path: path)
        try sample.store.close()
        var options = sample.options
        options.isReadOnly = true
        let store = try LogStore.open(path: path, options: options)
        let snapshot = store.snapshot(), size: UInt64 = 100_000
        let row = try #require(try snapshot.unsafeRow(sample.reference(3)))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: size)
        try handle.close()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try sample.contents(snapshot) }
            #expect(error?.code == .corrupt && error?.path == path && error?.offset == size && error?.remedy.contains("salvage") == true)
        }
        let refreshed = #expect(throws: StoreError.self) { try store.refresh() }
        #expect(refreshed?.code == .corrupt && refreshed?.offset == size)
        // Rows that were read are still readable.
        #expect(try sample.person(row, snapshot.value) == sample.people[3])
        #expect(try snapshot.unsafeRow(sample.reference(3)).map { try sample.person($0, snapshot.value) } == sample.people[3])
    }

    // MARK: Files that cannot be mapped

    @Test
    func `A file that cannot be mapped is read`() throws {
        for code in [ENODEV, ENOMEM] {
            let sample = try SampleStore(fileSystem: MaplessFileSystem(code))
            for number in 0..<5 { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
            #expect(sample.options.usesMemoryMapping)
            try sample.reopen()
            try sample.check(sample.store.snapshot(), sample.people)
            #expect(sample.store.statistics.bytesRead > 0)
        }
        let error = #expect(throws: StoreError.self) {
            let sample = try SampleStore(fileSystem: MaplessFileSystem(EACCES))
            try sample.insert(.init(name: "a", age: 1, group: 1))
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(error?.systemErrno == EACCES)
    }
}

/// Files in memory that cannot be mapped.
private final class MaplessFileSystem: ForwardingFileSystem, @unchecked Sendable {
    private let code: Int32

    init(_ code: Int32) {
        self.code = code
        super.init(MemoryFileSystem())
    }

    override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { File(try super.open(path, mode), path, code) }

    private final class File: ForwardingFile, @unchecked Sendable {
        private let path: String
        private let code: Int32

        init(_ file: any StorageFile, _ path: String, _ code: Int32) {
            self.path = path
            self.code = code
            super.init(file)
        }

        override func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer {
            throw StoreError(.io, path: path, at: offset, "mmap failed", remedy: "None.", errno: code)
        }
    }
}
