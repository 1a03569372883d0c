import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Transactions with more index entries than they keep in memory.
@Suite struct SpilledEntriesTests {
    /// A file system that records its scratch files.
    private final class Directory: ForwardingFileSystem, @unchecked Sendable {
        let made = Mutex(0)
        let removed = Mutex(0)
        let refusal = Mutex<StoreError.Code?>(nil)
        /// The room for the next scratch files, in bytes.
        let room = Mutex(Int.max)
        /// The number of the first scratch files that have become unreadable.
        let unreadable = Mutex(0)
        /// Bytes read from scratch files.
        let bytesRead = Mutex(0)

        init() { super.init(MemoryFileSystem()) }

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
            guard path.hasSuffix(ScratchFile.suffix), mode.creates else { return try super.open(path, mode) }
            if let code = refusal.withLock({ $0 }) { throw StoreError(code, path: path, "refused", remedy: "None.") }
            let file = try super.open(path, mode)
            return File(file, self, number: made.withLock { made in
                made += 1
                return made
            })
        }

        override func remove(_ path: String) throws(StoreError) {
            try super.remove(path)
            if path.hasSuffix(ScratchFile.suffix) { removed.withLock { $0 += 1 } }
        }

        private final class File: ForwardingFile, @unchecked Sendable {
            private let directory: Directory
            private let number: Int

            init(_ file: any StorageFile, _ directory: Directory, number: Int) {
                self.directory = directory
                self.number = number
                super.init(file)
            }

            override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
                guard number > directory.unreadable.withLock({ $0 }) else {
                    throw StoreError(.io, path: "scratch", at: offset, "unreadable", remedy: "None.")
                }
                let count = try super.read(into: buffer, at: offset)
                directory.bytesRead.withLock { $0 += count }
                return count
            }

