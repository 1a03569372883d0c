import Foundation
import Heartwood
import HeartwoodModelCode
import Testing

/// The resources that the plugin makes have the names that Xcode's compiler gives.
struct ModelCompilerTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("compiler-\(UUID().uuidString)")

    private func write(_ text: String, to path: String) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func marker(_ current: String) -> String {
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(current)</string></dict></plist>"
    }

    @Test
    func `A model of several versions becomes a bundle of them`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("<model><entity name=\"First\"/></model>", to: "M.xcdatamodeld/M.xcdatamodel/contents")
        try write("<model><entity name=\"Second\"/></model>", to: "M.xcdatamodeld/M & 2.xcdatamodel/contents")
        try write(marker("M &amp; 2.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion")
        #expect(ModelCompiler.name(of: path("M.xcdatamodeld")) == "M.momd" && ModelCompiler.name(of: "M.swift") == nil)
        let out = path("out/M.momd"), bundle = URL(fileURLWithPath: out)
        #expect(PluginRun.run(["--compile", path("M.xcdatamodeld"), out]) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == ["M & 2.mom", "M.mom", "VersionInfo.plist"])
        #expect(NSManagedObjectModel(contentsOf: bundle)?.entities.map(\.name) == ["Second"])
        #expect(NSManagedObjectModel(contentsOf: bundle.appendingPathComponent("M.mom"))?.entities.map(\.name) == ["First"])
        #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: bundle).keys.sorted() == ["M", "M & 2"])
        // The file of a removed version is deleted; files with the same content are not written.
        let past = Date(timeIntervalSinceReferenceDate: 1000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: out + "/M.mom")
        try FileManager.default.removeItem(atPath: path("M.xcdatamodeld/M & 2.xcdatamodel"))
        try write(marker("M.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion")
        #expect(PluginRun.run(["--compile", path("M.xcdatamodeld"), out]) == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == ["M.mom", "VersionInfo.plist"])
        #expect(try FileManager.default.attributesOfItem(atPath: out + "/M.mom")[.modificationDate] as? Date == past)
        let info = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: bundle.appendingPathComponent("VersionInfo.plist")), format: nil) as? [String: Any]
        #expect(info?["NSManagedObjectModel_CurrentVersionName"] as? String == "M")
        let hashes = info?["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
        #expect(hashes?["M"] == NSManagedObjectModel(contentsOf: bundle)?.entityVersionHashesByName && hashes?["M"]?.isEmpty == false)
    }

    @Test
    func `A class of the current product's module gets the module's name`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let entities = [("A", ".Employee"), ("B", "Employee"), ("C", "Other.Employee")].map {
            "<entity name=\"\($0.0)\" representedClassName=\"\($0.1)\"><userInfo><entry key=\"k\" value=\" representedClassName=&quot;.\"/></userInfo></entity>"
        }
        try write("<model>\(entities.joined())</model>", to: "M.xcdatamodel/contents")
        for (module, expected) in [(["Staff"], "Staff.Employee"), ([], ".Employee")] {
            #expect(PluginRun.run(["--compile", path("M.xcdatamodel"), path("M.mom")] + module) == 0)
            let model = try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("M.mom"))
            let names = model.entities.sorted { $0.name ?? "" < $1.name ?? "" }.map(\.managedObjectClassName)
            #expect(names == [expected, "Employee", "Other.Employee"])
            #expect(model.entities.allSatisfy { $0.userInfo?["k"] as? String == " representedClassName=\"." })
        }
    }

    @Test
    func `A model of one version and a mapping model become files`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("<model><entity name=\"Only\"/></model>", to: "One.xcdatamodel/contents")
        try write("<database><object type=\"XDDEVMAPPINGMODEL\" id=\"z1\"></object></database>", to: "Map.xcmappingmodel/xcmapping.xml")
        for name in ["One.xcdatamodel", "Map.xcmappingmodel"] {
            let made = try #require(ModelCompiler.name(of: path(name)))
            #expect(PluginRun.run(["--compile", path(name), path(made)]) == 0)
        }
        #expect(NSManagedObjectModel(contentsOf: folder.appendingPathComponent("One.mom"))?.entities.map(\.name) == ["Only"])
        #expect(NSMappingModel(contentsOf: folder.appendingPathComponent("Map.cdm"))?.entityMappings.isEmpty == true)
        #expect(PluginRun.run(["--compile", path("None.xcdatamodel"), path("None.mom")]) == 1)
    }
}
