import Foundation
import HeartwoodFileReading
import Testing

@testable import HeartwoodModelCode

/// Code of compiled models. A store's model cache, inflated, is one.
@Suite struct ArchivedCodeModelTests {
    private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Goldens/ModelCaches/everything.cache")

    private static func archive() throws -> [UInt8] { try ArchivedModel.archive(inCache: Array(try Data(contentsOf: golden))) }

    private static func refusal(sourceLocation: SourceLocation = #_sourceLocation, _ read: () throws -> CodeModel) -> String {
        #expect(throws: CodeError.self, sourceLocation: sourceLocation) { try read() }?.description ?? ""
    }

    @Test
    func `An archive has the names and types that code needs, and each entity has its own properties`() throws {
        let model = try ArchivedCodeModel.read(try Self.archive(), path: "App.mom")
        #expect(model.entities.map(\.name) == ["Empty", "Former", "Leaf", "Middle", "Other", "Thing"])
        let leaf = try #require(model.entity("Leaf")), other = try #require(model.entity("Other")), thing = try #require(model.entity("Thing"))
        #expect(model.lineage(of: leaf).map(\.name) == ["Leaf", "Middle", "Thing"] && leaf.className == "Leaf" && leaf.generation == .class)
        #expect(leaf.attributes.map(\.name) == ["leafName"] && leaf.relationships.map(\.name).sorted() == ["middles", "same"])
        let middles = try #require(leaf.relationships.first { $0.name == "middles" })
        #expect(middles.destination == "Middle" && middles.isToMany && middles.isOrdered && middles.line == nil)
        #expect(model.entity("Middle")?.relationships.first.map { $0.isToMany || $0.isOrdered } == false)
        #expect(model.entity("Empty")?.className == "NSManagedObject" && model.entity("Empty")?.generation == CodeModel.Entity.Generation.none)
        #expect(other.fetchedProperties == ["fetched"])
        let types = Dictionary(uniqueKeysWithValues: other.attributes.map { ($0.name, $0.type) })
        #expect(types["address"] == "Composite" && types["twice"] == "Integer 64" && types["number"] == "Integer 32")
        #expect(Set(thing.attributes.compactMap(\.type)).count == 13 && thing.attributes.contains { $0.type == nil })
    }

    @Test
    func `The classes of an archive are written`() throws {
        let files = ClassWriter(try ArchivedCodeModel.read(try Self.archive(), path: "App.mom")).files()
        #expect(files.count == 10 && files.contains { $0.text.contains("public class Leaf: Middle {}") })
        let other = try #require(files.first { $0.name == "Other+CoreDataProperties.swift" }).text
        for line in ["public var number: Int32 {", "public var other: String? {", "public var address: [String: Any]? {"] {
            #expect(other.contains(line), "\(line)")
        }
    }

    @Test
    func `A compiled model is read from its file, or as the current version of its bundle`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("code-\(UUID().uuidString).momd")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let archive = Data(try Self.archive())
        let one = folder.appendingPathComponent("One.mom"), two = folder.appendingPathComponent("Two.mom")
        try archive.write(to: one)
        #expect(try CodeModelReader.read(one.path).entities.count == 6)
        #expect(try CodeModelReader.read(folder.path).path == one.path)
        try archive.write(to: two)
        #expect(Self.refusal { try CodeModelReader.read(folder.path) }.contains("does not name one of the 2 versions"))
        let info = ["NSManagedObjectModel_CurrentVersionName": "Two"]
        try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
            .write(to: folder.appendingPathComponent("VersionInfo.plist"))
        #expect(try CodeModelReader.read(folder.path).path == two.path)
        try Data("bplist00".utf8).write(to: two)
        #expect(Self.refusal { try CodeModelReader.read(folder.path) }.contains("Two.mom: is not a binary property list, at byte 0"))
    }

    @Test
    func `A damaged archive gives code or an error that names its file`() throws {
        let bytes = try Self.archive()
        #expect(Self.refusal { try ArchivedCodeModel.read([], path: "App.mom") }.hasPrefix("App.mom"))
        var refused = 0
        for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 400)) {
            var damaged = bytes
            damaged[place] ^= 0x55
            do {
                _ = try ArchivedCodeModel.read(damaged, path: "App.mom")
            } catch {
                refused += 1
                #expect("\(error)".hasPrefix("App.mom"), "byte \(place): \(error)")
            }
        }
        #expect(refused > 20)
    }
}
