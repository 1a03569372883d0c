import Foundation

/// The second implementation of FORMAT.md, in Python.
enum FormatReader {
    static let absence = "there is no python3 of version 3.9 with its standard library, so the second reader of the format is not compared"

    /// The path of `python3`; nil if no installed version can run the reader.
    static let python: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        let found = folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("python3") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else { return nil }
        let trial = "import sys, json, plistlib, decimal, uuid, datetime; sys.exit(sys.version_info < (3, 9))"
        guard let (process, output, error) = try? ToolProcess.start(["-c", trial], executable: found) else { return nil }
        process.waitUntilExit()
        ToolProcess.cleanUp(output.path, error.path)
        return process.terminationStatus == 0 ? found : nil
    }()

    static func run(_ arguments: [String]) throws -> ToolProcess.Result {
        guard let python else { throw Goldens.ToolFailure(message: absence) }
        // -B writes no byte code beside the sources.
        let (process, output, error) = try ToolProcess.start(["-B", Goldens.reader] + arguments, executable: python)
        process.waitUntilExit()
        defer { ToolProcess.cleanUp(output.path, error.path) }
        return .init(
            status: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            error: String(decoding: try Data(contentsOf: error), as: UTF8.self))
    }
}
