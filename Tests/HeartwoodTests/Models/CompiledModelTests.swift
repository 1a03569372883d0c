import Foundation
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// `.mom` and `.momd` files, written here with the layout of files that Xcode compiled.
@Suite struct CompiledModelTests {
    private static func read(_ bytes: [UInt8]) throws -> NSManagedObjectModel {
        try ModelBuilder(try CompiledModelReader(bytes, path: "A.mom").read()).build(into: nil)
    }

    /// A compiled model has no order.
    private static func sorted(_ model: NSManagedObjectModel) -> ModelDocument {
        var document = ModelDocument(model)
        document.entities.sort { $0.name < $1.name }
        for index in document.entities.indices {
            document.entities[index].attributes.sort { $0.name < $1.name }
            document.entities[index].relationships.sort { $0.name < $1.name }
        }
        return document
    }

    private static let everything = """
        <entity name="Thing" isAbstract="YES" versionHashModifier="7" elementID="OldThing">
          <attribute name="flag" attributeType="Boolean" defaultValueString="YES"/>
          <attribute name="small" optional="YES" attributeType="Integer 16" defaultValueString="-3" minValueString="-5" maxValueString="9" elementID="tiny"/>
          <attribute name="share" optional="YES" attributeType="Double" defaultValueString="0.25"/>
          <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="-12.5"/>
          <attribute name="text" attributeType="String" defaultValueString="naïve ☕" regularExpressionString="n.*"/>
          <attribute name="day" optional="YES" attributeType="Date" defaultDateTimeInterval="1000.5" minDateTimeInterval="0"/>
          <attribute name="id" attributeType="UUID" preserveAfterDeletion="YES"/>
          <attribute name="site" optional="YES" attributeType="URI"/>
          <attribute name="blob" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
          <attribute name="shown" optional="YES" transient="YES" attributeType="String" versionHashModifier="2"/>
          <attribute name="colour" optional="YES" attributeType="Transformable" valueTransformerName="T" customClassName="Colour"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint><uniquenessConstraint><constraint value="text"/><constraint value="small"/></uniquenessConstraint></uniquenessConstraints>
          <fetchIndex name="byDay"><fetchIndexElement property="day" type="Binary" order="descending"/><fetchIndexElement property="text" type="Binary" order="ascending"/></fetchIndex>
          <fetchIndex name="some" partialIndexPredicate="small > 3 AND NOT (text BEGINSWITH[c] &quot;n&quot;) AND share != nil">
            <fetchIndexElement expression="length:(text)" expressionType="Integer 64" type="Binary" order="descending"/>
            <fetchIndexElement property="small" type="RTree" order="ascending"/><fetchIndexElement expression="SELF" type="Binary" order="ascending"/>
          </fetchIndex>
          <userInfo><entry key="a" value="b"/></userInfo>
        </entity>
        <entity name="Part" parentEntity="Thing">
          <relationship name="whole" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Thing"/>
          <relationship name="parts" optional="YES" toMany="YES" minCount="1" maxCount="20" ordered="YES" deletionRule="Cascade" destinationEntity="Part" inverseName="owner" inverseEntity="Part"/>
          <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Part" inverseName="parts" inverseEntity="Part"/>
        </entity>
        """

    @Test(arguments: [everything, ModelSchemaTests.xml])
    func `A compiled model equals the model`(xml: String) throws {
        let model = try ModelTests.load(xml)
        let compiled = try Self.read(CompiledModelWriter.bytes(model))
        #expect(compiled.versionChecksum == model.versionChecksum)
        let expected = Self.sorted(model), found = Self.sorted(compiled)
        #expect(found.entities.map(\.name) == expected.entities.map(\.name))
        for (a, b) in zip(found.entities, expected.entities) {
            #expect(a.attributes == b.attributes, "\(a.name)")
            #expect(a.relationships == b.relationships, "\(a.name)")
            #expect(a.fetchedProperties == b.fetchedProperties && a.indexes == b.indexes && a.uniquenessConstraints == b.uniquenessConstraints)
            #expect((a.className, a.parent, a.isAbstract) == (b.className, b.parent, b.isAbstract))
            #expect((a.renamingIdentifier, a.versionHashModifier) == (b.renamingIdentifier, b.versionHashModifier) && a.userInfo == b.userInfo)
        }
        #expect(found.configurations == expected.configurations)
        #expect(found.fetchRequests?.map(\.predicate) == expected.fetchRequests?.map(\.predicate))
    }

