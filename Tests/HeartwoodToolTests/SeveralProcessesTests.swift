import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Several processes over one file: `Tests/RecordLogTestProcess`, in which every commit keeps an invariant.
///
/// `HEARTWOOD_PROCESS_TESTS=N` makes them N times as long.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SeveralProcessesTests {
    static let scale = max(1, ProcessInfo.processInfo.environment["HEARTWOOD_PROCESS_TESTS"].flatMap(Int.init) ?? 1)

    private static var executable: URL {
        ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-recordlog-testprocess")
    }

    /// One process of the ledger, whose output comes through a pipe.
    private final class Member {
        let role: String
        private let process = ChildProcess()
        private let output = Pipe()
        private let errorFile = URL(fileURLWithPath: ToolProcess.temporaryPath("err"))
        private var text: [UInt8] = []
        private(set) var lines = 0

        init(_ role: String, _ store: String, milliseconds: Int) throws {
            self.role = role
            process.executableURL = SeveralProcessesTests.executable
            process.arguments = [role, store, "\(milliseconds)"]
            try Data().write(to: errorFile)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = try FileHandle(forWritingTo: errorFile)
            try process.run()
            // Otherwise the pipe never ends here.
            try output.fileHandleForWriting.close()
        }

        /// Waits for this number of lines, or their end.
        func read(lines count: Int = .max) {
            while lines < count {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { return }
                text += data
                lines += data.count { $0 == UInt8(ascii: "\n") }
            }
        }

        func kill() {
            #if canImport(Glibc)
                _ = Glibc.kill(process.processIdentifier, SIGKILL)
            #elseif canImport(Musl)
                _ = Musl.kill(process.processIdentifier, SIGKILL)
            #else
                _ = Darwin.kill(process.processIdentifier, SIGKILL)
            #endif
        }

        /// Reads the remaining output and waits for the end.
        /// - Returns: the exit status (negative for a signal), the last complete line, and the text on standard error.
        func finish() throws -> (status: Int32, last: String, error: String) {
            let ended = try finishWithLines()
            return (ended.status, ended.lines.last ?? "", ended.error)
        }

        /// As `finish`, with all complete lines.
        func finishWithLines() throws -> (status: Int32, lines: [String], error: String) {
            read()
            process.waitUntilExit()
            defer { ToolProcess.cleanUp(errorFile.path) }
            let whole = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            return (status, whole.map(String.init), String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
        }
    }

    /// The newest commit's number, after a check of every row and index entry.
    private func check(_ store: String) throws -> Int {
        let result = try Member("check", store, milliseconds: 0).finish()
        #expect(result.status == 0, "\(result.error)")
        return try #require(Int(result.last), "\(result.error)")
    }

    /// A writer that is killed at any moment leaves only whole commits, and every commit that was acknowledged.
    @Test
    func `Acknowledged work survives kill -9`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, store + ".compacting") }
        var random = SystemRandomNumberGenerator()
        var newest = try check(store)
        for round in 0..<10 * Self.scale {
            let writer = try Member("write", store, milliseconds: 600_000)
            let commits = Int.random(in: 1...45, using: &random)
            writer.read(lines: commits)
            writer.kill()
            let ended = try writer.finish()
            #expect(ended.status == -SIGKILL, "round \(round): \(ended.error)")
            let acknowledged = try #require(Int(ended.last))
            #expect(acknowledged >= newest + commits)
            newest = try check(store)
            // The commit in progress may exist too.
            #expect(newest == acknowledged || newest == acknowledged + 1, "round \(round): \(newest), \(acknowledged) acknowledged")
        }
        #expect(try ToolProcess.run("verify", store).status == 0)
    }

    /// Eight threads write. Each line is a save that has returned; the numbers come in any order.
    @Test
    func `Acknowledged work of many writers survives kill -9`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        var random = SystemRandomNumberGenerator()
        var newest = try check(store)
        for round in 0..<6 * Self.scale {
            let writer = try Member("writers", store, milliseconds: 600_000)
            writer.read(lines: Int.random(in: 1...200, using: &random))
            writer.kill()
            let ended = try writer.finishWithLines()
            #expect(ended.status == -SIGKILL, "round \(round): \(ended.error)")
            let acknowledged = ended.lines.compactMap(Int.init).max() ?? newest
            newest = try check(store)
            // The commits in progress may exist too.
            #expect((acknowledged...acknowledged + 8).contains(newest), "round \(round): \(newest), \(acknowledged) acknowledged")
        }
        #expect(try ToolProcess.run("verify", store).status == 0)
    }

    /// Programs seldom close their stores. Each opening would replay the whole load.
    @Test
    func `A load whose process ends by exit has its checkpoint`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        let ended = try Member("load", store, milliseconds: 0).finish()
        #expect(ended.status == 0 && ended.last == "0", "\(ended.error)")
        var options = StoreOptions()
        options.isReadOnly = true
        #expect(try LogStore.open(path: store, options: options).statistics.bytesReplayed == 0)
        #expect(try check(store) == 64)
    }

    /// By `exit`, `_exit`, SIGKILL, a crash, `_exit` in the middle of a checkpoint, a closing.
    @Test(arguments: 0...5)
    func `However a load ends, one process that writes a little makes openings short`(ending: Int) throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, store + ".scratch") }
        let ended = try Member("load", store, milliseconds: ending).finish()
        #expect(ended.last == "0", "\(ended.error)")
        var options = StoreOptions()
        options.isReadOnly = true
        func replayed() throws -> UInt64 { try LogStore.open(path: store, options: options).statistics.bytesReplayed }
        // A reader cannot write, so what it replays is what the load has left.
        let left = try replayed()
        #expect(ending == 0 || ending == 5 ? left <= 64 << 10 : left <= 9 * 256 << 10, "\(left)")
        for round in 1...4 {
            let touched = try Member("touch", store, milliseconds: 0).finish()
            let numbers = touched.last.split(separator: " ").compactMap { UInt64($0) }
            #expect(touched.status == 0 && numbers.first == UInt64(64 + round), "\(touched.error)")
            #expect(try #require(numbers.last) <= (round == 1 ? left : 256 << 10), "round \(round)")
            // Each has saved a commit of at most 130 KB.
            #expect(try replayed() <= 256 << 10, "round \(round)")
        }
        #expect(try check(store) == 68)
    }

    /// Readers that follow a writer see only whole commits, while another process compacts the file again and again.
    @Test
    func `Readers never see a torn state while others write and compact`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, store + ".compacting") }
        _ = try check(store)
        let time = 3000 * Self.scale
        let members = try ["write", "follow", "follow", "follow", "compact"].map { try Member($0, store, milliseconds: time) }
        let ended = try members.map { member in
            let result = try member.finish()
            #expect(result.status == 0, "\(member.role): \(result.error)")
            return result
        }
        let acknowledged = try #require(Int(ended[0].last))
        #expect(acknowledged > 10)
        for reader in ended[1...3] {
            let numbers = reader.last.split(separator: " ").compactMap { Int($0) }
            #expect(numbers.count == 2 && numbers[0] > 3 && numbers[1] <= acknowledged, "\(reader)")
        }
        // The compactions, and the commits made during them.
        let compacted = ended[4].last.split(separator: " ").compactMap { Int($0) }
        #expect(compacted.count == 2 && compacted[0] > 3 && compacted[1] > 3, "\(ended[4])")
        let verified = try ToolProcess.run("verify", store)
        #expect(verified.status == 0, "\(verified.output)")
        let newest = try check(store)
        #expect(newest == acknowledged)
    }
}
