import Foundation
import HeartwoodModelCode
import Testing

/// The build system may pass file names of an earlier version of the model.
struct PluginRunTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plugin-\(UUID().uuidString)")

    private func model(_ entities: [String]) throws -> String {
        let path = folder.appendingPathComponent("M.xcdatamodel")
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        let list = entities.map {
            "<entity name=\"\($0)\" representedClassName=\"\($0)\" codeGenerationType=\"class\">"
                + "<attribute name=\"a\" attributeType=\"Date\"/></entity>"
        }
        try Data("<model>\(list.joined())</model>".utf8).write(to: path.appendingPathComponent("contents"))
        return path.path
    }

    private func run(_ model: String, files: [String]) -> Int32 {
        let named = files.flatMap { ["--file", folder.appendingPathComponent($0).path] }
        return PluginRun.run(["App", "Heartwood", folder.appendingPathComponent("App+Models.swift").path] + named + [model])
    }

    private func text(_ name: String) throws -> String { try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) }

    @Test
    func `Named classes get their files and the rest go into one`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["A+CoreDataClass.swift", "A+CoreDataProperties.swift", "Gone+CoreDataClass.swift"]
        #expect(run(try model(["A", "B"]), files: files) == 0)
        #expect(try text(files[0]).contains("public class A: NSManagedObject {}") && text(files[1]).contains("extension A {"))
        #expect(try text(files[2]).contains("any more") && !text(files[2]).contains("class"))
        let rest = try text("App+Models.swift")
        #expect(rest.contains("public class B: NSManagedObject {}") && rest.contains("extension B {") && !rest.contains("class A"))
        #expect(rest.components(separatedBy: "import Heartwood").count == 2)
        #expect(run(try model(["A"]), files: files) == 0)
        #expect(try !text("App+Models.swift").contains("class B"))
    }

    @Test
    func `A file with the same content is not written`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataClass.swift"]
        let path = try model(["A"])
        #expect(run(path, files: files) == 0)
        let past = Date(timeIntervalSinceReferenceDate: 1000)
        for name in files + ["App+Models.swift"] {
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: folder.appendingPathComponent(name).path)
        }
        #expect(run(try model(["A", "B"]), files: files) == 0)
        func date(_ name: String) throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(name).path)[.modificationDate] as? Date
        }
        #expect(try date(files[0]) == past && date(files[1]) == past && date(files[2]) != past)
    }
}
