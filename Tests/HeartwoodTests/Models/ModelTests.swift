import Foundation
import Testing

@testable import Heartwood

@Suite struct ModelTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let shared = root.deletingLastPathComponent().appendingPathComponent("shared/models")

    static func load(_ entities: String) throws -> NSManagedObjectModel {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: url) }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try "<?xml version=\"1.0\"?>\n<model>\n\(entities)\n</model>".write(
            to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return try NSManagedObjectModel.load(contentsOf: url)
    }

    @Test
    func `Every stated property is loaded`() throws {
        let model = try Self.load("""
            <entity name="A" representedClassName="ClassA" isAbstract="YES" elementID="OldA" versionHashModifier="2">
              <attribute name="n" optional="YES" attributeType="Integer 16" defaultValueString="7" minValueString="1" maxValueString="9"/>
              <attribute name="d" attributeType="Date" defaultDateTimeInterval="100.5"/>
              <attribute name="s" attributeType="String" defaultValueString="hi" regularExpressionString="h.*" elementID="old"/>
              <attribute name="b" attributeType="Boolean" defaultValueString="YES"/>
              <attribute name="t" optional="YES" transient="YES"/>
              <relationship name="bs" optional="YES" toMany="YES" minCount="1" maxCount="10" ordered="YES" deletionRule="Cascade" destinationEntity="B" inverseName="a" inverseEntity="B"/>
              <fetchIndex name="byN"><fetchIndexElement property="n" type="Binary" order="descending"/></fetchIndex>
              <uniquenessConstraints><uniquenessConstraint><constraint value="s"/><constraint value="n"/></uniquenessConstraint></uniquenessConstraints>
              <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="B" parentEntity="A">
              <relationship name="a" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="A" inverseName="bs" inverseEntity="A"/>
            </entity>
            <configuration name="Small"><memberEntity name="B"/></configuration>
            <elements><element name="A" positionX="0"/></elements>
            """)
        let a = try #require(model.entitiesByName["A"]), b = try #require(model.entitiesByName["B"])
        #expect(a.isAbstract && a.managedObjectClassName == "ClassA" && a.renamingIdentifier == "OldA" && a.versionHashModifier == "2")
        #expect(a.userInfo?["k"] as? String == "v")
        let n = try #require(a.attributesByName["n"])
        #expect(n.attributeType == .integer16AttributeType && n.isOptional && (n.defaultValue as? NSNumber)?.intValue == 7)
        #expect(n.rules == ValidationRules(minimum: 1, maximum: 9, pattern: nil))
        #expect(a.attributesByName["d"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 100.5))
        #expect(a.attributesByName["d"]?.isOptional == false)
        #expect(a.attributesByName["s"]?.rules.pattern == "h.*" && a.attributesByName["s"]?.renamingIdentifier == "old")
        #expect((a.attributesByName["b"]?.defaultValue as? NSNumber)?.boolValue == true)
        #expect(a.attributesByName["t"]?.isTransient == true && a.attributesByName["t"]?.attributeType == .undefinedAttributeType)
        let bs = try #require(a.relationshipsByName["bs"])
        #expect(bs.isToMany && bs.isOrdered && bs.minCount == 1 && bs.maxCount == 10 && bs.deleteRule == .cascadeDeleteRule)
        #expect(bs.inverseRelationship === b.relationshipsByName["a"] && bs.destinationEntity === b)
        #expect(b.superentity === a && b.propertiesByName["n"] === n && b.isKindOf(entity: a))
        #expect(a.indexes.first?.elements.first?.isAscending == false)
        #expect(a.uniquenessConstraints as? [[String]] == [["s", "n"]])
        #expect(model.entities(forConfigurationName: "Small") == [b])
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.versionChecksum == model.versionChecksum)
        let archived = try model.archivedBytes()
        let again = try archived.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
        #expect(ModelDocument(copy) == ModelDocument(again))
    }

    @Test(
        arguments: [
        ("<entity name=\"A\"><relationship name=\"r\" maxCount=\"1\" destinationEntity=\"Z\"/></entity>", "leads to \"Z\""),
        ("<entity name=\"A\"/><entity name=\"A\"/>", "two entities named A"),
        ("<entity name=\"A\" parentEntity=\"A\"/>", "inherits from itself"),
        ("<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/>", "inherits from itself"),
        ("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Colour\"/></entity>", "\"Colour\" is unknown"),
        ("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"70000\"/></entity>", "does not suit"),
        ("<entity name=\"A\"><attribute name=\"x\"/><attribute name=\"x\"/></entity>", "two properties named x"),
        (
            "<entity name=\"A\"><relationship name=\"r\" maxCount=\"1\" destinationEntity=\"A\" inverseName=\"q\"/></entity>",
            "A.q, which does not exist"),
        ("<entity name=\"A\"><uniquenessConstraints><uniquenessConstraint><constraint value=\"x\"/></uniquenessConstraint></uniquenessConstraints></entity>", "names x"),
        ("<entity name=\"A\"><attribute name=\"x\" derived=\"YES\"/></entity>", "no derivationExpression"),
        ("<entity name=\"A\"><attribute name=\"x\" derived=\"YES\" derivationExpression=\"canonical:(\"/></entity>", "does not parse"),
        ("<entity name=\"A\"><attribute name=\"x\" derived=\"YES\" derivationExpression=\"canonical:(y)\"/></entity>", "A has no property \"y\""),
        ("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity>", "\"C\", which does not exist"),
        (
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity><composite name=\"C\"/>",
            "without elements"),
        ("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity><composite name=\"C\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></composite>", "a part of itself"),
        (
            "<entity name=\"A\"><fetchedProperty name=\"f\"><fetchRequest name=\"r\" entity=\"Z\"/></fetchedProperty></entity>",
            "asks for the entity Z"),
        ("<entity name=\"A\"/><fetchRequest name=\"r\" entity=\"A\" predicateString=\"x ==\"/>", "has a predicate that does not parse"),
        ("<entity name=\"A\"/><fetchRequest name=\"r\" entity=\"A\"/><fetchRequest name=\"r\" entity=\"A\"/>", "two fetch requests named r"),
        ("<entity name=\"A\"><relationship name=\"r\" maxCount=\"many\" destinationEntity=\"A\"/></entity>", "no count"),
        ("<entity name=\"A\"><relationship name=\"r\" minCount=\"3\" maxCount=\"2\" destinationEntity=\"A\"/></entity>", "at least 3"),
        ("<entity name=\"A\"><relationship name=\"r\" maxCount=\"1\" destinationEntity=\"B\" inverseName=\"s\"/></entity><entity name=\"B\"><relationship name=\"s\" maxCount=\"1\" destinationEntity=\"A\" inverseName=\"t\"/></entity><entity name=\"C\"/>", "A.t, which does not exist"),
        (
            "<entity name=\"B\" parentEntity=\"A\"><attribute name=\"x\"/></entity><entity name=\"A\"><attribute name=\"x\"/></entity>",
            "two properties named x"),
        ("<entity name=\"A\"><attribute optional=\"YES\"/></entity>", "has no name"),
        ("<entity name=\"A\">", "is not a model file"),
        ("<!DOCTYPE a><entity name=\"A\"/>", "declares XML entities"),
    ])
    func `A model that contradicts itself is refused`(xml: String, says: String) {
        let error = #expect(throws: (any Error).self) { try Self.load(xml) } as? NSError
        #expect(error?.localizedDescription.contains(says) == true, "\(error?.localizedDescription ?? "")")
        #expect(error?.localizedDescription.contains("contents") == true)
        #expect(error?.domain == NSCocoaErrorDomain && [
            NSPersistentStoreOpenError, NSPersistentStoreIncompatibleSchemaError].contains(error?.code ?? 0))
    }

    /// An XML entity could hide in an encoding that the check does not read.
    @Test
    func `Other encodings are refused`() throws {
        let bomb = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><!DOCTYPE m [<!ENTITY a \"aaaa\">]><model>&a;</model>"
        for data in [Data(bomb.utf8), try #require(bomb.data(using: .utf16)), try #require(bomb.data(using: .utf16LittleEndian))] {
            #expect(throws: (any Error).self) { try ModelFileParser(data: data, path: "m").parse() }
        }
        let other = Data("<?xml version='1.0' encoding='UTF-7'?><model/>".utf8)
        let error = #expect(throws: (any Error).self) { try ModelFileParser(data: other, path: "m").parse() } as? NSError
        #expect(error?.localizedDescription.contains("not in UTF-8") == true)
        #expect(try ModelFileParser(data: Data("<?xml version='1.0' encoding='utf-8'?><model/>".utf8), path: "m").parse().entities.isEmpty)
        #expect(try ModelFileParser(data: Data("<model><entity name='a!b'/></model>".utf8), path: "m").parse().entities.count == 1)
    }

    @Test
    func `An error names the line of the element`() {
        let error = #expect(throws: (any Error).self) {
            try Self.load("<entity name=\"A\">\n<attribute name=\"x\"/>\n<attribute name=\"y\"/>\n<attribute name=\"x\"/>\n</entity>")
        } as? NSError
        #expect(error?.localizedDescription.contains("contents:6: ") == true, "\(error?.localizedDescription ?? "")")
    }

    /// Twenty composites, each with two of the next: a million elements in two kilobytes.
    @Test
    func `Composites that double at each level are refused`() {
        let xml = (0..<20).map { level in
            "<composite name=\"C\(level)\">" + ["a", "b"].map { name in
                "<attribute name=\"\(name)\" attributeType=\"\(level < 19 ? "Composite" : "String")\" composite=\"C\(level + 1)\"/>"
            }.joined() + "</composite>"
        }.joined()
        let error = #expect(throws: (any Error).self) {
            try Self.load("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C0\"/></entity>" + xml)
        } as? NSError
        #expect(error?.localizedDescription.contains("more than 10000 elements") == true, "\(error?.localizedDescription ?? "")")
    }

    @Test
    func `A long chain of parent entities is refused`() {
        let xml = (0..<5000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }.joined() + "<entity name=\"E5000\"/>"
        let error = #expect(throws: (any Error).self) { try Self.load(xml) } as? NSError
        #expect(error?.localizedDescription.contains("through more than 200") == true)
    }

    @Test
    func `Hashing is stable`() {
        let model = TestStack.model()
        let before = model.versionChecksum
        model.entitiesByName["Person"]?.userInfo = ["a": "b"]
        #expect(model.versionChecksum == before, "user info does not count")
        model.entitiesByName["Person"]?.attributesByName["age"]?.isOptional = false
        #expect(model.versionChecksum != before)
    }

    @Test
    func `A damaged archive is refused`() throws {
        let bytes = try TestStack.model().archivedBytes()
        var refused = 0
        for at in stride(from: 0, to: bytes.count, by: 7) {
            var damaged = bytes
            damaged[at] ^= 0x15
            if (try? damaged.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }) == nil { refused += 1 }
        }
        #expect(refused > bytes.count / 14)
    }

}
