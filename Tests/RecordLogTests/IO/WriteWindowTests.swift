import Foundation
import Testing

@testable import RecordLog

/// Overwriting through memory equals overwriting by calls, also if the file changes meanwhile.
struct WriteWindowTests {
    private func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test
    func `Bytes written through mapped memory are in the file`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("window-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try POSIXFileSystem().open(path, .create)
        var model = [UInt8](repeating: 0, count: 20_000)
        func write(_ bytes: [UInt8], at offset: Int) throws {
            try bytes.withUnsafeBufferPointer { try file.write(UnsafeRawBufferPointer($0), at: UInt64(offset)) }
            if model.count < offset + bytes.count { model += [UInt8](repeating: 0, count: offset + bytes.count - model.count) }
            model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        try file.lock(timeout: .seconds(1))
        try write(model, at: 0)
        file.expectOverwriting(0..<8192)
        file.expectOverwriting(9000..<20_000)
        #expect(try file.size() == 20_000)
        // Inside each window, between windows, over an end, and over the file's end.
        for (number, offset) in [0, 8000, 8190, 9000, 15_000, 19_998, 8191, 20_002].enumerated() {
            try write([UInt8(number + 1), UInt8(number + 2), UInt8(number + 3)], at: offset)
            #expect(try read(path) == model)
        }
        file.unlock()
        // Another process truncates the file while no handle has the lock.
        let other = try POSIXFileSystem().open(path, .readWrite)
        try other.truncate(to: 10_000)
        model.removeLast(model.count - 10_000)
        try file.lock(timeout: .seconds(1))
        #expect(try file.size() == 10_000)
        try write([9, 9, 9], at: 15_000)
        try write([8, 8], at: 100)
        #expect(try read(path) == model)
        file.unlock()
    }

    /// Without syncs, one handle sees another's writes, also after the other has ended without closing.
    @Test
    func `Other handles see relaxed saves`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("relaxed-\(UUID()).heartwood").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.durability = .relaxed
            $0.zeroAheadBytes = 16_384
        }
        let other = try LogStore.open(path: path, options: sample.options)
        for number in 0..<300 {
            try sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1))
            if number % 20 == 0 { try sample.check(try other.refresh(), sample.people) }
            if number == 150 { _ = try other.compact() }
        }
        #expect(sample.store.statistics.syncs < 5)
        try sample.check(try LogStore.open(path: path, options: sample.options).snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: path).isSound)
    }

    @Test
    func `The file system of a device is found in the system's list`() {
        let list = Array("""
            22 27 0:21 / /proc rw,nosuid - proc proc rw
            27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
            not a line
            30 27 0:40 / /mnt rw
            31 27 0:41 / /home rw,relatime - btrfs /dev/vdb rw

            """.utf8)
        #expect(SystemInformation.fileSystemType(in: list, of: 254 << 8) == "ext4")
        #expect(SystemInformation.fileSystemType(in: list, of: 41) == "btrfs")
        #expect(SystemInformation.fileSystemType(in: list, of: 40) == nil)
        #expect(SystemInformation.fileSystemType(in: list, of: 7) == nil)
    }
}
