import Foundation
import Heartwood
import HeartwoodModelCode
import Testing

/// Apps read the versions of a model from its `VersionInfo.plist` and look for a store's hashes among them.
struct VersionHashTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hashes-\(UUID().uuidString)")

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ text: String, to name: String) throws {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func stated(in bundle: String) throws -> [String: [String: Data]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: bundle + "/VersionInfo.plist"))
        let info = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        return try #require(info?["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    }

    /// Each statement that is part of a hash, with each of its values.
    private static var statements: [String] {
        let attributes = ["", "optional=\"YES\"", "transient=\"YES\"", "versionHashModifier=\"a &amp; b\"", "elementID=\"old\""]
        let types = [
            "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "String", "Boolean", "Date", "Binary", "UUID", "URI",
            "Transformable", "Undefined", "ObjectID",
        ]
        let external = ["String", "Binary"].map { "<attribute name=\"p\" attributeType=\"\($0)\" allowsExternalBinaryDataStorage=\"YES\"/>" }
        let derivations = [
            "name", "canonical:(name)", "uppercase:(name)", "lowercase:(other.name)", "now()", "others.@count", "others.@sum.number", "other.number",
        ]
        let derived = derivations.map {
            "<attribute name=\"p\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"\($0)\"/>"
        }
        let counts = [
            "maxCount=\"1\"", "toMany=\"YES\"", "toMany=\"YES\" minCount=\"2\" maxCount=\"7\"", "toMany=\"YES\" ordered=\"YES\"",
            "inverseName=\"back\"", "inverseName=\"several\"", "maxCount=\"1\" deletionRule=\"Cascade\"", "deletionRule=\"Deny\"",
            "deletionRule=\"No Action\"", "deletionRule=\"Nullify\" optional=\"YES\" transient=\"YES\"",
        ]
        return attributes.map { "<attribute name=\"p\" attributeType=\"String\" \($0)/>" } + types.map { "<attribute name=\"p\" attributeType=\"\($0)\"/>" }
            + ["<attribute name=\"p\"/>", "<attribute name=\"p\" attributeType=\"Composite\" composite=\"Outer\"/>"] + external + derived
            + counts.map { "<relationship name=\"p\" destinationEntity=\"Other\" \($0)/>" }
            + [
                "<uniquenessConstraints><uniquenessConstraint><constraint value=\"number\"/><constraint value=\"name\"/></uniquenessConstraint>"
                    + "<uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>",
                "<fetchedProperty name=\"p\"><fetchRequest name=\"p\" entity=\"Other\"/></fetchedProperty>",
                "<userInfo><entry key=\"k\" value=\"v\"/></userInfo>",
            ]
    }

    private static func model(_ statement: String) -> String {
        """
        <model><entity name="Base" isAbstract="YES" versionHashModifier="2"><attribute name="zone" attributeType="String"/>\
        <uniquenessConstraints><uniquenessConstraint><constraint value="zone"/></uniquenessConstraint></uniquenessConstraints></entity>\
        <entity name="Thing" parentEntity="Base"><attribute name="name" attributeType="String"/><attribute name="number" attributeType="Double"/>\
        <relationship name="other" maxCount="1" destinationEntity="Other"/><relationship name="others" toMany="YES" destinationEntity="Other"/>\
        <relationship name="owner" maxCount="1" destinationEntity="Other" inverseName="several"/>\
        \(statement)</entity><entity name="Other" isAbstract="NO"><attribute name="name" attributeType="String"/>\
        <attribute name="number" attributeType="Double"/><relationship name="back" maxCount="1" destinationEntity="Thing"/>\
        <relationship name="several" toMany="YES" destinationEntity="Thing" inverseName="owner"/></entity><entity name="Sub" parentEntity="Thing"/>\
        <composite name="Outer"><attribute name="z" attributeType="Composite" composite="Inner"/><attribute name="a" attributeType="Binary" \
        allowsExternalBinaryDataStorage="YES"/></composite><composite name="Inner"><attribute name="n" optional="YES" attributeType="Float"/>\
        </composite></model>
        """
    }

    @Test
    func `The plugin writes the hashes that a model has for each statement`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for (number, statement) in Self.statements.enumerated() {
            try write(Self.model(statement), to: "M.xcdatamodeld/V\(number).xcdatamodel/contents")
        }
        try write("<plist><dict><key>_XCCurrentVersionName</key><string>V0.xcdatamodel</string></dict></plist>", to: "M.xcdatamodeld/.xccurrentversion")
        #expect(PluginRun.run(["--compile", path("M.xcdatamodeld"), path("M.momd")]) == 0)
        let stated = try stated(in: path("M.momd"))
        #expect(stated.count == Self.statements.count)
        for (number, statement) in Self.statements.enumerated() {
            let model = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: path("M.momd/V\(number).mom")))
            #expect(stated["V\(number)"] == model.entityVersionHashesByName, "\(statement)")
        }
        #expect(Set(stated.values.compactMap { $0["Thing"] }).count > 35)
    }

    @Test
    func `A version whose hashes only the stack knows has none, and the others have theirs`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sum = "<attribute name=\"p\" attributeType=\"Double\" derived=\"YES\" derivationExpression=\"number + 1\"/>"
        try write(Self.model(sum), to: "M.xcdatamodeld/A.xcdatamodel/contents")
        try write(Self.model(""), to: "M.xcdatamodeld/B.xcdatamodel/contents")
        try write("<plist><dict><key>_XCCurrentVersionName</key><string>A.xcdatamodel</string></dict></plist>", to: "M.xcdatamodeld/.xccurrentversion")
        #expect(PluginRun.run(["--compile", path("M.xcdatamodeld"), path("M.momd")]) == 0)
        #expect(try stated(in: path("M.momd")).keys.sorted() == ["B"])
        #expect(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: path("M.momd")))?.entities.count == 4)
    }

    @Test(.enabled(if: !SharedModels.versions().isEmpty, "needs ../shared/models"))
    func `The hashes of all shared models are those of the stack`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundles = Set(SharedModels.versions().map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }).sorted()
        var count = 0
        for source in bundles where source.hasSuffix(".xcdatamodeld") {
            let bundle = path("\(count).momd")
            #expect(PluginRun.run(["--compile", source, bundle]) == 0)
            for (version, hashes) in try stated(in: bundle) {
                let model = NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "\(bundle)/\(version).mom"))
                #expect(hashes == model?.entityVersionHashesByName, "\(source) \(version)")
                count += 1
            }
        }
        #expect(count == SharedModels.versions().count)
    }
}
