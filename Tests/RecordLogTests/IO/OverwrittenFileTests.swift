import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Files that get other bytes, or another name, while a handle has them open.
@Suite(.serialized) struct OverwrittenFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-overwritten-\(UUID().uuidString)").path

    private func cleanUp(_ others: String...) { for path in [path] + others { try? FileManager.default.removeItem(atPath: path) } }

    private func make(_ durability: Durability, maps: Bool = true) throws -> SampleStore {
        try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.segmentShift = 16
            $0.usesMemoryMapping = maps
            $0.durability = durability
        }
    }

    private func insert(_ sample: SampleStore, _ count: Int) throws {
        for number in 0..<count { try sample.insert(.init(name: "\(number)", age: Int64(number), group: 1)) }
    }

    /// Overwrites as `cp backup store` does, which keeps the inode.
    private func overwrite(with bytes: Data) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.write(contentsOf: bytes)
        try file.truncate(atOffset: UInt64(bytes.count))
        try file.close()
    }

    @Test(arguments: [Durability.full, .relaxed, .none])
    func `A backup that is copied over an open store is found before anything is written`(durability: Durability) throws {
        for maps in [true, false] {
            defer { cleanUp() }
            let sample = try make(durability, maps: maps)
            try insert(sample, 3)
            let backup = try Data(contentsOf: URL(fileURLWithPath: path))
            try insert(sample, 5)
            try overwrite(with: backup)
            for _ in 0..<2 {
                let error = #expect(throws: StoreError.self) { try sample.store.write { try $0.setSystemValue(20, [1]) } }
                #expect(error?.code == .superseded, "\(String(describing: error))")
                #expect(#expect(throws: StoreError.self) { _ = try sample.store.refresh() }?.code == .superseded)
                #expect(#expect(throws: StoreError.self) { try sample.store.copy(to: path + ".copy") }?.code == .superseded)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == backup)
            var options = sample.options
            options.fileSystem = POSIXFileSystem()
            let again = try LogStore.open(path: path, options: options)
            try again.write { try $0.setSystemValue(20, [1]) }
            try again.close()
            #expect(try StoreVerification.verify(path: path).isSound)
        }
    }

    @Test
    func `Another handle's commits are no older state, whichever of the two writes`() throws {
        defer { cleanUp() }
        let one = try make(.full), two = try LogStore.open(path: path, options: one.options)
        for _ in 0..<5 {
            try one.store.write { try $0.setSystemValue(20, [1]) }
            try two.write { try $0.setSystemValue(20, [2]) }
            try two.checkpoint()
            _ = try one.store.refresh()
        }
        #expect(one.store.snapshot().sequence == two.snapshot().sequence)
    }

    @Test
    func `A path with a zero byte names no file, and not the one before it`() throws {
        defer { cleanUp() }
        let error = #expect(throws: StoreError.self) { try LogStore.open(path: path + "\0.backup") }
        #expect(error?.code == .invalidArgument && !FileManager.default.fileExists(atPath: path))
    }

    @Test
    func `A replaced file that another name still leads to is refused for writing, and read`() throws {
        let link = path + ".link", new = path + ".new"
        defer { cleanUp(link, new) }
        let sample = try make(.full)
        try insert(sample, 3)
        try FileManager.default.linkItem(atPath: path, toPath: link)
        try sample.store.compact()
        try insert(sample, 1)
        let error = #expect(throws: StoreError.self) { try LogStore.open(path: link, options: sample.options) }
        #expect(error?.code == .superseded && error?.remedy.contains("--to NEW") == true, "\(String(describing: error))")
        var reading = sample.options
        reading.isReadOnly = true
        let reader = try LogStore.open(path: link, options: reading)
        #expect(try reader.copy(to: new) == 3)
        try LogStore.open(path: new, options: sample.options).write { try $0.setSystemValue(20, [1]) }
        // The store itself continues.
        try sample.store.close()
        try LogStore.open(path: path, options: sample.options).write { try $0.setSystemValue(20, [1]) }
    }
}
