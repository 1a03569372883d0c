import Foundation
import Testing

/// `heartwood generate --swiftdata`. The references are compiled into the tests of SwiftData's interface, which open stores with them.
struct GenerateModelClassesTests {
    private static let tests = ToolProcess.root.appendingPathComponent("Tests")
    private static let references = tests.appendingPathComponent("SwiftDataTests/Generated")
    private static let harbour = tests.appendingPathComponent("Goldens/Models/Harbour.xcdatamodel").path

    private static func generate(_ source: String, _ body: (_ folder: URL, ToolProcess.Result) throws -> Void) throws {
        try CoreDataStores.withFolder { folder in
            let out = folder.appendingPathComponent("Sources")
            try body(out, try ToolProcess.run("generate", source, "--swiftdata", "-o", out.path))
        }
    }

    /// HEARTWOOD_RENEW_REFERENCES=1 writes the references again.
    @Test
    func `The classes of a model with all kinds of properties equal the references`() throws {
        try Self.generate(Self.harbour) { folder, made in
            #expect(made.status == 0 && made.output.hasPrefix("5 files, 5 of them written"), "\(made.output)\(made.error)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == ["Berth.swift", "Buoy.swift", "Mooring.swift", "Pilot.swift", "Ship.swift"])
            for name in names {
                let text = try Data(contentsOf: folder.appendingPathComponent(name)), reference = Self.references.appendingPathComponent(name)
                if ProcessInfo.processInfo.environment["HEARTWOOD_RENEW_REFERENCES"] != nil { try text.write(to: reference) }
                #expect(try Data(contentsOf: reference) == text, "\(name)")
            }
        }
    }

    @Test
    func `What a class cannot say is a warning, and a comment in the code`() throws {
        try Self.generate(Self.harbour) { folder, made in
            let texts = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
                try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            }
            let warnings = made.error.split(separator: "\n").map(String.init)
            #expect(warnings.allSatisfy { $0.hasPrefix("heartwood: warning: ") && $0.contains(": SwiftData cannot say: ") }, "\(made.error)")
            for (subject, what) in [
                ("Pilot.berths", "ordered"), ("Pilot.search", "derived as canonical"), ("Pilot.name", "must fulfil"),
                ("Pilot.neighbours", "its own inverse"), ("Pilot", "namesakes"), ("Pilot", "the index newest"), ("Pilot", "PilotMO"),
                ("Pilot", "the configuration Outside"), ("Mooring", "abstract"), ("Mooring", "was named Ground"), ("Mooring", "user info"),
                ("Berth", "whatever"), ("Ship", "the fetch request tall"),
            ] {
                let found = warnings.first { $0.hasPrefix("heartwood: warning: \(subject): ") && $0.contains(what) }
                let warning = try #require(found, "\(subject): \(what) in \(made.error)")
                let remark = try #require(warning.components(separatedBy: "SwiftData cannot say: ").last)
                #expect(texts.contains { $0.contains("// SwiftData cannot say: \(remark).") }, "\(remark)")
            }
        }
    }

    @Test
    func `Options of the other classes are refused beside it, and so is a name that is none of Swift's`() throws {
        try CoreDataStores.withFolder { folder in
            for option in [["--all"], ["--import", "Heartwood"]] {
                let refused = try ToolProcess.runWords(["generate", Self.harbour, "--swiftdata", "-o", folder.path] + option)
                #expect(refused.status == 2 && refused.error.contains("--swiftdata and \(option[0]) exclude each other"), "\(refused.error)")
            }
            let model = folder.appendingPathComponent("contents")
            try Data("<model><entity name=\"A\"><attribute name=\"1st\" attributeType=\"String\"/></entity></model>".utf8).write(to: model)
            let refused = try ToolProcess.run("generate", model.path, "--swiftdata", "-o", folder.path)
            #expect(refused.status == 1 && refused.error.contains("\"1st\" is no Swift identifier"), "\(refused.error)")
        }
    }

    @Test
    func `A store of SwiftData's gets classes with its composites as structures`() throws {
        try Self.generate(CoreDataStores.golden("swiftdata")) { folder, made in
            #expect(made.status == 0 && made.error.isEmpty, "\(made.error)")
            let text = try String(contentsOf: folder.appendingPathComponent("CartModel.swift"), encoding: .utf8)
            for line in [
                "public final class CartModel {", "    @Attribute(.unique, .preserveValueOnDeletion) public var id: String?",
                "    public var items: [ItemModel]?", "    public var status: CartModelStatus?",
                "public struct CartModelPrice: Codable, Hashable, Sendable {", "    public var amount: Decimal?",
                "public struct CartModelStatus: RawRepresentable, Codable, Hashable, Sendable {",
            ] { #expect(text.contains(line + "\n"), "\(line) in \(text)") }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: CoreDataStores.shared.path), CoreDataStores.sharedAbsence))
    func `Every real model and every real store gets a class for each entity`() throws {
        let models = CoreDataStores.shared.deletingLastPathComponent().appendingPathComponent("models")
        let versions = try FileManager.default.subpathsOfDirectory(atPath: models.path).filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        let sources = try versions.map { models.appendingPathComponent($0).path } + CoreDataStores.sharedStores()
        #expect(versions.count > 5)
        for source in sources {
            try Self.generate(source) { folder, made in
                #expect([0, 3].contains(made.status), "\(source): \(made.error)")
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                #expect(!names.isEmpty, "\(source)")
                for name in names {
                    let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                    #expect(text.contains("@Model\npublic ") && text.contains("class \(name.dropLast(6))"), "\(source): \(name)")
                }
            }
        }
    }
}
