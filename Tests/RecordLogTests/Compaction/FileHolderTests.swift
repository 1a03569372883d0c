import Foundation
import Testing

@testable import RecordLog

@Suite struct FileHolderTests {
    @Test
    func `Mappings are parsed as Linux writes them`() {
        let list = """
            7f0000000000-7f0004000000 r--s 00000000 08:01 4567                       /tmp/a b.heartwood (deleted)
            7f0004000000-7f0008000000 r--s 00000000 fd:10 99 /tmp/c
            7ffd0000-7ffd1000 rw-p 00000000 00:00 0 [stack]
            nonsense
            """
        func isMapped(_ device: UInt64, _ inode: UInt64) -> Bool {
            OpenFiles.isMapped(FileSystemIdentity(device: device, inode: inode), in: Array(list.utf8))
        }
        #expect(isMapped(0x801, 4567) && isMapped(0xFD10, 99))
        #expect(!isMapped(0x802, 4567) && !isMapped(0x801, 4568) && !isMapped(0x801, 99))
    }

    #if os(Linux)
        /// A snapshot keeps the old file, and so its space, until it is released.
        @Test
        func `The report names the holders of the old file's space`() throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("holders-\(UUID().uuidString).heartwood").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            let others = try sample.store.compact().holders?.filter { $0.process == getpid() }
            #expect(others == [])
            let snapshot = sample.store.snapshot()
            let held = try sample.store.compact().holders?.filter { $0.process == getpid() }
            #expect(held?.count == 1 && held?.first?.name != nil)
            try sample.check(snapshot, sample.people)
            try sample.store.close()
        }
    #endif

    @Test
    func `A store in memory has no holders`() throws {
        let sample = try SampleStore()
        try sample.insert(.init(name: "a", age: 1, group: 1))
        #expect(try sample.store.compact().holders == nil)
    }
}
