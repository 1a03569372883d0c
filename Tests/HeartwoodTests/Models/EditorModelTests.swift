import Foundation
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Models in the form of Xcode 3, with the layout of real ones.
@Suite struct EditorModelTests {
    private struct Writer {
        var archive = ArchiveWriter()

        /// The editor's data about an object.
        mutating func facts(_ facts: [(String, ArchiveWriter.Node)]) -> (String, ArchiveWriter.Node) {
            let values = facts.map { ($0.0, archive.object("XDUMLPropertyImp", [("_name", archive.text($0.0)), ("_default", $0.1)])) }
            let stereotype = archive.object("XDUMLStereotypeImp", [("XDBucketForOwnedAttributesstorage", archive.dictionary(values))])
            return ("XDBucketForStereotypesstorage", archive.dictionary([("XD_PStereotype", stereotype)]))
        }

        mutating func attribute(_ name: String, _ type: Int64, _ more: [(String, ArchiveWriter.Node)]) -> (String, ArchiveWriter.Node) {
            let facts = facts([("XD_PAttK_attributeType", .integer(type))] + more)
            return (name, archive.object("XDPMAttribute", [("_name", archive.text(name)), facts]))
        }
    }

    /// - Parameter properties: further properties of the second entity.
    private static func bytes(_ properties: (inout Writer) -> [(String, ArchiveWriter.Node)] = { _ in [] }) -> [UInt8] {
        var writer = Writer()
        let root = writer.archive.reserve(), being = writer.archive.reserve(), person = writer.archive.reserve()
        let friends = writer.archive.reserve(), boss = writer.archive.reserve(), staff = writer.archive.reserve()
        func relationship(_ number: Int, _ name: String, _ facts: [(String, ArchiveWriter.Node)]) {
            let all = writer.facts(
                [("XD_PRK_destination", .reference(person)), ("XD_PPSK_isOptional", .bool(true)), ("XD_PPSK_isIndexed", .bool(true))] + facts)
            writer.archive.fill(number, "XDPMRelationship", [("_name", writer.archive.text(name)), all])
        }
        relationship(friends, "friends", [
            ("XD_PRK_isToMany", .bool(true)), ("XD_PRK_maxCount", .integer(9)), ("XD_PRK_minCount", .integer(2)),
            ("XD_PRK_inverseRelationship", .reference(friends)), ("XD_PRK_deleteRule", .integer(3)), ("XD_PRK_ordered", .bool(true))])
        relationship(
            boss, "boss", [("XD_PRK_maxCount", .integer(1)), ("XD_PRK_inverseRelationship", .reference(staff)), ("XD_PRK_deleteRule", .integer(1))])
        relationship(staff, "staff", [
            ("XD_PRK_isToMany", .bool(true)), ("XD_PRK_inverseRelationship", .reference(boss)), ("XD_PRK_deleteRule", .integer(2))])
        let name = writer.attribute("name", 700, [
            ("XD_PPSK_isIndexed", .bool(true)), ("XD_PAttK_defaultValueAsString", writer.archive.text("Ada")),
            ("XD_PAttK_maxValueString", writer.archive.text("25")),
            ("XD_PAttK_regularExpressionString", writer.archive.text("A.*")), ("XD_PPSK_elementID", writer.archive.text("title")),
        ])
        let photo = writer.attribute("photo", 1800, [
            ("XD_PPSK_isOptional", .bool(true)), ("XD_PAttK_valueTransformerName", writer.archive.text("T")), ("XD_PPSK_isTransient", .bool(true)),
            (
                "XD_PPSK_userInfo",
                writer.archive.dictionary([("a", writer.archive.text("b")), ("com.apple.syncservices.Syncable", writer.archive.text("NO"))])),
        ])
        let beingFacts = writer.facts([("XD_PSK_isAbstract", .bool(true)), ("XD_PSK_entityClassName", writer.archive.text("NSManagedObject"))])
        writer.archive.fill(being, "XDPMEntity", [
            ("_name", writer.archive.text("Being")), beingFacts, ("XDBucketForOwnedAttributesstorage", writer.archive.dictionary([name, photo])),
        ])
        let index = writer.archive.array([writer.archive.array([writer.archive.text("name"), writer.archive.text("age")])])
        let personFacts = writer.facts([
            ("XD_PSK_entityClassName", writer.archive.text("Person")), ("XD_PSK_versionHashModifier", writer.archive.text("2")),
            ("XDPMCompoundIndexes", index),
            ("XD_PSK_fetchRequestsArray", writer.archive.array([])),
        ])
        let parent = writer.archive.object("XDUMLGeneralizationImp", [("_general", .reference(being)), ("_specific", .reference(person))])
        let age = writer.attribute("age", 200, [("XD_PAttK_defaultValueAsString", writer.archive.text("0"))])
        let own = [age, ("friends", .reference(friends)), ("boss", .reference(boss)), ("staff", .reference(staff))] + properties(&writer)
        writer.archive.fill(person, "XDPMEntity", [
            ("_name", writer.archive.text("Person")), personFacts, ("XDBucketForGeneralizationsstorage", writer.archive.array([parent])),
            ("XDBucketForOwnedAttributesstorage", writer.archive.dictionary(own)),
        ])
        let package = writer.archive.object("XDModelPackage", [
            ("XDBucketForClassesstorage", writer.archive.dictionary([("Being", .reference(being)), ("Person", .reference(person))])),
        ])
        writer.archive.fill(root, "XDPMModel", [("_xd_rootPackage", package), ("_modelVersionIdentifier", writer.archive.text("7"))])
        return writer.archive.finish(root: .reference(root))
    }

