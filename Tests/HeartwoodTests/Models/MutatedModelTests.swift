import Foundation
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Damaged models, mapping models and property lists: each is read, or refused with one of Core Data's errors. A trap, a stack overflow or
/// exhausted memory ends the process, and with it the test.
@Suite struct MutatedModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["HEARTWOOD_MODEL_MUTATIONS"].flatMap { Int($0) } ?? 250
    private static let seed = environment["HEARTWOOD_MODEL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...UInt64.max)

    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="1">
            <entity name="Person" representedClassName="Person" isAbstract="YES" elementID="Human" syncable="YES">
                <attribute name="name" attributeType="String" minValueString="1" maxValueString="9" regularExpressionString="[a-z]*" defaultValueString="x"/>
                <attribute name="born" optional="YES" attributeType="Date" minDateTimeInterval="5" defaultDateTimeInterval="7"/>
                <attribute name="home" optional="YES" attributeType="Composite" composite="Place"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="friends.@count"/>
                <attribute name="more" optional="YES" attributeType="Transformable" valueTransformerName="T" customClassName="NSArray"/>
                <relationship name="friends" optional="YES" toMany="YES" minCount="1" maxCount="10" deletionRule="Deny" ordered="YES" \
        destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
                <fetchedProperty name="same" optional="YES"><fetchRequest name="f" entity="Person" predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
                <fetchIndex name="byName" partialIndexPredicate="name != nil"><fetchIndexElement property="name" type="Binary" order="descending"/>
                <fetchIndexElement expression="length:(name)" expressionType="Integer 64" type="Binary" order="ascending"/></fetchIndex>
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="Child" parentEntity="Person"><attribute name="age" attributeType="Integer 16" usesScalarValueType="YES"/></entity>
            <composite name="Place"><attribute name="city" optional="YES" attributeType="String"/></composite>
            <configuration name="Some"><memberEntity name="Person"/></configuration>
            <fetchRequest name="all" entity="Person" predicateString="name BEGINSWITH $NAME" fetchLimit="3"/>
            <elements><element name="Person" positionX="0" positionY="0"/></elements>
        </model>
        """

    private static let mapping = """
        <?xml version="1.0"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
        <database><databaseInfo><version>134481920</version></databaseInfo>
            <object type="XDDEVMAPPINGMODEL" id="z1"><attribute name="sourcemodelpath" type="string">A.xcdatamodel</attribute>
                <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2 z3"/></object>
            <object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename" type="string">Person</attribute>
                <attribute name="destinationname" type="string">Person</attribute><attribute name="mappingnumber" type="int16">1</attribute>
                <attribute name="sourcefilterpredicatestring" type="string">name != nil</attribute>
                <attribute name="mappingtypename" type="string">Copy</attribute><attribute name="autogenerateexpression" type="bool">1</attribute>
                <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z4"/></object>
            <object type="XDDEVENTITYMAPPING" id="z3"><attribute name="mappingtypename" type="string">Remove</attribute></object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z4"><attribute name="name" type="string">name</attribute>
                <attribute name="sourcekeypath" type="string">$source.name.length</attribute></object>
        </database>
        """

    private static let marker = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>A.xcdatamodel</string>
        <key>more</key><array><dict><key>_XCCurrentVersionName</key><string>B.xcdatamodel</string></dict><data>AAAA</data><real>1.5</real></array></dict></plist>
        """

    /// Shared files with this extension, and the test's own.
    private static func samples(_ own: String, ending: String) -> [[UInt8]] {
        let all = FileManager.default.enumerator(atPath: ModelTests.shared.path)?.compactMap { $0 as? String } ?? []
        let files = all.filter { $0.hasSuffix(ending) }.sorted().compactMap {
            FileManager.default.contents(atPath: ModelTests.shared.appendingPathComponent($0).path)
        }
        if files.isEmpty { print("../shared/models has no file that ends with \(ending); only the test's own is mutated.") }
        // The test's own as often as all others together.
        return Array(repeating: Array(own.utf8), count: max(1, files.count)) + files.map(Array.init)
    }

    private func mutate(_ name: String, _ samples: [[UInt8]], count: Int, read: ([UInt8]) throws -> Void) {
        print("\(name): \(count) mutations with HEARTWOOD_MODEL_SEED=\(Self.seed)")
        var mutator = FileMutator(seed: Self.seed, samples: samples)
        var refused = 0
        for _ in 0..<count {
            guard let sample = samples.randomElement(using: &mutator.random) else { return }
            let file = mutator.mutated(sample)
            do {
                try read(file)
            } catch {
                refused += 1
                #expect((error as NSError).domain == NSCocoaErrorDomain, "seed \(Self.seed): \(error)")
            }
        }
        print("\(name): \(count - refused) read, \(refused) refused")
        #expect(refused > 0 && refused < count, "seed \(Self.seed)")
    }

    @Test
    func `A mutated model file is read or refused, and a model that was read can be used`() throws {
        var used = 0
        mutate("models", Self.samples(Self.model, ending: ".xcdatamodel/contents"), count: Self.count) { file in
            let document = try ModelFileParser(data: Data(file), path: "contents").parse()
            let model = try ModelBuilder(document).build(into: nil)
            let bytes = try model.archivedBytes()
            let again = try bytes.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
            #expect(again.versionChecksum == model.versionChecksum, "seed \(Self.seed)")
            used += 1
            guard used % 8 == 0 else { return }
            try NSPersistentStoreCoordinator(managedObjectModel: model)
                .addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
    }

    @Test
    func `A mutated mapping model is read or refused`() throws {
        mutate("mapping models", Self.samples(Self.mapping, ending: "xcmapping.xml"), count: Self.count / 2) { file in
            _ = try MappingFileParser(data: Data(file), path: "xcmapping.xml").parse()
        }
    }

    @Test
    func `A mutated compiled mapping model is read or refused`() throws {
        let old = Sketch("A: name:string mates>>A/mates\nB: title:string").model,
            new = Sketch("A: name:string mates>>A/mates\nC: title:string").model
        let own = CompiledMappingWriter.bytes(try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new))
        mutate("compiled mapping models", [own], count: Self.count) { file in
            _ = try CompiledMappingReader(file, path: "A.cdm").read().entityMappings(from: old, to: new)
        }
    }

    @Test
    func `A mutated list of versions names a version or none`() throws {
        let binary = try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "A.xcdatamodel", "more": [1, 2.5, Date(), Data([1])] as [Any]], format: .binary, options: 0)
        let samples = Self.samples(Self.marker, ending: ".xccurrentversion") + [Array(binary)]
        mutate("property lists", samples, count: Self.count) { file in
            guard PropertyListLeaves.texts(Data(file)) != nil else { throw ModelFile.failure("refused") }
        }
    }

    @Test
    func `Mutated metadata of a store are read or refused`() throws {
        let values: [String: Any] = [
            NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: NSRecordLogStoreType, NSStoreModelVersionHashesKey: ["A": Data(count: 32)],
            "list": [1, -1, UInt64.max, 1.5, true, Date(), ["deep": ["deeper": [Data()]]]] as [Any], "text": "\u{1F600}ä",
        ]
        mutate("metadata", [try RecordLogMetadata.encode(values)], count: Self.count * 2) { file in
            _ = PropertyListLeaves.texts(Data(file))
            _ = try RecordLogMetadata.decode(Data(file))
        }
    }
}
