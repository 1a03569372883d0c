import Testing

@testable import RecordLog

/// Values that are damaged, or whose references are wrong.
@Suite struct DamagedValueTests {
    /// A store with one value, a list of two chunks, behind a row without a value.
    private func make() throws -> SampleStore {
        let sample = try SampleStore {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 0
        }
        try sample.insert(.init(name: "plain", age: 1, group: 1))
        try sample.insert(.init(name: "pictured", age: 1, group: 1, picture: .init(fill: 9, count: 9000)))
        try sample.store.checkpoint()
        return sample
    }

    private func frames(_ sample: SampleStore, _ kind: FrameKind) throws -> [LogFile.Frame] {
        var found: [LogFile.Frame] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) { if $0.header.kind == kind { found.append($0) } }
        return found
    }

    /// With the checkpoint, opening the store reads no frame of the value: each is checked when it is read.
    @Test
    func `No damaged byte of a value is ever read`() throws {
        let sample = try make()
        let bytes = try SmallStore.bytes(sample)
        let value = try frames(sample, .valueChunk) + frames(sample, .valueList)
        var seen = 0
        for frame in value {
            let payload = Int(frame.offset) + FrameHeader.Layout.size
            let all = frame.header.kind == .valueList ? Array(Int(frame.offset)..<Int(frame.end))
                : Array(Int(frame.offset)..<payload) + stride(from: payload, to: Int(frame.end), by: 97)
            for at in all {
                var damaged = bytes
                damaged[at] ^= 0x41
                let store = try SmallStore.open(damaged, sample, isReadOnly: at % 2 == 0)
                let snapshot = store.snapshot()
                #expect(try snapshot.unsafeRow(sample.reference(1)).map { try sample.person($0, snapshot.value) } == sample.people[1])
                let error = #expect(throws: StoreError.self, "byte \(at)") {
                    _ = try sample.person(try #require(try snapshot.unsafeRow(sample.reference(2))), snapshot.value)
                }
                #expect(error?.code == .corrupt && error?.offset == frame.offset, "byte \(at): \(String(describing: error))")
                seen += 1
            }
        }
        #expect(seen > 200)
    }

    /// The report of `heartwood verify`, and the effect on a compaction.
    @Test
    func `A damaged value is reported and not copied`() throws {
        let sample = try make()
        var bytes = try SmallStore.bytes(sample)
        let chunk = try frames(sample, .valueChunk)[1]
        bytes[Int(chunk.offset) + 100] ^= 1
        let store = try SmallStore.open(bytes, sample)
        let error = #expect(throws: StoreError.self) { _ = try store.compact() }
        #expect(error?.code == .corrupt && error?.offset == chunk.offset)
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: store.fileSystem)
        #expect(!report.isSound)
    }

    /// References and lists with valid checksums and false content.
    @Test
    func `A false reference is a typed error`() throws {
        let sample = try make()
        let file = sample.store.snapshot().file
        let list = try #require(try frames(sample, .valueList).first), chunks = try frames(sample, .valueChunk)
        let rows = try #require(try frames(sample, .commit).last)
        func pointer(_ frame: LogFile.Frame) -> FramePointer { FramePointer(offset: frame.offset, checksum: frame.header.checksum) }
        func error(_ form: ValueReference.Form, _ length: UInt64, _ pointer: FramePointer) -> StoreError? {
            #expect(throws: StoreError.self, "\(form), \(length), \(pointer)") {
                let stored = ValueReference(form: form, length: length, pointer: pointer).encoded
                try stored.withUnsafeBytes { try ValueReader($0, in: file).verify() }
            }
        }
        var wrong = pointer(list)
        wrong.checksum ^= 1
        let outside: [UInt64] = [0, 64, 8191, 8193, sample.store.log.end, 1 << 40, .max, .max - 63]
        let falseReferences: [(ValueReference.Form, UInt64, FramePointer)] = [
            (.list, 8999, pointer(list)), (.list, 9001, pointer(list)), (.list, .max, pointer(list)), (.list, 9000, wrong),
            (.list, 9000, pointer(chunks[0])), (.list, 9000, pointer(rows)), (.chunk, 8160, pointer(list)),
            (.chunk, 8159, pointer(chunks[0])), (.chunk, 8161, pointer(chunks[0])), (.chunk, .max, pointer(chunks[0])),
            (.chunk, 100, pointer(rows)),
        ] + outside.flatMap { [(.list, 9000, FramePointer(offset: $0, checksum: 1)), (.chunk, 9000, FramePointer(offset: $0, checksum: 1))] }
        for (form, length, pointer) in falseReferences {
            #expect(error(form, length, pointer)?.code == .corrupt, "\(form), \(length), \(pointer)")
        }
        func repeating(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
        for malformed in [[], [1], [3] + repeating(1, 24), [1] + repeating(0, 24), [2] + repeating(1, 25)] {
            let error = #expect(throws: StoreError.self) { try malformed.withUnsafeBytes { _ = try ValueReader($0, in: file) } }
            #expect(error?.code == .corrupt)
        }
        #expect(try ValueReader(.reference(.init(form: .list, length: 9000, pointer: pointer(list))), in: file).count == 9000)
    }

    /// Lists in valid frames: a chunk named many times, one behind the list, lengths that do not add up.
    @Test
    func `A false list is a typed error`() throws {
        let fileSystem = MemoryFileSystem()
        let file = LogFile(
            storage: try fileSystem.open("lists", .create), path: "lists",
            identity: FileIdentity(segmentShift: 16, storeID: StoredUUID(words: (1, 2)), fileID: 3),
            maps: true, counters: Counters())
        let appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: 1, counters: Counters())
        func append(_ kind: FrameKind, _ bytes: [UInt8]) throws -> FramePointer {
            try bytes.withUnsafeBytes { try appender.appendValueFrame(kind, $0) }
        }
        let a = try append(.valueChunk, [UInt8](repeating: 1, count: 100)), b = try append(.valueChunk, [UInt8](repeating: 2, count: 50))
        let row = try append(.rows, [UInt8](repeating: 2, count: 50))
        func isRead(_ length: UInt64, _ chunk: Int, _ pointers: [FramePointer], stated: UInt64? = nil, cut: Int = 0) throws -> Bool {
            let bytes = ValueList.encode(length: length, chunkLength: chunk, pointers)
            let list = try append(.valueList, Array(bytes[..<(bytes.count - cut)]))
            try appender.flush()
            let reference = ValueReference(form: .list, length: stated ?? length, pointer: list)
            return (try? ValueReader(.reference(reference), in: file).verify()) != nil
        }
        #expect(try isRead(150, 100, [a, b]))
        #expect(try !isRead(150, 100, [b, a]) && !isRead(200, 100, [a, a]) && !isRead(150, 100, [a, row]))
        #expect(try !isRead(151, 100, [a, b]) && !isRead(149, 100, [a, b]) && !isRead(150, 75, [a, b]) && !isRead(150, 0, [a, b]))
        #expect(try !isRead(150, 100, [a]) && !isRead(150, 100, []) && !isRead(0, 100, []) && !isRead(150, 100, [a, b, b]))
        #expect(try !isRead(.max, 1, [a, b]) && !isRead(150, 100, [a, b], stated: 151) && !isRead(150, 100, [a, b], cut: 8))
        let ahead = FramePointer(offset: appender.position + 128, checksum: 5)
        #expect(try !isRead(150, 100, [a, ahead]))
        // A chunk behind the list, whose checksum is known.
        let list = appender.position
        _ = try append(.valueList, ValueList.encode(length: 150, chunkLength: 100, [a, FramePointer(offset: list + 128, checksum: 5)]))
    }

    /// Rows that share one value, or claim more than the file holds, do not make a verification or a salvage endless.
    @Test
    func `The work for the values that rows claim is bounded`() throws {
        let sample = try make()
        let file = sample.store.snapshot().file, end = sample.store.snapshot().end
        let list = try #require(try frames(sample, .valueList).first)
        let stored = ValueReference(form: .list, length: 9000, pointer: .init(offset: list.offset, checksum: list.header.checksum)).encoded
        let audit = ValueAudit(path: "audit", size: end) { offset, budget throws(StoreError) in
            try file.frame(at: offset, limit: end, budget: &budget)
        }
        var read = 0
        while (try? stored.withUnsafeBytes { try audit.value($0) }) != nil { read += 1 }
        #expect(read == Int(end / 9000))
    }

    // MARK: Salvage

    @Test
    func `A value that lost a part is null and listed`() throws {
        for (kind, index) in [(FrameKind.valueChunk, 0), (.valueChunk, 1), (.valueList, 0)] {
            let sample = try make()
            try sample.insert(.init(name: "whole", age: 3, group: 1, picture: .init(fill: 3, count: 20_000)))
            var bytes = try SmallStore.bytes(sample)
            bytes[Int(try frames(sample, kind)[index].offset) + 40] ^= 1
            let fileSystem = MemoryFileSystem()
            fileSystem.setContents(of: SampleStore.path, to: bytes)
            var options = sample.options
            options.fileSystem = fileSystem
            let report = try StoreSalvage.salvage(path: SampleStore.path, to: "new", options: options)
            #expect(!report.isComplete && report.tables.first?.valuesLost == 1 && report.tables.first?.kept == 3)
            #expect(report.lostValues == [.init(reference: sample.reference(2), column: "picture", bytes: 9000)])
            let store = try LogStore.open(path: "new", options: options)
            var people = sample.people
            people[2]?.picture = nil
            let found = try #require(SampleStore(reading: store))
            try found.check(store.snapshot(), people)
            #expect(try StoreVerification.verify(path: "new", fileSystem: fileSystem).isSound)
        }
    }
}
