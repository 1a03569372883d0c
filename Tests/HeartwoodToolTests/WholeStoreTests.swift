import Foundation
import Heartwood
import HeartwoodTestSupport
import Testing

@testable import HeartwoodTool

/// A store that is exported and imported again is equal: every value, every relationship, cycles and required ones too.
@Suite struct WholeStoreTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-whole-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("M.xcdatamodel"), withIntermediateDirectories: true)
        try write(Self.model)
    }

    private func write(_ model: String) throws {
        try model.write(to: folder.appendingPathComponent("M.xcdatamodel/contents"), atomically: true, encoding: .utf8)
    }

    private static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model>
        <entity name="Node"><attribute name="mark" attributeType="String"/>
          \([
            "text": "String", "i16": "Integer 16", "i32": "Integer 32", "i64": "Integer 64", "dbl": "Double", "flt": "Float", "dec": "Decimal", "date": "Date",
            "flag": "Boolean", "data": "Binary", "uuid": "UUID", "uri": "URI", "more": "Transformable",
          ].sorted { $0.key < $1.key }.map { "<attribute name=\"\($0.key)\" optional=\"YES\" attributeType=\"\($0.value)\"/>" }.joined())
          <attribute name="large" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
          <attribute name="own" optional="YES" attributeType="Transformable" valueTransformerName="OfTheProgram"/>
          <attribute name="home" optional="YES" attributeType="Composite" composite="Place"/>
          <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Node" inverseName="subnodes" inverseEntity="Node"/>
          <relationship name="subnodes" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Node" inverseName="parent" inverseEntity="Node"/>
        </entity>
        <entity name="Being" isAbstract="YES"><attribute name="mark" attributeType="String"/>
          <relationship name="items" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="owner" inverseEntity="Item"/>
          <relationship name="boss" maxCount="1" deletionRule="Nullify" destinationEntity="Being"/></entity>
        <entity name="Person" parentEntity="Being"/>
        <entity name="Robot" parentEntity="Being"><attribute name="made" attributeType="Integer 16"/></entity>
        <entity name="Item"><attribute name="mark" attributeType="String"/>
          <relationship name="owner" maxCount="1" deletionRule="Nullify" destinationEntity="Being" inverseName="items" inverseEntity="Being"/>
          <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="on" inverseEntity="Item"/></entity>
        <entity name="Tag"><attribute name="mark" attributeType="String"/><attribute name="key" optional="YES" attributeType="String"/>
          <relationship name="on" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Item" inverseName="tags" inverseEntity="Item"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint></uniquenessConstraints></entity>
        <entity name="Left"><attribute name="mark" attributeType="String"/>
          <relationship name="right" maxCount="1" deletionRule="Nullify" destinationEntity="Right" inverseName="left" inverseEntity="Right"/></entity>
        <entity name="Right"><attribute name="mark" attributeType="String"/>
          <relationship name="left" maxCount="1" deletionRule="Nullify" destinationEntity="Left" inverseName="right" inverseEntity="Left"/></entity>
        <composite name="Place"><attribute name="city" optional="YES" attributeType="String"/><attribute name="height" optional="YES" attributeType="Double"/></composite>
        </model>
        """

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func open(_ name: String) throws -> NSManagedObjectContext {
        let model = try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("M.xcdatamodel"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: folder.appendingPathComponent(name), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private final class Upside: ValueTransformer {
        override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8.reversed()) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map { String(decoding: $0.reversed(), as: UTF8.self) } }
    }

    private func make(_ entity: String, _ mark: String, _ values: [String: Any] = [:], in context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(mark, forKey: "mark")
        for (key, value) in values where object.entity.propertiesByName[key] != nil { object.setValue(value, forKey: key) }
        return object
    }

    private func fill(_ context: NSManagedObjectContext) throws {
        ValueTransformer.setValueTransformer(Upside(), forName: NSValueTransformerName("OfTheProgram"))
        var nodes: [NSManagedObject] = []
        for (index, text) in ExactValueTests.texts.enumerated() {
            let more: Any = index % 3 == 0 ? text : index % 3 == 1 ? [text, 1] as NSArray : ["k": Data(text.utf8)] as NSDictionary
            nodes.append(
                make("Node", "n\(index)", ["text": text, "more": more, "own": text, "home": ["city": text, "height": Double(index)]], in: context))
        }
        nodes.append(make("Node", "none", in: context))
        nodes.append(make("Node", "low", [
            "i16": Int16.min, "i32": Int32.min, "i64": Int64.min, "dbl": -0.0, "flt": -Float.greatestFiniteMagnitude, "flag": false, "data": Data(),
            "dec": NSDecimalNumber(string: "-12345678901234567890123456789012345678"),
            "date": Date(timeIntervalSinceReferenceDate: -5e11 - 1 / 16_384),
            "uuid": UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "uri": URL(string: "a") as Any, "large": Data(),
        ], in: context))
        nodes.append(make("Node", "high", [
            "i16": Int16.max, "i32": Int32.max, "i64": Int64.max, "dbl": Double.leastNonzeroMagnitude, "flt": Float.leastNonzeroMagnitude,
            "flag": true,
            "data": Data((0...255).map { UInt8($0) }), "dec": NSDecimalNumber.notANumber,
            "date": Date(timeIntervalSinceReferenceDate: 700_000_000.000_000_1),
            "uuid": UUID(), "uri": URL(string: "https://example.org/%20a?b=c;d#e") as Any, "large": Data(repeating: 7, count: 9000),
        ], in: context))
        nodes.append(
            make("Node", "odd", ["dbl": Double.infinity, "flt": -Float.infinity, "date": Date(timeIntervalSinceReferenceDate: 1e300)], in: context))
        nodes.append(make("Node", "nan", ["dbl": Double.nan, "flt": Float.nan], in: context))
        // A tree whose members are not in the order of creation, and a cycle.
        for (index, node) in nodes.enumerated() where index > 0 && index % 5 != 4 {
            node.setValue(nodes[index / 5 * 5 + 4 < nodes.count ? index / 5 * 5 + 4 : 0], forKey: "parent")
        }
        for node in nodes {
            guard let members = node.value(forKey: "subnodes") as? NSOrderedSet, members.count > 1 else { continue }
            node.setValue(NSOrderedSet(array: members.array.reversed()), forKey: "subnodes")
        }
        nodes[4].setValue(nodes[9], forKey: "parent")
        nodes[9].setValue(nodes[4], forKey: "parent")
        // Everyone needs a boss, and an item an owner: each other, or themselves.
        let beings = (0..<9).map { make($0 % 2 == 0 ? "Person" : "Robot", "b\($0)", $0 % 2 == 0 ? [:] : ["made": $0], in: context) }
        for (index, being) in beings.enumerated() { being.setValue(index == 3 ? being : beings[(index + 1) % beings.count], forKey: "boss") }
        let tags = (0..<4).map { make("Tag", "t\($0)", $0 == 3 ? [:] : ["key": "x-coredata://no/Tag/p\($0);"], in: context) }
        let items = (0..<12).map { make("Item", "i\($0)", ["owner": beings[$0 * 5 % 9]], in: context) }
        for being in beings {
            guard let owned = being.value(forKey: "items") as? NSOrderedSet, owned.count > 1 else { continue }
            being.setValue(NSOrderedSet(array: owned.array.reversed()), forKey: "items")
        }
        for (index, tag) in tags.enumerated() {
            let on = items.filter { (Int(($0.value(forKey: "mark") as? String ?? "").dropFirst()) ?? 0) % (index + 1) == 0 }
            let isOrdered = tag.entity.relationshipsByName["on"]?.isOrdered ?? false
            tag.setValue(isOrdered ? NSOrderedSet(array: on.reversed()) : NSSet(array: on), forKey: "on")
        }
        for index in 0..<5 {
            let left = make("Left", "l\(index)", in: context)
            left.setValue(make("Right", "r\(index)", in: context), forKey: "right")
        }
        try context.save()
    }

    /// The whole content of a store, object by object, with marks instead of objects.
    private func contents(_ name: String) throws -> [String: [String: String]] {
        let context = try open(name)
        defer { try? close(context) }
        var result: [String: [String: String]] = [:]
        func mark(_ any: Any?) -> String { (any as? NSManagedObject)?.value(forKey: "mark") as? String ?? "?" }
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            for object in try context.fetch(request) {
                var values = ["entity": entity.name ?? ""]
                for (name, property) in entity.propertiesByName {
                    guard let value = object.value(forKey: name) else { continue }
                    if let relationship = property as? NSRelationshipDescription {
                        let list = (value as? NSOrderedSet)?.array.map(mark) ?? (value as? Set<NSManagedObject>)?.map(mark).sorted()
                            ?? [mark(value)]
                        if !relationship.isToMany || !list.isEmpty { values[name] = list.joined(separator: " ") }
                    } else {
                        values[name] = Self.text(value)
                    }
                }
                #expect(result.updateValue(values, forKey: mark(object)) == nil)
            }
        }
        return result
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let text as String: "text " + Data(text.utf8).base64EncodedString()
        case let decimal as NSDecimalNumber: "decimal \(decimal)"
        case let number as NSNumber: "number \(number.doubleValue.isNaN ? 0 : number.doubleValue.bitPattern) \(number.int64Value)"
        case let date as Date: "date \(date.timeIntervalSinceReferenceDate.bitPattern)"
        case let data as Data: "data " + data.base64EncodedString()
        case let list as NSArray: "list " + list.map { text($0) }.joined(separator: ", ")
        case let pairs as NSDictionary: "pairs " + pairs.map { "\($0.key)=\(text($0.value))" }.sorted().joined(separator: ", ")
        default: "\(value)"
        }
    }

    @Test(arguments: ["1", "3", "1000"])
    func `A whole store that is exported and imported is equal with any size of batches`(batch: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try open("a.heartwood")
        try fill(context)
        try close(context)
        let exported = try ToolProcess.run("export", path("a.heartwood"), "--all")
        #expect(exported.status == 0, "\(exported.error)")
        let made = try ToolProcess.run(
            "import", path("b.heartwood"), "--model", path("M.xcdatamodel"), "--batch", batch, "-", input: exported.output)
        #expect(made.status == 0, "\(made.error)")
        let first = try contents("a.heartwood"), second = try contents("b.heartwood")
        #expect(first.count == 5 + ExactValueTests.texts.count + 9 + 4 + 12 + 10)
        for (mark, values) in first where second[mark] != values { Issue.record("\(mark): \(values) came back as \(second[mark] ?? [:])") }
        #expect(second.count == first.count)
        #expect(try ToolProcess.run("verify", path("b.heartwood")).status == 0)
        // Into its own store: every object is known, and nothing changes.
        let again = try ToolProcess.run("import", path("a.heartwood"), "-", input: exported.output)
        #expect(again.status == 0 && again.output.contains(" 0 inserted"), "\(again.output)\(again.error)")
        #expect(try contents("a.heartwood") == first)
    }

    /// The lines of rows, if rows have them, and those of objects.
    private func lines(
        _ entity: NSEntityDescription, _ coordinator: NSPersistentStoreCoordinator?, labels: Bool, isCSV: Bool
    ) throws -> (rows: [Substring], objects: [Substring], areOfRows: Bool) {
        let reader = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.sortDescriptors = [NSSortDescriptor(key: "mark", ascending: true)]
        func lines(_ body: (RecordWriter) throws -> Void) rethrows -> [Substring] {
            let output = OutputBuffer()
            try body(RecordWriter(entity: entity, labels: labels, isCSV: isCSV, output: output))
            return String(decoding: output.bytes, as: UTF8.self).split(separator: "\n")
        }
        let rows = try lines { try $0.write(request, reader) }, areOfRows = reader.registeredObjects.isEmpty
        let objects = try lines { writer in
            for object in try reader.fetch(request) { try writer.line(object) }
        }
        return (Array(rows.dropFirst(isCSV ? 1 : 0)), objects, areOfRows)
    }

    @Test(arguments: [false, true])
    func `Lines of rows are those of objects, in every form`(labels: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // Without orders and transformables rows have everything.
        var model = Self.model.replacing(" ordered=\"YES\"", with: "")
        for name in ["name=\"more\"", "name=\"own\""] {
            let start = try #require(model.range(of: "<attribute \(name)")), end = try #require(model[start.lowerBound...].range(of: "/>"))
            model.removeSubrange(start.lowerBound..<end.upperBound)
        }
        try write(model)
        let context = try open("a.heartwood")
        try fill(context)
        let entities = try #require(context.persistentStoreCoordinator?.managedObjectModel.entities.filter { !$0.isAbstract })
        for entity in entities {
            for isCSV in [false, true] {
                let found = try lines(entity, context.persistentStoreCoordinator, labels: labels, isCSV: isCSV)
                #expect(found.areOfRows && !found.rows.isEmpty && found.rows == found.objects, "\(entity.name ?? "")")
            }
        }
        try close(context)
    }

    @Test(arguments: ["jsonl", "csv"])
    func `One entity's objects without keys come back with their relationships, as JSON Lines and as CSV`(format: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try open("a.heartwood")
        try fill(context)
        try close(context)
        let exported = try ToolProcess.run("export", path("a.heartwood"), "--entity", "Node", "--ids", "--format", format)
        #expect(exported.status == 0, "\(exported.error)")
        let made = try ToolProcess.run(
            "import", path("b.heartwood"), "--model", path("M.xcdatamodel"), "--format", format, "-", input: exported.output)
        #expect(made.status == 0, "\(made.error)")
        let first = try contents("a.heartwood").filter { $0.value["entity"] == "Node" }
        #expect(try contents("b.heartwood") == first)
    }

    @Test
    func `Labels name objects before and after their lines, and unresolved labels are refused`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func attempt(_ text: String, _ more: String...) throws -> ToolProcess.Result {
            let file = path("in.jsonl")
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let (process, output, error) = try ToolProcess.start(
                ["import", path("c.heartwood"), "--model", path("M.xcdatamodel"), "--batch", "1", file] + more)
            process.waitUntilExit()
            defer { ToolProcess.cleanUp(output.path, error.path) }
            return .init(
                status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8), error: try String(contentsOf: error, encoding: .utf8))
        }
        let good = try attempt("""
            {"@id":"p","@entity":"Person","mark":"p","boss":{"@id":"q","@entity":"Robot"}}
            {"@entity":"Item","@id":"i","mark":"i","owner":{"@id":"q"},"tags":["t1",{"@id":"t"}]}
            {"@id":"q","@entity":"Robot","mark":"q","made":1,"boss":{"@id":"q"}}
            {"@id":"t","@entity":"Tag","mark":"t","key":"t2"}
            {"@id":"t1 again","@entity":"Tag","mark":"x","key":"t3","on":["i"]}

            """)
        // The tag that has only its key lacks a mark.
        #expect(good.status == 1 && good.error.contains("mark"), "\(good.error)")
        #expect(try attempt("{\"@id\":\"p\",\"@entity\":\"Person\",\"mark\":\"p\",\"boss\":\"p\"}\n{\"@entity\":\"Left\",\"@id\":\"l\",\"mark\":\"l\",\"right\":\"r\"}\n{\"mark\":\"r\",\"@id\":\"r\",\"@entity\":\"Right\"}").status == 0)
        #expect(try contents("c.heartwood")["l"]?["right"] == "r" && contents("c.heartwood")["p"]?["boss"] == "p")
        let before = try contents("c.heartwood")
        for (text, says) in [
            ("{\"@id\":\"z\",\"@entity\":\"Left\",\"mark\":\"z\",\"right\":\"nobody\"}", "line 1: no line of this file has the label \"nobody\""),
            ("{\"@id\":\"z\",\"@entity\":\"Person\",\"mark\":\"z\",\"boss\":\"later\"}", "does not say of which entity it is"),
            ("{\"@id\":\"z\",\"@entity\":\"Node\",\"mark\":\"z\",\"parent\":{\"@id\":\"z\",\"text\":1}}", "names objects as"),
            ("{\"@id\":\"z\",\"@entity\":\"Nobody\",\"mark\":\"z\"}", "there is no entity \"Nobody\""),
            ("{\"@id\":\"z\",\"@entity\":\"Being\",\"mark\":\"z\"}", "is abstract"),
            ("{\"@id\":\"z\",\"mark\":\"z\"}", "does not say of which entity"),
            ("{\"@entity\":\"Node\",\"mark\":\"z\"}", "has no \"@id\""),
            ("{\"@id\":1,\"@entity\":\"Node\"}", "@id takes a text"),
            ("{\"@id\":\"z\",\"@entity\":\"Node\",\"mark\":\"z\"}\n{\"@id\":\"z\",\"@entity\":\"Person\",\"mark\":\"z\"}", "is of the entity Node"),
            ("{\"@id\":\"y\",\"@entity\":\"Right\",\"mark\":\"y\",\"left\":{\"@id\":\"y\"}}", "leads to Left"),
        ] {
            let result = try attempt(text)
            #expect(result.status == 1 && result.error.contains(says), "\(result.error)")
            var after = try contents("c.heartwood")
            // The one whose line came first, in a batch of its own.
            after["z"] = nil
            #expect(after == before, "\(text)")
        }
        #expect(try attempt("", "--key", "mark").status == 2)
    }

    @Test
    func `A line with thousands of members is imported as it was exported`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = ProcessInfo.processInfo.environment["HEARTWOOD_IMPORT_MEMBERS"].flatMap { Int($0) } ?? 3000
        let members = (0..<count).map { "{\"@id\":\"member \($0)\"}" }.joined(separator: ",")
        let lines = "{\"@id\":\"all\",\"@entity\":\"Node\",\"mark\":\"all\",\"subnodes\":[\(members)]}\n"
            + (0..<count).map { "{\"@id\":\"member \($0)\",\"@entity\":\"Node\",\"mark\":\"m\($0)\"}\n" }.joined()
        let first = try ToolProcess.run("import", path("a.heartwood"), "--model", path("M.xcdatamodel"), "-", input: lines)
        #expect(first.status == 0, "\(first.error)")
        let exported = try ToolProcess.run("export", path("a.heartwood"), "--all").output
        let second = try ToolProcess.run("import", path("b.heartwood"), "--model", path("M.xcdatamodel"), "-", input: exported)
        #expect(second.status == 0, "\(second.error)")
        #expect(try contents("b.heartwood")["all"]?["subnodes"] == (0..<count).map { "m\($0)" }.joined(separator: " "))
    }
}
