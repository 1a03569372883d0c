import Foundation
import HeartwoodTestSupport
import Testing

/// The built `heartwood` command, run as a user runs it.
enum ToolProcess {
    struct Result {
        let status: Int32
        let output: String
        let error: String
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let model = root.appendingPathComponent("Examples/Packages.xcdatamodeld").path
    static let excerpt = root.appendingPathComponent("Examples/packages.jsonl").path
    static let realData = root.deletingLastPathComponent().appendingPathComponent("shared/data/debian-packages.jsonl").path

    /// The tool beside the test bundle.
    static var executable: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
            ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
        return bundle.deletingLastPathComponent().appendingPathComponent("heartwood")
    }

    /// The release build, for large data; nil if there is none, or a source is newer.
    static var fastExecutable: URL? {
        let release = root.appendingPathComponent(".build/release/heartwood")
        func date(_ url: URL) -> Date? {
            try? FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
        }
        guard let built = date(release), let sources = FileManager.default.enumerator(atPath: root.appendingPathComponent("Sources").path)
        else { return nil }
        for case let path as String in sources where path.hasSuffix(".swift") {
            guard let changed = date(root.appendingPathComponent("Sources").appendingPathComponent(path)), changed <= built else { return nil }
        }
        return release
    }

    /// A path without a file; `cleanUp` removes the file.
    static func temporaryPath(_ ending: String = "heartwood") -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-tool-\(UUID().uuidString).\(ending)").path
    }

    static func cleanUp(_ paths: String...) {
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }

    static func start(_ arguments: [String], input: String? = nil, executable: URL = ToolProcess.executable) throws -> (
        process: Process, output: URL, error: URL
    ) {
        let process = ChildProcess()
        process.executableURL = executable
        process.arguments = arguments
        // Files instead of pipes, which would need draining.
        let output = URL(fileURLWithPath: temporaryPath("out")), error = URL(fileURLWithPath: temporaryPath("err"))
        for url in [output, error] { try Data().write(to: url) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: error)
        if let input {
            let url = URL(fileURLWithPath: temporaryPath("in"))
            try Data(input.utf8).write(to: url)
            process.standardInput = try FileHandle(forReadingFrom: url)
            try FileManager.default.removeItem(at: url)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        return (process, output, error)
    }

    /// Waits for the end of a process.
    /// - Returns: false if it goes on after that time.
    static func ends(_ process: Process, within seconds: Double) -> Bool {
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            process.waitUntilExit()
            isOver.signal()
        }
        return isOver.wait(timeout: .now() + seconds) == .success
    }

    @discardableResult
    static func run(_ arguments: String..., input: String? = nil, executable: URL = ToolProcess.executable) throws -> Result {
        try runWords(arguments, input: input, executable: executable)
    }

    static func runWords(_ arguments: [String], input: String? = nil, executable: URL = ToolProcess.executable) throws -> Result {
        let (process, output, error) = try start(arguments, input: input, executable: executable)
        process.waitUntilExit()
        defer { cleanUp(output.path, error.path) }
        return Result(
            status: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            error: String(decoding: try Data(contentsOf: error), as: UTF8.self))
    }

    /// Makes a store of the examples' packages.
    static func importExcerpt(to store: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let made = try run("import", store, "--model", model, "--entity", "Package", "--key", "name", excerpt)
        #expect(made.status == 0, "\(made.error)", sourceLocation: sourceLocation)
    }

    /// Parses lines of JSON into dictionaries by name, with sorted lists.
    static func records(_ text: String) throws -> [String: NSDictionary] {
        var records: [String: NSDictionary] = [:]
        for line in text.split(separator: "\n") {
            var object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            for (key, value) in object {
                if let list = value as? [String] { object[key] = list.isEmpty ? nil : list.sorted() }
                if value is NSNull { object[key] = nil }
            }
            if let name = object["name"] as? String { records[name] = NSDictionary(dictionary: object) }
        }
        return records
    }
}
