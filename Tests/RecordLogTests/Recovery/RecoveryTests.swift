import Foundation
import Testing

@testable import RecordLog

@Suite struct RecoveryTests {
    private static let takesEveryByte = ProcessInfo.processInfo.environment["HEARTWOOD_RECOVERY_BYTES"] != nil

    /// A file cut anywhere opens read-only at one of its former commits; for writing it may be refused, never misread.
    @Test
    func `A truncated file opens as some committed state`() throws {
        let (sample, states) = try SmallStore.make()
        let bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        let end = Int(sample.store.log.end)
        var opened = 0, readers = 0
        for length in stride(from: end, to: Int(FileFormat.dataStart), by: -1) {
            // For reading and for writing: both at offsets where a frame may end, and in the long form at all; otherwise alternating.
            for isReadOnly in [true, false] where Self.takesEveryByte || length % 8 == 0 || isReadOnly == (length % 2 == 0) {
                readers += isReadOnly ? 1 : 0
                do {
                    let store = try SmallStore.open(Array(bytes[..<length]), sample, isReadOnly: isReadOnly, maps: length % 3 != 0)
                    if store.snapshot().catalog.table(named: "Person") != nil {
                        #expect(states.contains(try sample.contents(store.snapshot())), "cut at \(length)")
                    }
                    opened += 1
                } catch let error as StoreError {
                    #expect(error.code == .corrupt, "cut at \(length): \(error)")
                }
            }
        }
        #expect(opened > readers && readers >= (end - Int(FileFormat.dataStart)) / 2)
    }

    /// Whichever byte is damaged, every value that is read is right, or an error is thrown. Of the header's unused bytes every 16th is tried, in
    /// the long form each.
    @Test
    func `No flipped byte is ever read as a value`() throws {
        let (sample, states) = try SmallStore.make()
        let bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        let end = Int(sample.store.log.end)
        let read = FileFormat.identityOffsets.map { Int($0)..<Int($0) + FileIdentity.Layout.size }
            + FileFormat.superblockOffsets.map { Int($0)..<Int($0) + Superblock.Layout.size } + [Int(FileFormat.dataStart)..<end]
        for at in 0..<end where Self.takesEveryByte || at % 24 == 0 || read.contains(where: { $0.contains(at) }) {
            var damaged = Array(bytes[..<(end + 64)])
            damaged[at] ^= 0x41
            do {
                let store = try SmallStore.open(damaged, sample, isReadOnly: at % 2 == 0, maps: at % 5 < 3)
                let snapshot = store.snapshot()
                if snapshot.catalog.table(named: "Person") != nil {
                    let found = try sample.contents(snapshot)
                    #expect(states.contains(found), "byte \(at)")
                    if found == states.last { try sample.check(snapshot, found) }
                }
            } catch let error as StoreError {
                #expect([.corrupt, .notAStore, .unsupportedVersion].contains(error.code), "byte \(at): \(error)")
            }
        }
    }

