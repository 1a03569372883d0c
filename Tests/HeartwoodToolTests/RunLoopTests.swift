import Foundation
import Testing

/// Behaviour that needs a process whose main thread has a run loop.
@Suite struct RunLoopTests {
    @Test
    func `Work that goes from a private queue to the main thread and back does not wait for itself`() throws {
        let executable = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-testprocess")
        let (process, output, error) = try ToolProcess.start(["--queues"], executable: executable)
        defer { ToolProcess.cleanUp(output.path, error.path) }
        guard ToolProcess.ends(process, within: 60) else {
            process.terminate()
            Issue.record("The chain waits for itself.")
            return
        }
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        #expect(process.terminationStatus == 0 && text == "on the main thread and back\n")
    }
}