    private static func read(_ bytes: [UInt8]) throws -> NSManagedObjectModel {
        try ModelBuilder(try EditorModelReader(try KeyedArchive(bytes, path: "elements"), path: "elements").read()).build(into: nil)
    }

    @Test
    func `A model that Xcode 3 wrote is the one that Xcode writes as XML`() throws {
        let expected = try ModelTests.load(
            """
            <entity name="Being" representedClassName="NSManagedObject" isAbstract="YES">
              <attribute name="name" attributeType="String" indexed="YES" defaultValueString="Ada" maxValueString="25" regularExpressionString="A.*" elementID="title"/>
              <attribute name="photo" optional="YES" transient="YES" attributeType="Transformable" valueTransformerName="T"><userInfo><entry key="a" value="b"/></userInfo></attribute>
            </entity>
            <entity name="Person" representedClassName="Person" parentEntity="Being" versionHashModifier="2">
              <attribute name="age" attributeType="Integer 32" defaultValueString="0"/>
              <relationship name="boss" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" inverseName="staff" inverseEntity="Person"/>
              <relationship name="friends" optional="YES" toMany="YES" minCount="2" maxCount="9" deletionRule="Deny" ordered="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
              <relationship name="staff" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Person" inverseName="boss" inverseEntity="Person"/>
              <compoundIndexes><compoundIndex><index value="name"/><index value="age"/></compoundIndex></compoundIndexes>
            </entity>
            """)
        let model = try Self.read(Self.bytes())
        #expect(model.versionIdentifiers == ["7"])
        model.versionIdentifiers = []
        #expect(model == expected && model.versionChecksum == expected.versionChecksum)
        #expect(ModelDocument(model).entities == ModelDocument(expected).entities)
    }

    @Test
    func `It is found in a model folder as the only version and as the current one`() throws {
        let scratch = try ScratchDirectory()
        for name in ["Old.xcdatamodel", "M.xcdatamodeld/M.xcdatamodel", "M.xcdatamodeld/M 2.xcdatamodel"] {
            try FileManager.default.createDirectory(at: scratch[name], withIntermediateDirectories: true)
            try Data(Self.bytes()).write(to: scratch[name].appendingPathComponent("elements"))
        }
        try Data("<plist><dict><key>_XCCurrentVersionName</key><string>M.xcdatamodel</string></dict></plist>".utf8).write(
            to: scratch["M.xcdatamodeld/.xccurrentversion"])
        for name in ["Old.xcdatamodel", "M.xcdatamodeld"] {
            #expect(try NSManagedObjectModel.load(contentsOf: scratch[name]).entities.compactMap(\.name) == ["Being", "Person"])
        }
        // The name that `heartwood compile` gives it.
        try FileManager.default.copyItem(at: scratch["Old.xcdatamodel/elements"], to: scratch["Old.mom"])
        #expect(NSManagedObjectModel(contentsOf: scratch["Old.mom"])?.entities.count == 2)
    }

    @Test
    func `Unknown parts of such a model are refused with a remedy, damage with a reason`() throws {
        func reason(_ properties: (inout Writer) -> [(String, ArchiveWriter.Node)]) -> String {
            let error = #expect(throws: (any Error).self) { try Self.read(Self.bytes(properties)) } as? NSError
            return error?.localizedDescription ?? ""
        }
        #expect(reason { [("found", $0.archive.object("XDPMFetchedProperty", [("_name", $0.archive.text("found"))]))] }.contains(
            "Open and save the model in Xcode"))
        #expect(reason { [$0.attribute("day", 900, [("XD_PAttK_defaultValueAsString", $0.archive.text("noon"))])] }.contains("the default date \"noon\""))
        #expect(reason { [$0.attribute("many", 200, [("XD_PAttK_minValueString", $0.archive.text("few"))])] }.contains("the limit \"few\""))
        #expect(reason { [$0.attribute("odd", 7, [])] }.contains("unknown type"))
        let bytes = Self.bytes(), seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededGenerator(seed: seed), refused = 0
        for round in 0..<300 {
            let damaged = generator.damaged(bytes, isCut: round % 4 == 0)
            do {
                _ = try Self.read(damaged)
            } catch {
                refused += 1
                #expect((error as NSError).domain == NSCocoaErrorDomain, "\(error), seed \(seed)")
            }
        }
        #expect(refused > 75, "seed \(seed)")
    }
}
