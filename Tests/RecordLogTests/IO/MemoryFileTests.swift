import Testing

@testable import RecordLog

/// Files in memory that are longer than one chunk, and without room for another.
@Suite struct MemoryFileTests {
    @Test
    func `A store in memory without addresses for more says so, and what was saved is whole`() throws {
        let sample = try SampleStore(fileSystem: MemoryFileSystem(memoryMax: 64 << 20)) { $0.segmentShift = 20 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let file = try sample.fileSystem.open(SampleStore.path, .readWrite)
        let error = #expect(throws: StoreError.self) {
            try [UInt8](repeating: 1, count: 8).withUnsafeBytes { try file.write($0, at: 64 << 20) }
        }
        #expect(error?.code == .noSpace && error?.remedy.contains("ulimit -v") == true)
        try sample.insert(.init(name: "b", age: 2, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
        let none = #expect(throws: StoreError.self) { try SampleStore(fileSystem: MemoryFileSystem(memoryMax: 0)) }
        #expect(none?.code == .noSpace)
    }

    @Test
    func `A small commit writes no zeroes ahead where the options ask for none`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files) { $0.zeroAheadBytes = 0 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let bytes = try #require(files.contents(of: SampleStore.path))
        #expect(bytes.count < 16 << 10)
        try sample.insert(.init(name: "b", age: 2, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A store in memory whose segments are larger than a chunk is read, not mapped`() throws {
        let files = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: files) { $0.segmentShift = 28 }
        for number in 0..<50 { try sample.insert(.init(name: "\(number)", age: Int64(number), group: 1)) }
        try sample.store.checkpoint()
        try sample.check(try sample.store.refresh(), sample.people)
        try sample.store.close()
        let again = try LogStore.open(path: SampleStore.path, options: sample.options)
        try sample.check(again.snapshot(), sample.people)
        // Bytes on both sides of a chunk's end.
        let file = try files.open("another", .create), bytes = (0..<100).map { UInt8($0) }
        try bytes.withUnsafeBytes { try file.write($0, at: (64 << 20) - 50) }
        var found = [UInt8](repeating: 0, count: 100)
        #expect(try found.withUnsafeMutableBytes { try file.read(into: $0, at: (64 << 20) - 50) } == 100)
        #expect(found == bytes)
        try file.truncate(to: (64 << 20) - 10)
        #expect(try found.withUnsafeMutableBytes { try file.read(into: $0, at: (64 << 20) - 50) } == 40)
    }
}
