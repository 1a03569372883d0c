import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Readers and the tools beside a writer whose work is not published yet, or never will be.
@Suite(.serialized) struct BesideWritersTests {
    private struct Abort: Error {}

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-beside-\(UUID().uuidString)").path

    /// Cuts the file after it has returned the first bytes behind an offset.
    private final class CutDisk: ForwardingFileSystem, @unchecked Sendable {
        private let path: String
        private let end: UInt64
        let cuts = Mutex(0)

        init(_ path: String, at end: UInt64) {
            (self.path, self.end) = (path, end)
            super.init(POSIXFileSystem())
        }

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { File(try super.open(path, mode), self) }

        private func looked(behind offset: UInt64) {
            guard offset > end, cuts.withLock({ $0 += 1; return $0 }) == 1 else { return }
            truncate(path, off_t(end))
        }

        private final class File: ForwardingFile, @unchecked Sendable {
            private let disk: CutDisk

            init(_ file: any StorageFile, _ disk: CutDisk) {
                self.disk = disk
                super.init(file)
            }

            override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
                let count = try super.read(into: buffer, at: offset)
                disk.looked(behind: offset + UInt64(count))
                return count
            }

            override func willRead(_ range: Range<UInt64>) { disk.looked(behind: range.upperBound) }
        }
    }

    private func make(_ durability: Durability) throws -> SampleStore {
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.durability = durability
            $0.flushSize = 64 << 10
        }
        for number in 0..<20 { try sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1)) }
        return sample
    }

    private func withUnfinished(_ sample: SampleStore, _ body: (_ logEnd: UInt64) throws -> Void) throws {
        let long = String(repeating: "n", count: 1000), end = sample.store.log.end
        #expect(throws: Abort.self) {
            try sample.store.write { transaction in
                for number in 0..<1000 as Range<Int64> {
                    try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: long, age: number, group: 2))
                }
                // No write is under way when the file is cut.
                try transaction.appender.settle()
                #expect(try transaction.base.file.storage.size() > end + 500_000)
                try body(end)
                throw Abort()
            }
        }
    }

    /// A reader once read these bytes through its mapping, where a byte that is cut off ends the process.
    @Test(arguments: [Durability.full, .relaxed, .none])
    func `A reader opens while uncommitted bytes are cut off`(durability: Durability) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try make(durability)
        try withUnfinished(sample) { end in
            var options = sample.options
            let disk = CutDisk(path, at: end)
            (options.isReadOnly, options.fileSystem) = (true, disk)
            let reader = try LogStore.open(path: path, options: options)
            #expect(disk.cuts.withLock { $0 } > 0)
            try sample.check(reader.snapshot(), sample.people)
        }
        try sample.insert(.init(name: "after", age: 1, group: 1))
        try sample.check(try sample.store.refresh(), sample.people)
    }

    @Test
    func `Reads by the tools survive the cut too`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try make(.full)
        try withUnfinished(sample) { end in
            let disk = CutDisk(path, at: end)
            let report = try StoreVerification.verify(path: path, fileSystem: disk)
            #expect(report.problems.isEmpty)
            #expect(disk.cuts.withLock { $0 } > 0)
        }
        try withUnfinished(sample) { end in
            let disk = CutDisk(path, at: end)
            let report = try StoreInspection.inspect(path: path, fileSystem: disk)
            #expect(report.tables.contains { $0.name == "Person" && $0.rows == 20 })
            #expect(disk.cuts.withLock { $0 } > 0)
        }
    }

    @Test
    func `A writer's work is not a torn tail`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try make(.full)
        try withUnfinished(sample) { _ in
            let report = try StoreVerification.verify(path: path)
            #expect(report.tail == .inProgress && report.isSound)
            #expect(try StoreInspection.inspect(path: path).tail == .inProgress)
            // The bytes that salvage maps must stay.
            var options = sample.options
            options.lockTimeout = .zero
            let error = #expect(throws: StoreError.self) { try StoreSalvage.salvage(path: path, to: path + ".new", options: options) }
            #expect(error?.code == .locked)
        }
        #expect(try StoreVerification.verify(path: path).tail == .clean)
        #expect(try StoreSalvage.salvage(path: path, to: path + ".new", options: sample.options).tail == .clean)
        try FileManager.default.removeItem(atPath: path + ".new")
    }

    /// Commits before each opening.
    private final class BusyDisk: ForwardingFileSystem, @unchecked Sendable {
        var commit: (() throws -> Void)?

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
            let file = try super.open(path, mode)
            if mode == .readOnly { do { try commit?() } catch { Issue.record(error) } }
            return file
        }
    }

    /// A verification once compared the indexes of one commit with the log of a later one, and reported commits in between as damage.
    @Test(arguments: [true, false])
    func `A verification sees one commit`(compacts: Bool) throws {
        let memory = MemoryFileSystem(), disk = BusyDisk(memory)
        let sample = try SampleStore(fileSystem: memory)
        var left = 5
        disk.commit = {
            left -= 1
            guard left >= 0 else { return }
            for number in 0..<3 as Range<Int64> { try sample.insert(.init(name: "name \(number)", age: number, group: 1)) }
            if left == 3 { try sample.store.checkpoint() }
            if compacts, left % 2 == 0 { _ = try sample.store.compact() }
        }
        while left > 0 {
            let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: disk)
            #expect(report.problems.isEmpty && report.isSound, "\(report.tail) \(report.problems)")
        }
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: disk)
        #expect(report.tail == .clean && report.rows == UInt64(sample.people.count))
        _ = try StoreInspection.inspect(path: SampleStore.path, fileSystem: disk)
    }

    /// A waiting writer tries the lock every millisecond or two, and would not see it free.
    @Test(.timeLimit(.minutes(1)))
    func `A writer that holds the lock for long lets others have it`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try make(.none), isOver = Flag(), hasBegun = DispatchSemaphore(value: 0), isDone = DispatchSemaphore(value: 0)
        let other = try LogStore.open(path: path, options: sample.options)
        let writer = Thread {
            while !isOver.value.load(ordering: .relaxed) {
                try? other.write { _ in
                    hasBegun.signal()
                    // Holds the lock for much longer than the pause of a waiting writer.
                    usleep(20_000)
                    throw Abort()
                }
            }
            isDone.signal()
        }
        writer.start()
        for number in 0..<4 {
            hasBegun.wait()
            try sample.insert(.init(name: "waited \(number)", age: 1, group: 1))
        }
        isOver.value.store(true, ordering: .relaxed)
        isDone.wait()
    }
}