            override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
                let hasRoom = directory.room.withLock { room in
                    room -= bytes.count
                    return room >= 0
                }
                guard hasRoom else { throw StoreError(.noSpace, path: "scratch", "full", remedy: "None.") }
                try super.write(bytes, at: offset)
            }
        }
    }

    /// Mostly short names, since entries are counted by their bytes.
    private static func person(_ random: inout SeededGenerator) -> SampleStore.Person {
        var person = SampleStore.Person.draw(ValueDomain(longest: 40), hasPictures: false, &random)
        if Bool.random(using: &random) { person.age = Int64.random(in: -50...50, using: &random) }
        return person
    }

    /// Runs one transaction that inserts, changes and deletes rows, its own and older ones, and checks the result.
    private func work(_ sample: SampleStore, changes: Int, _ random: inout SeededGenerator) throws {
        var people = sample.people
        try sample.store.write { transaction in
            for _ in 0..<changes {
                let known = people.keys.sorted().randomElement(using: &random)
                switch (Int.random(in: 0..<4, using: &random), known) {
                case (0, let row?):
                    people[row] = nil
                    #expect(try transaction.delete(sample.reference(row)))
                case (1, let row?):
                    people[row] = Self.person(&random)
                    try sample.put(transaction, row, people[row]!)
                default:
                    let row = try transaction.newRow(in: sample.table.id)
                    people[row] = Self.person(&random)
                    try sample.put(transaction, row, people[row]!)
                }
            }
        }
        sample.people = people
        try sample.check(sample.store.snapshot(), people)
    }

    private func checkAfterCrash(_ sample: SampleStore) throws {
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `Spilled entries are read before and after the checkpoint`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let disk = Directory()
        // With no memory there is one entry in each run, so many that runs are merged twice.
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = seed == 1 ? 0 : 300 }
        for changes in [700, 1, 150] {
            try work(sample, changes: changes, &random)
            let snapshot = sample.store.snapshot()
            let runs = snapshot.indexes.map { $0?.fresh.count ?? 0 }
            #expect(runs.reduce(0, +) > 3 && runs.allSatisfy { $0 < 3 * 16 + 9 }, "seed \(seed): \(runs)")
            try sample.check(snapshot, sample.people)
            let before = sample.people
            if changes == 150 { try sample.store.checkpoint() }
            try sample.check(sample.store.snapshot(), before)
            // Its runs are in a file that no other handle has.
            try sample.check(snapshot, before)
        }
        #expect(disk.made.withLock { $0 } > 0 && disk.made.withLock { $0 } == disk.removed.withLock { $0 })
        try checkAfterCrash(sample)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: disk).isSound)
    }

    /// Cached pages would be in memory as long as the file exists, including everything that was ever merged.
    @Test
    func `A scan of an unmapped file keeps nothing of it in memory`() throws {
        let disk = Directory()
        let sample = try SampleStore(fileSystem: disk) {
            $0.indexMemory = 100_000
            $0.usesMemoryMapping = false
        }
        var random = SeededGenerator(seed: 11)
        try sample.store.write { transaction in
            for _ in 0..<8000 { try sample.put(transaction, try transaction.newRow(in: sample.table.id), Self.person(&random)) }
        }
        let snapshot = sample.store.snapshot()
        let spilled = snapshot.indexes[Int(sample.byAge.rawValue)]?.fresh.reduce(0) { sum, run in
            if case .spilled(let run) = run { sum + Int(run.byteCount) } else { sum }
        } ?? 0
        #expect(spilled > 40_000)
        for isDescending in [false, true, false, true] {
            let before = disk.bytesRead.withLock { $0 }
            #expect(try sample.rows(snapshot, sample.byAge, descending: isDescending).count == 8000)
            let read = disk.bytesRead.withLock { $0 } - before
            // The scan finds its first block in the index, which is kept.
            #expect(read > spilled / 2 && read < 4 * spilled, "\(read) of \(spilled) bytes")
        }
    }

    @Test
    func `A transaction that fits makes no file`() throws {
        let disk = Directory()
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 1 << 20 }
        var random = SeededGenerator(seed: 1)
        try work(sample, changes: 300, &random)
        #expect(disk.made.withLock { $0 } == 0)
    }

    @Test(arguments: [StoreError.Code.permissionDenied, .noSpace])
    func `If no file can be made, entries stay in memory`(code: StoreError.Code) throws {
        let disk = Directory()
        disk.refusal.withLock { $0 = code }
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 2)
        try work(sample, changes: 300, &random)
        try checkAfterCrash(sample)
    }

    /// Entries spilled before count, and entries that could not be spilled stay in memory.
    @Test(arguments: [0, 8192, 9000, 12_000, 30_000])
    func `A full disk is no error of the transaction`(room: Int) throws {
        let disk = Directory()
        disk.room.withLock { $0 = room }
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 3)
        try work(sample, changes: 500, &random)
        disk.room.withLock { $0 = .max }
        try work(sample, changes: 300, &random)
        try sample.store.checkpoint()
        try checkAfterCrash(sample)
    }

    /// The log has everything that was in the file, so no checkpoint, closing, compaction or copy may fail.
    @Test(arguments: 0..<4)
    func `A file that can no longer be read is rebuilt from the log`(way: Int) throws {
        let disk = Directory()
        let sample = try SampleStore(fileSystem: disk) {
            $0.indexMemory = 300
            $0.usesMemoryMapping = false
            $0.checkpointAfterBytes = 64 << 20
        }
        var random = SeededGenerator(seed: 11)
        var people: [UInt64: SampleStore.Person] = [:]
        // Not read before, because pages that were read once are in memory.
        try sample.store.write { transaction in
            for _ in 0..<2000 {
                let row = try transaction.newRow(in: sample.table.id)
                people[row] = Self.person(&random)
                try sample.put(transaction, row, people[row]!)
            }
        }
        sample.people = people
        disk.unreadable.withLock { $0 = disk.made.withLock { $0 } }
        try #require(throws: StoreError.self) { try sample.check(sample.store.snapshot(), sample.people) }
        var path = SampleStore.path
        switch way {
        case 0: try sample.store.checkpoint()
        case 1: try sample.store.close()
        case 2: try sample.store.compact()
        default:
            path = "copy"
            try sample.store.copy(to: path, options: sample.options)
        }
        if way % 2 == 1 { try sample.reopen(path: path) }
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: path, fileSystem: disk).isSound)
    }

    /// The file may be empty, have an end that the disk does not know, or half of a header.
    @Test(arguments: [0, 20_000, 40])
    func `A file that a crash left is removed`(byteCount: Int) throws {
        let disk = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        let left = SampleStore.path + ScratchFile.suffix
        let file = try disk.open(left, .create)
        let creation = FileCreation(path: left, options: sample.options, fileSystem: disk, counters: Counters())
        if byteCount > 0 { _ = try creation.begin(file, storeID: StoredUUID(words: (0, 0)), segmentShift: 16) }
        if byteCount > 1000 { try [UInt8](repeating: 7, count: byteCount).withUnsafeBytes { try file.write($0, at: FileFormat.dataStart) } }
        if byteCount == 40 { try file.truncate(to: 40) }
        var random = SeededGenerator(seed: 4)
        try work(sample, changes: 300, &random)
        #expect(try disk.identity(of: left) == nil)
    }

    @Test
    func `Another program's file of that name stays`() throws {
        let disk = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        let path = SampleStore.path + ScratchFile.suffix
        disk.setContents(of: path, to: [1, 2, 3])
        var random = SeededGenerator(seed: 10)
        try work(sample, changes: 300, &random)
        try sample.store.close()
        try LogStore.remove(path: SampleStore.path, options: sample.options)
        #expect(disk.contents(of: path) == [1, 2, 3])
    }

    @Test
    func `A failed transaction leaves nothing`() throws {
        struct Stop: Error {}
        let disk = Directory()
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 5)
        try work(sample, changes: 100, &random)
        #expect(throws: Stop.self) {
            try sample.store.write { transaction in
                for _ in 0..<200 { try sample.put(transaction, try transaction.newRow(in: sample.table.id), Self.person(&random)) }
                throw Stop()
            }
        }
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(disk.made.withLock { $0 } == disk.removed.withLock { $0 })
    }

    @Test
    func `An index that is added or dropped is spilled too`() throws {
        let sample = try SampleStore { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 6)
        try work(sample, changes: 400, &random)
        try sample.store.write { try sample.addOrDropLateIndex($0) }
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.store.write { transaction in
            try sample.addOrDropLateIndex(transaction)
            try sample.addOrDropLateIndex(transaction)
            try sample.addOrDropLateIndex(transaction)
        }
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `After a crash a writer replays into a file and a reader into memory`() throws {
        let disk = Directory()
        let sample = try SampleStore(fileSystem: disk) { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 9)
        try work(sample, changes: 400, &random)
        func files() -> Int { disk.made.withLock { $0 } }
        let made = files()
        try sample.reopenAfterCrash()
        let replayed = files()
        #expect(replayed > made && disk.removed.withLock { $0 } == replayed)
        try sample.check(sample.store.snapshot(), sample.people)
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        #expect(files() == replayed)
        try sample.check(reader.snapshot(), sample.people)
        // Rebuilt indexes.
        try sample.store.rebuildIndexes()
        #expect(files() > replayed)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A compaction includes spilled entries`() throws {
        let sample = try SampleStore { $0.indexMemory = 300 }
        var random = SeededGenerator(seed: 7)
        try work(sample, changes: 400, &random)
        let snapshot = sample.store.snapshot(), before = sample.people
        _ = try sample.store.compact()
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.check(snapshot, before)
    }

    /// On real files a thread sorts and writes one buffer while the transaction fills the next.
    @Test(arguments: [true, false])
    func `Threads spill entries`(isMapped: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("spill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("store").path
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.indexMemory = 4000
            $0.usesMemoryMapping = isMapped
            $0.durability = .none
        }
        var random = SeededGenerator(seed: 8)
        for _ in 0..<3 { try work(sample, changes: 1500, &random) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["store"])
        try sample.reopen(path: path)
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A buffer that is emptied has all of its room again`() {
        let buffer = Memtable(bytes: 64, entries: 4)
        for entry in [[1, 2, 3], [4, 5]] as [[UInt8]] {
            entry.withUnsafeBytes { buffer.append($0, isTombstone: false) }
            #expect(buffer.count == 1 && buffer.byteCount == entry.count && Array(buffer.entry(0).bytes) == entry)
            buffer.removeAll()
            #expect(buffer.isEmpty && buffer.byteCount == 0)
        }
    }

    @Test(arguments: [1 << 10, 1 << 20])
    func `A transaction shows the entries that it added in the order of their keys, until the body stops it`(indexMemory: Int) throws {
        let sample = try SampleStore { $0.indexMemory = indexMemory }
        try sample.insert(.init(name: "stored before", age: 1, group: 1))
        try sample.store.write { transaction in
            var rows: [UInt64] = []
            for number in 0..<200 {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: "\(999 - number)", age: 1, group: 1))
                rows.append(row)
            }
            _ = try transaction.delete(sample.reference(rows.removeLast()))
            for count in [1, 2, rows.count] {
                var shown: [UInt64] = []
                try transaction.forEachAddedEntry(of: sample.byName) { _, row in
                    shown.append(row)
                    return shown.count < count
                }
                #expect(shown == Array(rows.reversed().prefix(count)))
            }
        }
    }
}
