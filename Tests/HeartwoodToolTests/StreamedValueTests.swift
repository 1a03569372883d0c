import Foundation
import Testing

/// A value that is never in memory as a whole, in a process of its own, where nothing else takes memory.
///
/// `HEARTWOOD_VALUE_MIB=1024` makes it 1 GiB.
@Suite struct StreamedValueTests {
    @Test
    func `A long value streams in and out in little memory`() throws {
        let stated = ProcessInfo.processInfo.environment["HEARTWOOD_VALUE_MIB"].flatMap(Int.init)
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let executable = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-recordlog-testprocess")
        let result = try ToolProcess.run("stream", path, "\(stated ?? 64)", executable: executable)
        #expect(result.status == 0, "\(result.error)")
        let peak = Int(result.output.trimmingCharacters(in: .newlines))
        // A sanitizer needs extra memory for each byte.
        #if os(Linux) && !THREAD_SANITIZER && !ADDRESS_SANITIZER
            #expect(try #require(peak) < 24 << 20)
        #endif
        if let stated { print("\(stated) MiB through at most \((peak ?? 0) >> 20) MiB of memory") }
    }
}
