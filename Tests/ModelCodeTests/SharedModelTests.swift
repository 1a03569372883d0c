import Foundation
import HeartwoodTestSupport
import Testing

@testable import HeartwoodModelCode

/// The classes of every version of real models, compiled against the module that these tests are linked with.
///
/// Models whose classes have equal names cannot be in one module, so they are compiled separately.
@Suite(.enabled(if: SharedModels.canBeCompiled, SharedModels.condition)) struct SharedModelTests {
    @Test
    func `The classes of real models compile`() throws {
        var modules: [[ClassWriter.File]] = []
        let models = SharedModels.versions()
        #expect(models.count > 5)
        for model in models {
            let files = ClassWriter(try CodeModelReader.read(model), importing: "Heartwood", all: true).files()
            let names = Set(files.map(\.name))
            let index = modules.firstIndex { module in !module.contains { names.contains($0.name) } }
            if let index { modules[index] += files } else { modules.append(files) }
        }
        #expect(modules.count > 1 && modules[0].count > 20)
        for module in modules {
            let report = try SharedModels.compile(module)
            #expect(report == nil, "\(report ?? "")")
        }
    }
}

enum SharedModels {
    static let folder = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appendingPathComponent("shared/models")
    static let condition: Comment = "needs ../shared/models, a compiler in the PATH, and the modules of a build by the package manager"

    static var canBeCompiled: Bool {
        let files = FileManager.default
        let module = modules.appendingPathComponent("Heartwood.swiftmodule")
        return files.fileExists(atPath: folder.path) && files.fileExists(atPath: module.path)
            && (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
                files.isExecutableFile(atPath: $0 + "/swiftc")
            }
    }

    /// The modules beside the test bundle.
    private static var modules: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
            ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
        return bundle.deletingLastPathComponent().appendingPathComponent("Modules")
    }

    static func versions() -> [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".xcdatamodel") }.sorted().map { folder.appendingPathComponent($0).path }
    }

    /// - Returns: the compiler's messages; nil for none.
    static func compile(_ files: [ClassWriter.File]) throws -> String? {
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("models-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let paths = try files.map { file in
            let url = scratch.appendingPathComponent(file.name)
            try Data(file.text.utf8).write(to: url)
            return url.path
        }
        let output = scratch.appendingPathComponent("output")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let options = [
            "-emit-object", "-wmo", "-Onone", "-swift-version", "6", "-warnings-as-errors", "-module-name", "Models", "-I", modules.path, "-o",
            scratch.appendingPathComponent("Models.o").path,
        ]
        process.arguments = ["swiftc"] + options + paths
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : try String(contentsOf: output, encoding: .utf8)
    }
}
