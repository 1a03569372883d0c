import Foundation
import Heartwood
import HeartwoodTestSupport
import Testing
import heartwood_testprocess

/// A second process with a stack of its own over the same file: `Tests/HeartwoodTestProcess`.
final class GraphPartner {
    private let process = ChildProcess()
    private let input = Pipe(), output = Pipe()
    private var text = Data()

    init(_ store: URL) throws {
        process.executableURL = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-testprocess")
        process.arguments = [store.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // Otherwise the pipes never end here.
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func ask(_ request: GraphRequest) throws -> GraphReply {
        try input.fileHandleForWriting.write(contentsOf: try JSONEncoder().encode(request) + [UInt8(ascii: "\n")])
        while true {
            if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                let reply = try JSONDecoder().decode(GraphReply.self, from: text[..<end])
                text = Data(text[(end + 1)...])
                if let failure = reply.failure { throw GraphProblem("the second process: \(failure)") }
                return reply
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw GraphProblem("the second process has ended") }
            text += data
        }
    }
}
