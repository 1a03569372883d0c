import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct LockHolderTests {
    private let identity = FileSystemIdentity(device: 0x801, inode: 4567)

    private func process(_ text: String) -> Int32? {
        LockHolder.process(in: Array(text.utf8), holding: identity)
    }

    @Test
    func `The holder is found by device and inode`() {
        #expect(process("1: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF\n") == 123)
        #expect(process("""
            1: POSIX  ADVISORY  READ  5 08:01:4567 128 128
            2: FLOCK  ADVISORY  WRITE 7 08:02:4567 0 EOF
            3: FLOCK  ADVISORY  WRITE 8 08:01:4568 0 EOF
            4: FLOCK  ADVISORY  READ  9 08:01:4567 0 EOF
            5: FLOCK  ADVISORY  WRITE 10 08:01:4567 0 EOF
            5: -> FLOCK  ADVISORY  WRITE 11 08:01:4567 0 EOF
            """) == 10)
        // A waiting process holds nothing, and a process of another container has no number here.
        #expect(process("5: -> FLOCK  ADVISORY  WRITE 11 08:01:4567 0 EOF\n") == nil)
        #expect(process("5: FLOCK  ADVISORY  WRITE 0 08:01:4567 0 EOF\n") == nil)
        #expect(process("5: FLOCK  ADVISORY  WRITE -1 08:01:4567 0 EOF\n") == nil)
    }

    @Test
    func `Large device numbers are split correctly`() {
        #expect(SystemInformation.major(0x801) == 8 && SystemInformation.minor(0x801) == 1)
        // In the packing of the C library's makedev for 0x1234 and 0xABCDE.
        let device: UInt64 = 0x234 << 8 | 0x1000 << 32 | 0xDE | 0xABC00 << 12
        #expect(SystemInformation.major(device) == 0x1234 && SystemInformation.minor(device) == 0xABCDE)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `No text stops the parser`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for text in ["", "\n\n", "1:", "1: FLOCK", "1: FLOCK ADVISORY WRITE 1 08:01", "1: FLOCK ADVISORY WRITE 99999999999 08:01:4567 0 EOF",
            "1: FLOCK ADVISORY WRITE 1 ::", "1: FLOCK ADVISORY WRITE 1 zz:01:4567 0 EOF",
            "1: FLOCK ADVISORY WRITE 1 08:01:99999999999999999999999 0"] {
            #expect(process(text) == nil, "\(text)")
        }
        // A correct line after any bytes is still found.
        var bytes = (0..<Int.random(in: 0..<400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes += Array("\n9: FLOCK  ADVISORY  WRITE 123 08:01:4567 0 EOF".utf8)
        #expect(LockHolder.process(in: bytes, holding: identity) == 123, "seed \(seed)")
    }

    @Test
    func `A name is one line without control characters`() {
        #expect(SystemInformation.name(Array("heartwood\n".utf8)) == "heartwood")
        #expect(SystemInformation.name(Array("a\u{1B}[31mb\n".utf8)) == "a?[31mb")
        #expect(SystemInformation.name([0xFF, 0x41, 0x0A]) == "\u{FFFD}A")
        #expect(SystemInformation.name([]) == nil && SystemInformation.name([0x0A]) == nil)
        #expect(FileHolder(process: 12, name: nil).description == "process 12")
        #expect(FileHolder(process: 12, name: "x").description == "process 12 (x)")
    }

    @Test
    func `A writer that gives up names the holder`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-lock-\(UUID().uuidString).heartwood").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = StoreOptions()
        let holder = try LogStore.open(path: path, options: options)
        options.lockTimeout = .milliseconds(10)
        let other = try LogStore.open(path: path, options: options)
        try holder.write { _ in
            let error = #expect(throws: StoreError.self) { try other.write { try $0.setSystemValue(20, [1]) } }
            #expect(error?.code == .locked)
            let own = LockHolder.find(holder.snapshot().file.storage.identity)
            // If the system reports a holder, it is this process.
            if let own { #expect(own.process == ProcessInfo.processInfo.processIdentifier) }
            #expect(error?.message.contains("held by process \(ProcessInfo.processInfo.processIdentifier) (") == (own != nil),
                "\(error?.message ?? "")")
        }
        #if os(Linux)
            if FileManager.default.fileExists(atPath: "/proc/locks") {
                try holder.write { _ in #expect(LockHolder.find(holder.snapshot().file.storage.identity) != nil) }
            }
        #endif
    }
}