    @Test(arguments: [
        "SUBQUERY(parts, $x, $x.flag == YES AND $x.share > 0.5).@count > 1", "parts UNION owner.parts CONTAINS SELF", "a INTERSECT b == a MINUS b",
        "TERNARY(small > 3, text, \"none\") ==[cd] \"none\"", "small IN {1, 2, 3}", "ANY parts.small BETWEEN {1, length(text)}",
        "ALL parts.text MATCHES \"a.*\"", "text LIKE[n] \"a*\" OR text ENDSWITH $END", "small + 1 > share * 2", "TRUEPREDICATE", "NOT text != nil",
        "FUNCTION($manager, \"userInfo\") != nil",
    ])
    func `An archived expression is the expression, and an archived predicate the predicate`(format: String) throws {
        let node = try NSPredicate(parsing: format).node
        #expect(PredicatePrinter.format(try Self.predicate { $0.predicate(node) }) == PredicatePrinter.format(node))
    }

    private static func predicate(_ write: (inout CompiledModelWriter) -> ArchiveWriter.Node) throws -> PredicateNode {
        var writer = CompiledModelWriter()
        let root = write(&writer)
        return try CompiledPredicateReader(path: "A.mom", of: "the rule").predicate(
            try KeyedArchive(writer.archive.finish(root: root), path: "A.mom").root())
    }

