import Foundation
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

@testable import Heartwood

@Suite struct ModelCacheTests {
    /// Bytes in stored blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let parts = stride(from: 0, to: max(bytes.count, 1), by: 65535).map { bytes[$0..<min($0 + 65535, bytes.count)] }
        return parts.enumerated().flatMap { index, part -> [UInt8] in
            let count = UInt16(part.count), last: UInt8 = index == parts.count - 1 ? 1 : 0
            return [last] + [count, ~count].flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] } + part
        }
    }

    private static func refusal(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try ModelCache.model(from: bytes, path: "App.sqlite") }
        #expect((error as NSError?)?.domain == NSCocoaErrorDomain, sourceLocation: sourceLocation)
        return (error as NSError?)?.localizedDescription ?? ""
    }

    @Test(arguments: [ModelSchemaTests.xml, "<entity name=\"A\"/>", ""])
    func `A cache gives the model that was archived into it`(xml: String) throws {
        let model = try ModelTests.load(xml), bytes = CompiledModelWriter.bytes(model)
        let cached = try ModelCache.model(from: Self.stored(bytes), path: "App.sqlite")
        #expect(cached.versionChecksum == model.versionChecksum && cached.warnings.isEmpty)
        #expect(ModelDescription.all(cached) == ModelDescription.all(model))
    }

    @Test
    func `Each kind of property in each combination is read from a cache, inherited ones as copies and as proxies`() throws {
        let folder = ModelTests.root.appendingPathComponent("Tests/Goldens/ModelCaches")
        let bytes = try Data(contentsOf: folder.appendingPathComponent("everything.cache"))
        let expected = try JSONDecoder().decode(
            [String: ModelDescription].self, from: Data(contentsOf: folder.appendingPathComponent("everything.json")))
        let model = try ModelCache.model(from: Array(bytes), path: "everything.cache"), found = ModelDescription.all(model)
        #expect(model.warnings.isEmpty && Set(found.keys) == Set(expected.keys) && expected["Leaf"]?.properties.count ?? 0 > 200)
        for (name, entity) in expected {
            for (property, line) in entity.properties { #expect(found[name]?.properties[property] == line, "\(name).\(property)") }
            #expect(found[name] == entity, "\(name)")
        }
        #expect(model.entitiesByName["Leaf"]?.declaredProperties.map(\.name).sorted() == ["leafName", "middles", "same"])
        #expect(model.configurations == ["Small"] && model.versionIdentifiers == ["two"])
        #expect(model.entities(forConfigurationName: "Small")?.compactMap(\.name).contains("Other") == true)
        try checkRest(of: model)
    }

    private func checkRest(of model: NSManagedObjectModel) throws {
        let other = try #require(model.entitiesByName["Other"]), former = try #require(model.entitiesByName["Former"])
        #expect(former.renamingIdentifier == "Ancient" && former.indexes.map { $0.elements.map(\.propertyName) } == [["one"], ["two", "three"]])
        #expect(model.entitiesByName["Leaf"]?.versionHashModifier == "r5" && other.userInfo as? [String: String] == ["key": "value"])
        let indexes = Dictionary(uniqueKeysWithValues: other.indexes.map { ($0.name, $0) })
        #expect(indexes["byNumber"]?.elements.map(\.isAscending) == [true, false])
        #expect(indexes["some"]?.partialIndexPredicate?.predicateFormat == "number > 3")
        #expect((indexes["computed"]?.elements.first?.property as? NSExpressionDescription)?.expressionResultType == .integer32AttributeType)
        let address = try #require(other.attributesByName["address"] as? NSCompositeAttributeDescription)
        #expect(address.elements.map(\.name) == ["place", "note"])
        let place = try #require(address.elements.first as? NSCompositeAttributeDescription)
        #expect(place.elements.map(\.attributeType) == [.stringAttributeType, .integer32AttributeType])
        #expect((other.attributesByName["twice"] as? NSDerivedAttributeDescription)?.derivationExpression?.description == "number")
        let fetched = try #require(other.propertiesByName["fetched"] as? NSFetchedPropertyDescription)
        #expect(fetched.fetchRequest?.entityName == "Other" && fetched.fetchRequest?.fetchLimit == 3)
        #expect(model.fetchRequestTemplatesByName["fours"]?.predicate?.predicateFormat == "number == 4")
        let thing = try #require(model.entitiesByName["Thing"])
        #expect(thing.attributesByName["a400d"]?.defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "-12.5"))
        #expect(thing.attributesByName["a1000d"]?.defaultValue as? Data == Data([0, 1, 2]))
        #expect((thing.attributesByName["a1100d"]?.defaultValue as? UUID)?.uuidString == "00010203-0405-0607-0809-0A0B0C0D0E0F")
        #expect((thing.attributesByName["a1200d"]?.defaultValue as? URL)?.absoluteString == "https://a.example/b")
    }

    @Test
    func `The metadata's hashes are those of the cache's entities`() throws {
        let cache = Self.stored(CompiledModelWriter.bytes(try ModelTests.load("<entity name=\"A\"/><entity name=\"B\"/>")))
        let model = try ModelCache.model(from: cache, path: "App.sqlite", hashes: ["A": Data([1]), "C": Data([2])])
        let a = try #require(model.entitiesByName["A"]), b = try #require(model.entitiesByName["B"])
        #expect(model.coreDataHashes[a] == [Data([1])] && model.coreDataHashes[b] == nil)
    }

    @Test
    func `Bytes that are no cache are refused, and the error names the store and the byte`() {
        #expect(Self.refusal([]).contains("App.sqlite (model cache): the compressed bytes are cut off, at byte 0"))
        #expect(Self.refusal([7]).contains("a block of an unknown kind, at byte 0 (bit 3)"))
        #expect(Self.refusal(Self.stored(Array("bplist00".utf8))).contains("is not a binary property list"))
        #expect(Self.refusal(Self.stored([])).contains("App.sqlite"))
        var archive = ArchiveWriter()
        let other = archive.object("NSColor", [])
        #expect(Self.refusal(Self.stored(archive.finish(root: other))).contains("holds an archived NSColor, not a model"))
    }

    @Test
    func `A bomb is stopped at the bound`() {
        // A fixed block: a zero byte, and repetitions of 258 bytes, each of which takes 13 bits.
        var bits: [UInt8] = [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
        let count = ArchivedModel.cacheSizeMax / 258 + 2
        let repetition: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0]
        for _ in 0..<count { bits += repetition }
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(UInt8(0)) { $0 | $1.element << UInt8($1.offset) }
        }
        #expect(Self.refusal(bytes).contains("hold more than \(ArchivedModel.cacheSizeMax) bytes"))
    }

    @Test
    func `A part of a cache, and a cache with a wrong byte, give a model or an error that names the store`() throws {
        let bytes = Self.stored(CompiledModelWriter.bytes(try ModelTests.load(ModelSchemaTests.xml)))
        var generator = SeededGenerator(seed: 35), refused = 0
        for round in 0..<300 {
            var damaged = bytes
            if round % 3 == 0 {
                damaged.removeLast(Int.random(in: 1...bytes.count, using: &generator))
            } else {
                damaged[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            do {
                _ = try ModelCache.model(from: damaged, path: "App.sqlite")
            } catch {
                refused += 1
                #expect((error as NSError).localizedDescription.hasPrefix("App.sqlite (model cache)"), "seed 35, round \(round): \(error)")
            }
        }
        #expect(refused > 100)
    }

    @Test
    func `An index that is not known here does not keep a store from being read`() throws {
        var archive = ArchiveWriter()
        let name = archive.text("name"), entityName = archive.text("A"), indexName = archive.text("strange")
        let attribute = archive.object("NSAttributeDescription", [
            ("NSPropertyName", name), ("NSAttributeType", .integer(700)), ("_P", .integer(2)), ("NSDefaultValue", archive.text("none")),
        ])
        let strange = archive.object("NSBlockPredicate", [])
        let element = archive.object("NSFetchIndexElementDescription", [("NSPropertyName", name), ("NSAscending", .bool(true))])
        let index = archive.object("NSFetchIndexDescription", [
            ("NSIndexName", indexName), ("NSIndexElements", archive.array([element])), ("NSPartialIndexPredicate", strange),
        ])
        let entity = archive.object("NSEntityDescription", [
            ("NSEntityName", entityName), ("NSProperties", archive.dictionary([("name", attribute)])),
            ("NSFetchIndexDescriptions", archive.array([index])), ("NSUniqueTuples", archive.array([archive.array([name])])),
        ])
        let root = archive.object("NSManagedObjectModel", [("NSEntities", archive.dictionary([("A", entity)]))])
        let bytes = archive.finish(root: root)
        let model = try ModelCache.model(from: Self.stored(bytes), path: "App.sqlite")
        let made = try #require(model.entitiesByName["A"])
        #expect(made.attributesByName["name"]?.isOptional == true && made.indexes.isEmpty && made.uniquenessConstraints.count == 1)
        #expect(model.warnings.map(\.element) == ["model cache"] && model.warnings.first?.text.contains("strange") == true)
        // The same bytes as a file are refused: a compiled model is the app's own.
        #expect(throws: (any Error).self) { try CompiledModelReader(bytes, path: "A.mom").read() }
    }
}