    /// All frames of a checkpoint's batch were lost except the first, which has the batch's length. If the log ended behind that frame, the next
    /// commits would be written where the batch claims its frames, and a replay that steps over the batch would miss them.
    @Test
    func `A log does not end within a batch`() throws {
        let (sample, states) = try SmallStore.make()
        let system = try #require(sample.fileSystem as? MemoryFileSystem)
        let end = Int(sample.store.log.end), fileID = sample.store.log.file.identity.fileID
        var superblock = sample.store.log.superblock
        var bytes = try #require(system.contents(of: SampleStore.path))
        try sample.store.checkpoint()
        let whole = try #require(system.contents(of: SampleStore.path))
        #expect(whole[end + 16] == FrameKind.batch.rawValue)
        let frameEnd = end + FrameHeader.length(forPayload: BatchFrame.payloadSize)
        bytes.replaceSubrange(end..<frameEnd, with: whole[end..<frameEnd])
        // The superblock written before the sync: it names the batch's end, and nothing of the batch is known to be durable.
        superblock.end = sample.store.log.end
        superblock.generation += 1
        bytes.replaceSubrange(Int(superblock.offset)..<Int(superblock.offset) + Superblock.Layout.size, with: superblock.encoded(fileID: fileID))
        bytes += [UInt8](repeating: 0, count: max(0, whole.count - bytes.count))
        system.setContents(of: SampleStore.path, to: bytes)
        try sample.reopenAfterCrash()
        #expect(sample.store.log.end == UInt64(end))
        sample.people = try #require(states.last)
        while sample.store.log.end <= superblock.end {
            try sample.insert(.init(name: "behind", age: 1, group: 1))
            try sample.reopenAfterCrash()
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: system).isSound)
    }

    /// Missing bytes that had been synced are corruption: a writer is refused, a reader gets the commits before them.
    @Test
    func `Damage to a durable commit is refused for writing`() throws {
        let (sample, states) = try SmallStore.make()
        var bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        let commit = try #require(try sample.store.commit(6))
        bytes[Int(commit.offset) + 40] ^= 1
        // The superblock that names the newest commit is damaged as well, so that only the later footer shows the corruption.
        let error = #expect(throws: StoreError.self) { try SmallStore.open(bytes, sample) }
        #expect(error?.code == .corrupt)
        let reader = try SmallStore.open(bytes, sample, isReadOnly: true)
        #expect(states.contains(try sample.contents(reader.snapshot())))
        #expect(try sample.contents(reader.snapshot()).count < 6)
    }

    /// With relaxed durability a crash may keep a later commit's bytes and lose an earlier one's. That is a torn tail, and the store opens at the
    /// last whole commit.
    @Test
    func `A reordered unsynced tail is torn, not corrupt`() throws {
        let (sample, states) = try SmallStore.make(.relaxed)
        var bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        let commit = try #require(try sample.store.commit(6))
        for at in Int(commit.offset)..<Int(commit.offset + commit.byteCount) { bytes[at] = 0 }
        let store = try SmallStore.open(bytes, sample)
        #expect(try sample.contents(store.snapshot()) == states[4])
        #expect(store.snapshot().sequence == 5)
    }

    /// A torn commit whose bytes look like an index frame was once skipped as a damaged one, and stayed in the log.
    @Test
    func `A torn commit that looks like an index is cut off`() throws {
        let (sample, states) = try SmallStore.make(.relaxed)
        var bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        let commit = try #require(try sample.store.commit(7))
        bytes[Int(commit.offset) + FrameHeader.Layout.kind] = FrameKind.primaryDirectory.rawValue
        let store = try SmallStore.open(bytes, sample)
        #expect(try sample.contents(store.snapshot()) == states[5])
        #expect(store.log.end == commit.offset)
        try store.write { try $0.setSystemValue(20, [1]) }
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: store.fileSystem).isSound)
    }

    @Test
    func `A torn tail is cut off before anything is appended`() throws {
        let (sample, _) = try SmallStore.make()
        let fileSystem = sample.fileSystem as! MemoryFileSystem
        var bytes = fileSystem.contents(of: SampleStore.path)!
        let end = Int(sample.store.log.end)
        bytes = Array(bytes[..<end]) + (0..<200).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        fileSystem.setContents(of: SampleStore.path, to: bytes)
        try sample.reopenAfterCrash()
        #expect(try fileSystem.open(SampleStore.path, .readOnly).size() == UInt64(end))
        try sample.insert(.init(name: "after", age: 1, group: 1))
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// A damaged checkpoint costs a replay, never a row.
    @Test
    func `Any index frame may be lost`() throws {
        let (sample, _) = try SmallStore.make()
        try sample.store.checkpoint()
        let bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        var frames: [UInt64] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) { frame in
            let kinds = FrameKind.primaryPage.rawValue...FrameKind.batch.rawValue
            if kinds.contains(frame.header.kind.rawValue) { frames.append(frame.offset) }
        }
        #expect(frames.count >= 10)
        for offset in frames {
            var damaged = bytes
            damaged[Int(offset) + 33] ^= 0xFF
            let fileSystem = MemoryFileSystem()
            fileSystem.setContents(of: SampleStore.path, to: damaged)
            var options = sample.options
            options.fileSystem = fileSystem
            options.rebuildsIndexes = true
            let store = try LogStore.open(path: SampleStore.path, options: options)
            try sample.check(store.snapshot(), sample.people)
            _ = try store.compact()
            try store.close()
            #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: fileSystem).isSound)
        }
    }

    /// Compaction once left its own list of row numbers out of the live bytes in its checkpoint.
    @Test
    func `Compaction counts the bytes that its log holds`() throws {
        let (sample, _) = try SmallStore.make()
        _ = try sample.store.compact()
        var options = sample.options
        options.rebuildsIndexes = true
        let replayed = try LogStore.open(path: SampleStore.path, options: options).snapshot()
        try sample.reopen()
        #expect(sample.store.snapshot().tables.map { $0?.liveBytes } == replayed.tables.map { $0?.liveBytes })
    }

    @Test
    func `Files of other kinds are refused by name`() throws {
        let (sample, _) = try SmallStore.make()
        func code(_ bytes: [UInt8]) -> StoreError? { #expect(throws: StoreError.self) { try SmallStore.open(bytes, sample) } }
        #expect(code(Array("hello".utf8))?.code == .notAStore)
        let sqlite = code(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 9000))
        #expect(sqlite?.code == .notAStore)
        #expect(sqlite?.message.contains("SQLite") == true)
        var newer = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)!
        var identity = FileIdentity(segmentShift: 16, storeID: StoredUUID(words: (1, 2)), fileID: 3)
        identity.version = 99
        newer.replaceSubrange(1024..<1024 + FileIdentity.Layout.size, with: identity.encoded())
        #expect(code(newer)?.code == .unsupportedVersion)
    }

    @Test
    func `A read-only handle writes nothing`() throws {
        let (sample, _) = try SmallStore.make()
        let fileSystem = sample.fileSystem as! MemoryFileSystem
        var bytes = fileSystem.contents(of: SampleStore.path)!
        bytes[Int(sample.store.log.end) + 5] = 7
        fileSystem.setContents(of: SampleStore.path, to: bytes)
        var options = sample.options
        options.isReadOnly = true
        let store = try LogStore.open(path: SampleStore.path, options: options)
        let error = #expect(throws: StoreError.self) { try store.write { try $0.setSystemValue(20, [1]) } }
        #expect(error?.code == .readOnly)
        try store.close()
        #expect(fileSystem.contents(of: SampleStore.path) == bytes)
    }

    /// Scanning a tail of that length would take forever, and no writer ever wrote that far.
    @Test(arguments: [4 << 60, 1 << 30 + 64] as [UInt64])
    func `A file longer than any store is refused before its tail is read`(size: UInt64) throws {
        let disk = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: disk) { $0.segmentShift = 16 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        try sample.store.close()
        try disk.open(SampleStore.path, .readWrite).truncate(to: size)
        let refusals: [() throws -> Void] = [
            { _ = try LogStore.open(path: SampleStore.path, options: sample.options) },
            { _ = try StoreInspection.inspect(path: SampleStore.path, fileSystem: disk) },
        ]
        for refusal in refusals {
            let error = #expect(throws: StoreError.self) { try refusal() }
            #expect(error?.code == .tooLarge && error?.path == SampleStore.path && error?.remedy.isEmpty == false)
        }
        #expect(try disk.open(SampleStore.path, .readOnly).size() == size, "nothing is cut off")
        // A reader does not need the tail.
        var options = sample.options
        options.isReadOnly = true
        try sample.check(try LogStore.open(path: SampleStore.path, options: options).snapshot(), sample.people)
    }
}
