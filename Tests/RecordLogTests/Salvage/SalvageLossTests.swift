import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// The report about lost rows, and bytes that look like frames.
@Suite struct SalvageLossTests {
    @Test
    func `The index shows a deletion whose record is lost`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<10).map { person("p \($0)") })
        try made.write([4: nil])
        let deletion = try #require(try made.frames(.commit).last)
        try made.sample.store.checkpoint()
        made.take()
        made.damage(deletion.offset..<deletion.end)
        let outcome = try made.salvage()
        #expect(outcome.people == made.sample.people)
        #expect(outcome.report.deletionsByIndex == 1 && outcome.report.missingCommits.count == 1 && !outcome.report.isComplete)
    }

    @Test
    func `Rows that an index names without a record are counted`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<5).map { person("kept \($0)") })
        try made.write([2: person("changed")], inserting: (0..<3).map { person("lost \($0)") })
        let lost = try made.frame(of: 7)
        try made.sample.store.checkpoint()
        try made.write([:], inserting: [person("behind")])
        made.take()
        made.damage(lost)
        let outcome = try made.salvage()
        let table = outcome.report.tables[0]
        #expect(table.kept == 6 && table.lost == 3 && table.older == 1 && table.unaccounted == 0, "\(table)")
        #expect(outcome.report.lostRows.map(\.row) == [6, 7, 8])
        #expect(outcome.people[2] == person("kept 1"))
    }

    @Test
    func `Numbers without a record are counted if there is no index`() throws {
        let made = try DamagedSample()
        for number in 0..<6 { try made.write([:], inserting: [person("p \(number)")]) }
        let lost = try made.frame(of: 3)
        made.take()
        made.damage(lost)
        let outcome = try made.salvage()
        #expect(outcome.report.tables[0].unaccounted == 1 && outcome.report.tables[0].lost == 0)
        #expect(outcome.people.count == 5 && outcome.report.missingCommits.count == 1)
        // The number is not used again.
        #expect(outcome.store.snapshot().state(made.sample.table.id)?.nextRow == 7)
    }

    @Test
    func `An older catalog is used if the newest is lost`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("kept")])
        var second: RowReference?
        try made.sample.store.write { transaction in
            let table = try transaction.defineTable(name: "Second", columns: [("flag", .bool)])
            second = RowReference(table: table.id, row: 1)
        }
        let catalog = try #require(try made.frames(.commit).last)
        let table = try #require(made.sample.store.snapshot().catalog.table(named: "Second"))
        try made.sample.store.write { transaction in
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            builder.set(0, bool: true)
            #expect(try transaction.newRow(in: table.id) == second?.row)
            try transaction.put(try #require(second), body: builder.unsafeBody())
        }
        made.take()
        made.damage(catalog.offset..<catalog.end)
        let outcome = try made.salvage()
        #expect(outcome.people == made.sample.people)
        #expect(outcome.report.rowsWithoutTable == 1 && !outcome.report.isComplete && outcome.report.tables.map(\.name) == ["Person"])
    }

    /// A compacted file has no older catalog to fall back on, so it has two copies of the newest.
    @Test
    func `No single damaged frame takes the catalog of a compacted file`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<1300).map { person("person number \($0)") })
        _ = try made.sample.store.compact()
        let frames = try made.frames(.rows, .commit)
        #expect(frames.count > 2)
        made.take()
        let whole = made.bytes
        for frame in [frames[0], frames[frames.count - 1]] {
            made.bytes = whole
            made.damage(frame.offset + 100..<frame.offset + 101)
            let outcome = try made.salvage()
            let isLast = frame.offset == frames.last?.offset
            #expect(isLast ? !outcome.people.isEmpty : outcome.people == made.sample.people)
        }
    }

    @Test
    func `No single damaged frame takes the catalog of a salvaged file, and a compaction makes that no larger`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<1300).map { person("person number \($0)") })
        made.take()
        let salvaged = try made.salvage()
        var frames: [LogFile.Frame] = []
        try StoreInspector(store: salvaged.store).forEachFrame(upTo: salvaged.store.log.end) {
            if $0.header.kind == .rows || $0.header.kind == .commit { frames.append($0) }
        }
        let whole = try #require(salvaged.fileSystem.contents(of: DamagedSample.newPath))
        for frame in [frames[0], frames[frames.count - 1]] {
            made.bytes = whole
            made.damage(frame.offset + 100..<frame.offset + 101)
            #expect(try made.salvage().people == made.sample.people)
        }
        let report = try salvaged.store.compact()
        #expect(report.bytesAfter <= report.bytesBefore, "\(report)")
    }

    /// Pages were counted as full ones, so the indexes of a store of many small tables seemed larger than its file.
    @Test
    func `An inspection counts the bytes that pages have`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("one")])
        try made.sample.store.checkpoint()
        made.take()
        let fileSystem = MemoryFileSystem()
        fileSystem.setContents(of: SampleStore.path, to: made.bytes)
        let inspection = try StoreInspection.inspect(path: SampleStore.path, fileSystem: fileSystem)
        #expect(inspection.indexBytes > 0 && inspection.indexBytes < inspection.logBytes - FileFormat.dataStart, "\(inspection.indexBytes)")
    }

    @Test
    func `Rows of a dropped table are not reported missing`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("gone")])
        try made.sample.store.write { try $0.dropTable(made.sample.table.id) }
        made.take()
        let outcome = try made.salvage()
        #expect(outcome.report.isComplete && outcome.report.rows == 0 && outcome.report.tables.isEmpty, "\(outcome.report)")
    }

    /// A body that does not fit its layout is lost, and takes no other row with it.
    @Test(arguments: ["layout", "short", "width"])
    func `Only the row that does not fit its layout is lost`(fault: String) throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<4).map { person("p \($0)") })
        // Simulates a faulty writer: the change is made in the file and the checksum recomputed.
        let frame = try #require(try made.frames(.commit).last)
        let snapshot = made.sample.store.snapshot()
        let address = try #require(try snapshot.address(of: made.sample.reference(2)))
        made.take()
        let record = try snapshot.file.record(at: address, end: snapshot.end).record
        let body = Int(address) + record.bodyOffset, layout = made.sample.table.currentLayout
        switch fault {
        case "layout": made.bytes[body] = 99
        case "short": made.bytes[Int(address) + RowRecord.Layout.word] = UInt8(layout.minimumBodySize - 1)
        default: made.bytes[body + 1] = 0xC0
        }
        if fault == "short" {
            // The next record moves up behind a shorter one, so the rest of the frame changes its meaning.
            #expect(RowRecord.size(ofBody: record.bodyLength) >= RowRecord.size(ofBody: layout.minimumBodySize - 1))
        }
        made.bytes.withUnsafeMutableBytes { bytes in
            _ = FrameHeader.seal(
                bytes.baseAddress! + Int(frame.offset), kind: .commit, payloadLength: Int(frame.header.payloadLength),
                sequence: frame.header.sequence, fileID: snapshot.file.identity.fileID, offset: frame.offset)
        }
        let outcome = try made.salvage()
        #expect(outcome.people[1] == made.sample.people[1] && outcome.people[2] == nil)
        let report = outcome.report
        #expect(report.tables[0].malformed == 1 && !report.isComplete, "\(report)")
        guard fault != "short" else {
            #expect(report.malformedRecords > 0)
            return
        }
        #expect(outcome.people.count == 3)
    }

    // MARK: What looks like a frame

    /// A value may contain a whole store, with this store's own frames among it: whether its frame is whole or damaged, nothing in it is taken for
    /// a row.
    @Test(arguments: [false, true])
    func `Frames inside a value are not taken for frames`(isDamaged: Bool) throws {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<20).map { person("p \($0)") })
        made.take()
        let embedded = Array(made.bytes[Int(FileFormat.dataStart)..<Int(made.sample.store.log.end)])
        try made.write(Dictionary(uniqueKeysWithValues: (1...20 as ClosedRange<UInt64>).map { ($0, nil) }))
        // Each alignment that a value may have, so that in some the frames are at multiples of 64.
        for shift in 0..<16 {
            let value = [UInt8](repeating: 1, count: shift * 4) + embedded
            try made.sample.store.write { try $0.setSystemValue(30 + UInt64(shift), value) }
        }
        let lost = try #require(try made.frames(.commit).last)
        made.take()
        if isDamaged { made.damage(lost.offset + 16..<lost.offset + 20) }
        let outcome = try made.salvage()
        #expect(outcome.people.isEmpty)
        #expect(outcome.report.systemValues == (isDamaged ? 15 : 16))
        #expect(outcome.report.isComplete == !isDamaged)
    }

    /// Headers at every offset that claim all of the rest would make the search quadratic; the search stops hashing.
    @Test
    func `False lengths do not make the search long`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("kept")])
        try made.sample.store.close()
        made.take()
        let start = made.bytes.count
        made.bytes += [UInt8](repeating: 0, count: 1 << 20)
        made.bytes.withUnsafeMutableBytes { bytes in
            for at in stride(from: (start + 63) & ~63, to: bytes.count - 64, by: 64) {
                let length = UInt32(min(65536 - at % 65536, bytes.count - at) & ~63)
                bytes.storeBytes(of: length.littleEndian, toByteOffset: at + FrameHeader.Layout.length, as: UInt32.self)
                bytes.storeBytes(of: (~length).littleEndian, toByteOffset: at + FrameHeader.Layout.complement, as: UInt32.self)
                bytes[at + FrameHeader.Layout.kind] = FrameKind.rows.rawValue
            }
        }
        let source = try salvageSource(made.bytes)
        var budget = UInt64(made.bytes.count)
        var tried = 0
        for at in stride(from: UInt64(start + 63) & ~63, to: UInt64(made.bytes.count), by: 64) {
            let before = budget
            #expect(try source.frame(at: at, budget: &budget) == nil)
            tried += before == budget ? 0 : 1
        }
        #expect(tried > 0 && tried < 1000)
        let outcome = try made.salvage()
        #expect(outcome.people == made.sample.people && outcome.report.tail == .unfinished)
    }

    /// An attacker can make valid checksums; the numbers under them may be anything.
    @Test
    func `A salvage survives impossible numbers under valid checksums`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("kept")])
        try made.sample.store.checkpoint()
        try made.sample.store.close()
        made.take()
        let fileID = made.sample.store.log.file.identity.fileID
        var superblock = made.sample.store.log.superblock
        superblock.generation = .max
        superblock.sequence = .max
        superblock.end = .max
        superblock.durableEnd = .max - 1
        made.bytes.replaceSubrange(0..<Superblock.Layout.size, with: superblock.encoded(fileID: fileID))
        // A commit with the highest number, and rows without a table, number and history.
        var frame = [UInt8](repeating: 0, count: 1024)
        let offset = UInt64((made.bytes.count + 63) & ~63)
        let footer = CommitFooter(
            sequence: .max, previousChecksum: 1, start: offset, timestamp: .min, durableSequence: .max, rowCount: .max, authorLength: 0)
        frame.withUnsafeMutableBytes { bytes in
            var at = FrameHeader.Layout.size
            for reference in [RowReference(rawValue: .max), RowReference(rawValue: 0), RowReference(table: .system, row: 5000),
                RowReference(table: made.sample.table.id, row: RowReference.rowMask)] {
                at += RowRecord.write(
                    to: bytes.baseAddress! + at, .put, reference, bodyLength: 0, distance: at, version: .max, previous: .max)
            }
            footer.write(to: bytes.baseAddress! + at)
            _ = FrameHeader.seal(
                bytes.baseAddress!, kind: .commit, payloadLength: at + CommitFooter.Layout.size - FrameHeader.Layout.size, sequence: .max,
                fileID: fileID, offset: offset)
        }
        made.bytes += [UInt8](repeating: 0, count: Int(offset) - made.bytes.count) + frame
        let outcome = try made.salvage()
        #expect(outcome.people == made.sample.people)
        #expect(outcome.report.malformedRecords == 4 && outcome.report.newestCommit == .max && !outcome.report.isComplete, "\(outcome.report)")
        #expect(outcome.report.missingCommits.count == 1)
    }

    private func salvageSource(_ bytes: [UInt8]) throws -> SalvageSource {
        let fileSystem = MemoryFileSystem()
        fileSystem.setContents(of: SampleStore.path, to: bytes)
        return try SalvageSource(path: SampleStore.path, fileSystem: fileSystem, maps: true, lockTimeout: .seconds(1))
    }

    // MARK: Files

    /// Unreadable sectors are damage like any other, and are never touched through mapped memory.
    @Test
    func `Unreadable sectors are damage`() throws {
        let made = try DamagedSample()
        for number in 0..<200 { try made.write([:], inserting: [person("p \(number) \(String(repeating: "x", count: 100))")]) }
        made.take()
        let bad: Range<UInt64> = 20480..<24576
        let fileSystem = UnreadableFileSystem(unreadable: bad)
        fileSystem.memory.setContents(of: SampleStore.path, to: made.bytes)
        var options = made.sample.options
        options.fileSystem = fileSystem
        let report = try StoreSalvage.salvage(path: SampleStore.path, to: "new", options: options)
        let expected = try made.sample.people.filter { try !made.frame(of: $0.key).overlaps(bad) }
        #expect(expected.count < 200 && report.rows == expected.count && !report.isComplete)
        #expect(report.damage.contains { $0.offset <= bad.lowerBound && $0.end >= bad.upperBound })
        let store = try LogStore.open(path: "new", options: options)
        #expect(try made.sample.contents(store.snapshot()) == expected)
    }

    @Test
    func `No existing file is overwritten`() throws {
        let made = try DamagedSample()
        try made.write([:], inserting: [person("p")])
        let fileSystem = made.sample.fileSystem as! MemoryFileSystem
        func code(_ new: String) -> StoreError.Code? {
            #expect(throws: StoreError.self) { try StoreSalvage.salvage(path: SampleStore.path, to: new, options: made.sample.options) }?.code
        }
        fileSystem.setContents(of: "there", to: [1])
        #expect(code("there") == .exists)
        #expect(code(SampleStore.path) == .exists)
        #expect(fileSystem.contents(of: "there") == [1])
        fileSystem.setContents(of: "new.salvaging", to: [2])
        #expect(code("new") == .exists)
        #expect(fileSystem.contents(of: "new.salvaging") == [2])
    }

    /// A failed salvage leaves no file that looks like a salvaged store.
    @Test
    func `A salvage that fails leaves nothing`() throws {
        let whole = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: whole)
        for number in 0..<5 { try sample.insert(person("p \(number)")) }
        try sample.store.close()
        let before = whole.operations.count
        _ = try StoreSalvage.salvage(path: SampleStore.path, to: "new", options: sample.options)
        let operations = whole.operations.count - before
        #expect(operations > 8)
        for operation in 0..<operations {
            try whole.remove("new")
            whole.fail(at: whole.operations.count + operation, .once(EIO))
            let failed = try? StoreSalvage.salvage(path: SampleStore.path, to: "new", options: sample.options)
            #expect(try whole.identity(of: "new.salvaging") == nil, "operation \(operation)")
            guard failed == nil, try whole.identity(of: "new") != nil else { continue }
            // The name existed and was not synced yet.
            #expect(try StoreVerification.verify(path: "new", fileSystem: whole).isSound, "operation \(operation)")
        }
        // After a power failure at any operation there is no new file, or a whole one.
        for operation in 0..<operations {
            try whole.remove("new")
            whole.fail(at: whole.operations.count + operation, .once(EIO))
            _ = try? StoreSalvage.salvage(path: SampleStore.path, to: "new", options: sample.options)
            let image = whole.afterPowerLoss(seed: UInt64(operation))
            guard try image.identity(of: "new") != nil else { continue }
            let report = try StoreVerification.verify(path: "new", fileSystem: image)
            #expect(report.isSound && report.rows == 5, "operation \(operation): \(report)")
        }
    }
}

/// A file system with unreadable sectors.
private final class UnreadableFileSystem: ForwardingFileSystem, @unchecked Sendable {
    let memory: MemoryFileSystem
    private let unreadable: Range<UInt64>

    init(unreadable: Range<UInt64>) {
        self.unreadable = unreadable
        memory = MemoryFileSystem()
        super.init(memory)
    }

    override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let file = try super.open(path, mode)
        return mode == .readOnly && path == SampleStore.path ? File(file, unreadable) : file
    }

    private final class File: ForwardingFile, @unchecked Sendable {
        private let unreadable: Range<UInt64>

        init(_ file: any StorageFile, _ unreadable: Range<UInt64>) {
            self.unreadable = unreadable
            super.init(file)
        }

        override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
            guard !unreadable.overlaps(offset..<offset + UInt64(buffer.count)) else {
                throw StoreError(.io, path: SampleStore.path, at: offset, "pread failed", remedy: "", errno: EIO)
            }
            return try super.read(into: buffer, at: offset)
        }
    }
}
