import Foundation
import HeartwoodTestSupport
import Testing

/// A writer that compacts and a backup that follows it, both of which are killed again and again.
///
/// The store is a ledger of `heartwood-recordlog-testprocess`, whose states between commits are detected.
@Suite struct KilledBackupTests {
    private static let factor = ProcessInfo.processInfo.environment["HEARTWOOD_PROCESS_TESTS"].flatMap(Int.init) ?? 1
    private static let ledger = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-recordlog-testprocess")

    private static func end(_ running: (process: Process, output: URL, error: URL)) {
        _ = kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
        ToolProcess.cleanUp(running.output.path, running.error.path)
    }

    /// The newest commit of a ledger, which is checked.
    private static func check(_ path: String) throws -> Int {
        let result = try ToolProcess.runWords(["check", path, "0"], executable: ledger)
        guard result.status == 0, let number = Int(result.output.filter(\.isNumber)) else {
            throw Goldens.ToolFailure(message: "\(path): \(result)")
        }
        return number
    }

    @Test(.timeLimit(.minutes(60)))
    func `After each kill of a backup and of its writer a restore gives a whole commit, no older than the one before`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("killed-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("store").path, backups = folder.appendingPathComponent("backups").path
        var random = SeededGenerator(seed: 36), newest = 0, copies = 0
        _ = try Self.check(store)
        for round in 0..<6 * Self.factor {
            let writer = try ToolProcess.start(["write", store, "60000"], executable: Self.ledger)
            let backup = try ToolProcess.start(["backup", store, backups, "--follow", "--interval", "0.01"])
            // The kills come at any moment of the work.
            Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.6, using: &random))
            let killsWriterFirst = Bool.random(using: &random)
            Self.end(killsWriterFirst ? writer : backup)
            // And the second one a moment later.
            Thread.sleep(forTimeInterval: Double.random(in: 0...0.1, using: &random))
            Self.end(killsWriterFirst ? backup : writer)
            copies += 1
            let copy = folder.appendingPathComponent("copy-\(copies)").path
            let restored = try ToolProcess.run("restore", backups, "-o", copy)
            // Killed before the first archive, a backup has left nothing.
            if restored.status == 1, newest == 0, restored.error.contains("no log archives") { continue }
            #expect(restored.status == 0, "round \(round): \(restored)")
            let found = try Self.check(copy)
            #expect(found >= newest, "round \(round): commit \(found) came back, and commit \(newest) before")
            newest = found
            try FileManager.default.removeItem(atPath: copy)
        }
        let last = try Self.check(store), done = try ToolProcess.run("backup", store, backups), copy = folder.appendingPathComponent("last").path
        #expect(done.status == 0, "\(done)")
        #expect(try ToolProcess.run("restore", backups, "-o", copy).status == 0)
        #expect(try Self.check(copy) == last)
        // The writer compacts while no backup runs, so there may be gaps.
        let verified = try ToolProcess.run("backup", "verify", backups)
        #expect(verified.output.contains("all whole"), "\(verified)")
    }
}