    @Test
    func `A list as a constant is read, and unknown parts of an archive are refused with a remedy`() throws {
        func comparison(_ right: (inout CompiledModelWriter) -> ArchiveWriter.Node, type: Int64 = 10) throws -> String {
            PredicatePrinter.format(try Self.predicate { writer in
                let left = writer.expression(.keyPath(["a"])), right = right(&writer)
                return writer.archive.object("NSComparisonPredicate", [
                    ("NSLeftExpression", left), ("NSRightExpression", right),
                    ("NSPredicateOperator", writer.archive.object("NSInPredicateOperator", [("NSOperatorType", .integer(type))])),
                ])
            })
        }
        func constant(_ value: ArchiveWriter.Node, _ writer: inout CompiledModelWriter) -> ArchiveWriter.Node {
            writer.archive.object("NSConstantValueExpression", [("NSExpressionType", .integer(0)), ("NSConstantValue", value)])
        }
        #expect(try comparison { constant($0.archive.array([.integer(1), $0.archive.text("b")]), &$0) } == "a IN {1, \"b\"}")
        #expect(try comparison(
            { $0.archive.object("NSConstantValueExpression", [("NSExpressionType", .integer(0)), ("NSConstantValueClassName", .reference(0))]) },
            type: 5) == "a != nil")
        func refusal(_ right: (inout CompiledModelWriter) -> ArchiveWriter.Node, type: Int64 = 4) -> String {
            let error = #expect(throws: (any Error).self) { try comparison(right, type: type) } as? NSError
            #expect(error?.domain == NSCocoaErrorDomain)
            return error?.localizedDescription ?? ""
        }
        #expect(refusal { constant($0.archive.object("NSColor", []), &$0) }.contains("the class NSColor, which is unknown; write it another way"))
        #expect(refusal { $0.archive.object("NSBlockExpression", [("NSExpressionType", .integer(19))]) }.contains("19 (NSBlockExpression)"))
        #expect(refusal { $0.archive.object("NSSetExpression", [("NSExpressionType", .integer(5))]) }.contains("without NSLeftExpression"))
        #expect(refusal({ constant(.integer(1), &$0) }, type: 11).contains("the operator 11"))
    }

    @Test
    func `A compiled request has its text orders`() throws {
        let model = try ModelTests.load(Self.everything), template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
        template.entity = model.entitiesByName["Thing"]
        template.sortDescriptors = NSSortDescriptor.TextOrder.allCases.map { NSSortDescriptor(key: "text", ascending: false, textOrder: $0) }
        model.setFetchRequestTemplate(template, forName: "sorted")
        let found = Self.sorted(try Self.read(CompiledModelWriter.bytes(model))).fetchRequests
        #expect(found == ModelDocument(model).fetchRequests && found?.first?.sort?.count == 5)
    }

    @Test(.enabled(if: !RealModelTests.files.isEmpty, "../shared/models is absent"))
    func `Every shared model comes back from its compiled form`() throws {
        for path in RealModelTests.files {
            let model = try NSManagedObjectModel.load(contentsOf: ModelTests.shared.appendingPathComponent(path))
            let compiled = try Self.read(CompiledModelWriter.bytes(model))
            #expect(Self.sorted(compiled) == Self.sorted(model) && compiled.versionChecksum == model.versionChecksum, "\(path)")
        }
    }

    @Test
    func `A bundle names its current version`() throws {
        let bundle = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).momd")
        defer { try? FileManager.default.removeItem(at: bundle) }
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        func write(_ name: String, _ entity: String) throws {
            let model = try ModelTests.load("<entity name=\"\(entity)\"/>")
            try Data(CompiledModelWriter.bytes(model)).write(to: bundle.appendingPathComponent(name))
        }
        func versions(_ list: [String: Any]) throws {
            try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
                .write(to: bundle.appendingPathComponent("VersionInfo.plist"))
        }
        func names() throws -> [String?] { try NSManagedObjectModel.load(contentsOf: bundle).entities.map(\.name) }
        #expect(throws: (any Error).self) { try names() }
        try write("One.mom", "First")
        #expect(try names() == ["First"])
        try versions(["NSManagedObjectModel_VersionHashes": [:]])
        #expect(try names() == ["First"])
        try write("Two.mom", "Second")
        #expect(throws: (any Error).self) { try names() }
        try versions(["NSManagedObjectModel_CurrentVersionName": "Two"])
        #expect(try names() == ["Second"])
        #expect(NSManagedObjectModel(contentsOf: bundle.appendingPathComponent("One.mom"))?.entities.map(\.name) == ["First"])
        try versions(["NSManagedObjectModel_CurrentVersionName": "Three"])
        let error = #expect(throws: (any Error).self) { try names() } as? NSError
        #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("VersionInfo.plist") == true)
    }

    /// Whatever is changed or cut, the result is a model or one of Core Data's errors that names the file.
    @Test
    func `Damaged files are refused or read`() throws {
        let bytes = CompiledModelWriter.bytes(try ModelTests.load(Self.everything))
        var generator = SeededGenerator(seed: 7)
        var refused = 0
        for round in 0..<600 {
            let damaged = generator.damaged(bytes, isCut: round % 4 == 0)
            do {
                _ = try Self.read(damaged)
            } catch {
                refused += 1
                #expect(
                    (error as NSError).domain == NSCocoaErrorDomain && "\((error as NSError).localizedDescription)".hasPrefix("A.mom"), "\(error)")
            }
        }
        #expect(refused > 150)
    }

    /// The form of models that Core Data archives in its stores.
    @Test
    func `Properties that an entity repeats are inherited, and entities may share their keys`() throws {
        var archive = ArchiveWriter()
        func attribute(_ name: String, of entity: Int) -> ArchiveWriter.Node {
            archive.object("NSAttributeDescription", [
                ("NSPropertyName", archive.text(name)), ("NSAttributeType", .integer(700)), ("NSIsOptional", .bool(true)),
                ("NSEntity", .reference(entity)),
            ])
        }
        let parent = archive.reserve(), child = archive.reserve(), root = archive.reserve()
        let name = attribute("name", of: parent), copy = attribute("name", of: child), own = attribute("own", of: child)
        let children = archive.object("NSRelationshipDescription", [
            ("NSPropertyName", archive.text("children")), ("NSMaxCount", .integer(-1)), ("NSMinCount", .integer(0)), ("NSDeleteRule", .integer(1)),
            ("NSDestinationEntity", .reference(child)), ("NSIsOptional", .bool(true)),
        ])
        let proxy = archive.object("_NSPropertyDescriptionProxy", [("NSUnderlyingProperty", name)])
        archive.fill(parent, "NSEntityDescription", [
            ("NSEntityName", archive.text("Parent")),
            ("NSProperties", archive.dictionary([("name", name), ("title", attribute("title", of: parent))])),
        ])
        archive.fill(child, "NSEntityDescription", [
            ("NSEntityName", archive.text("Child")), ("NSSuperentity", .reference(parent)),
            ("NSProperties", archive.dictionary([("name", copy), ("title", proxy), ("own", own), ("children", children)])),
        ])
        let keys = archive.object("NSArray", [("NS.objects", .array([archive.text("Child"), archive.text("Parent")]))])
        let values = archive.object("NSArray", [("NS.objects", .array([.reference(child), .reference(parent)]))])
        let strategy = archive.object("NSKnownKeysMappingStrategy1", [("keys", keys), ("length", .integer(2))])
        archive.fill(root, "NSManagedObjectModel", [
            ("NSEntities", archive.object("NSKnownKeysDictionary1", [("searchMapping", strategy), ("values", values)])),
        ])
        let model = try Self.read(archive.finish(root: .reference(root)))
        #expect(model.entitiesByName["Child"]?.superentity?.name == "Parent")
        #expect(model.entitiesByName["Child"]?.properties.map(\.name).sorted() == ["children", "name", "own", "title"])
        #expect(model.entitiesByName["Child"]?.declaredProperties.map(\.name).sorted() == ["children", "own"])
        #expect(model.entitiesByName["Child"]?.relationshipsByName["children"]?.maxCount == 0)
    }

    @Test
    func `Reading of cyclic archives ends`() throws {
        // An AND whose two parts are itself; an array of itself is refused as an entity.
        var archive = ArchiveWriter()
        let and = archive.reserve(), root = archive.reserve(), entity = archive.reserve(), attribute = archive.reserve()
        archive.fill(and, "NSCompoundPredicate", [
            ("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", archive.array([.reference(and), .reference(and)])),
        ])
        archive.fill(attribute, "NSAttributeDescription", [
            ("NSPropertyName", archive.text("x")), ("NSAttributeType", .integer(700)), ("NSValidationPredicates", archive.array([.reference(and)])),
        ])
        archive.fill(entity, "NSEntityDescription", [
            ("NSEntityName", archive.text("A")), ("NSSuperentity", .reference(entity)),
            ("NSProperties", archive.dictionary([("x", .reference(attribute))])),
        ])
        archive.fill(root, "NSManagedObjectModel", [("NSEntities", archive.dictionary([("A", .reference(entity))]))])
        let error = #expect(throws: (any Error).self) { try Self.read(archive.finish(root: .reference(root))) } as? NSError
        #expect(error?.localizedDescription.contains("nested deeper") == true, "\(error?.localizedDescription ?? "")")
        let noModel = #expect(throws: (any Error).self) { try Self.read(archive.finish(root: .reference(and))) } as? NSError
        #expect(noModel?.localizedDescription.contains("not a model") == true)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A long list that many parts refer to is not read for each of them`() throws {
        var writer = ArchiveWriter()
        let list = writer.add(.array((0..<10_000).map { _ in .reference(0) }))
        let attributes = (0..<2000).map { number in
            ("a\(number)", writer.object("NSAttributeDescription", [
                ("NSAttributeType", .integer(700)), ("NSIsOptional", list), ("NSIsTransient", list), ("NSFlagsKey", list),
            ]))
        }
        let properties = writer.dictionary(attributes), name = writer.text("E")
        let entity = writer.object("NSEntityDescription", [("NSEntityName", name), ("NSProperties", properties)])
        let entities = writer.dictionary([("E", entity)])
        let root = writer.object("NSManagedObjectModel", [("NSEntities", entities)])
        #expect(throws: (any Error).self) { try CompiledModelReader(writer.finish(root: root), path: "p").read() }
    }
}
