import Foundation
import TestSupport
import Testing

@testable import Heartwood

/// `.mom` and `.momd`, written here in the layout of files that Xcode compiled.
@Suite struct CompiledModelTests {
    private static func read(_ bytes: [UInt8]) throws -> NSManagedObjectModel {
        try ModelBuilder(try CompiledModelReader(bytes, path: "A.mom").read()).build(into: nil)
    }

    /// Order is no part of a compiled model.
    private static func sorted(_ model: NSManagedObjectModel) -> ModelDocument {
        var document = ModelDocument(model)
        document.entities.sort { $0.name < $1.name }
        for place in document.entities.indices {
            document.entities[place].attributes.sort { $0.name < $1.name }
            document.entities[place].relationships.sort { $0.name < $1.name }
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
          <userInfo><entry key="a" value="b"/></userInfo>
        </entity>
        <entity name="Part" parentEntity="Thing">
          <relationship name="whole" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Thing"/>
          <relationship name="parts" optional="YES" toMany="YES" minCount="1" maxCount="20" ordered="YES" deletionRule="Cascade" destinationEntity="Part" inverseName="owner" inverseEntity="Part"/>
          <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Part" inverseName="parts" inverseEntity="Part"/>
        </entity>
        """

    @Test(arguments: [everything, ModelSchemaTests.xml])
    func aCompiledModelIsTheModel(xml: String) throws {
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

    @Test func aCompiledRequestHasItsOrdersOfText() throws {
        let model = try ModelTests.load(Self.everything), template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
        template.entity = model.entitiesByName["Thing"]
        template.sortDescriptors = NSSortDescriptor.TextOrder.allCases.map { NSSortDescriptor(key: "text", ascending: false, textOrder: $0) }
        model.setFetchRequestTemplate(template, forName: "sorted")
        let found = Self.sorted(try Self.read(CompiledModelWriter.bytes(model))).fetchRequests
        #expect(found == ModelDocument(model).fetchRequests && found?.first?.sort?.count == 5)
    }

    @Test(.enabled(if: !RealModelTests.files.isEmpty, "../shared/models is absent"))
    func everySharedModelComesBackFromItsCompiledForm() throws {
        for path in RealModelTests.files {
            let model = try NSManagedObjectModel.load(contentsOf: ModelTests.shared.appendingPathComponent(path))
            let compiled = try Self.read(CompiledModelWriter.bytes(model))
            #expect(Self.sorted(compiled) == Self.sorted(model) && compiled.versionChecksum == model.versionChecksum, "\(path)")
        }
    }

    @Test func aBundleNamesItsCurrentVersion() throws {
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

    /// Whatever is changed or cut, there is a model or one error of Core Data's that names the file.
    @Test func damagedFilesAreRefusedOrRead() throws {
        let bytes = CompiledModelWriter.bytes(try ModelTests.load(Self.everything))
        var generator = SeededGenerator(seed: 7)
        var refused = 0
        for round in 0..<600 {
            var damaged = bytes
            if round % 4 == 0 {
                damaged = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
            } else {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    damaged[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                }
            }
            do {
                _ = try Self.read(damaged)
            } catch {
                refused += 1
                #expect((error as NSError).domain == NSCocoaErrorDomain && "\((error as NSError).localizedDescription)".hasPrefix("A.mom"), "\(error)")
            }
        }
        #expect(refused > 150)
    }

    @Test func archivesThatGoRoundInCirclesEnd() throws {
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
            ("NSEntityName", archive.text("A")), ("NSSuperentity", .reference(entity)), ("NSProperties", archive.dictionary([("x", .reference(attribute))])),
        ])
        archive.fill(root, "NSManagedObjectModel", [("NSEntities", archive.dictionary([("A", .reference(entity))]))])
        let error = #expect(throws: (any Error).self) { try Self.read(archive.finish(root: .reference(root))) } as? NSError
        #expect(error?.localizedDescription.contains("nested deeper") == true, "\(error?.localizedDescription ?? "")")
        let noModel = #expect(throws: (any Error).self) { try Self.read(archive.finish(root: .reference(and))) } as? NSError
        #expect(noModel?.localizedDescription.contains("not a model") == true)
    }

    @Test(.timeLimit(.minutes(1))) func aLongListThatManyPartsNameIsNotReadForEachOfThem() throws {
        var writer = ArchiveWriter()
        let list = writer.add(.array((0..<10_000).map { _ in .reference(0) }))
        let attributes = (0..<2000).map { place in
            ("a\(place)", writer.object("NSAttributeDescription", [
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
