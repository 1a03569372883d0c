import Foundation
import HeartwoodFileReading
import Testing

@testable import Heartwood

/// A class that archives itself.
final class Colour: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let red: Int

    init(red: Int) {
        self.red = red
    }

    init?(coder: NSCoder) {
        red = coder.decodeInteger(forKey: "red")
    }

    func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
}

/// A class that does not archive itself.
final class Opaque: NSObject {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// Turns an `Opaque` into bytes; an empty one into nil.
final class OpaqueTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let opaque = value as? Opaque, !opaque.text.isEmpty else { return nil }
        return Data(opaque.text.utf8.reversed())
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { Opaque(String(decoding: $0.reversed(), as: UTF8.self)) }
    }
}

final class ColourTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [Colour.self] }
}

@Suite struct TransformerTests {
    private static func stack(_ kind: StoreKind, _ transformer: String?, className: String? = nil) throws -> TestStack {
        ValueTransformer.setValueTransformer(OpaqueTransformer(), forName: NSValueTransformerName("Opaque"))
        ValueTransformer.setValueTransformer(ColourTransformer(), forName: NSValueTransformerName("Colour"))
        let value = TestStack.attribute("value", .transformableAttributeType)
        value.valueTransformerName = transformer
        if let className { value.attributeValueClassName = className }
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = [value, TestStack.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return try TestStack(kind, model: model)
    }

    private static func read(_ stack: TestStack) throws -> Any? {
        try stack.fetch("Thing", in: stack.anew()).first?.value(forKey: "value")
    }

    @Test(arguments: StoreKind.allCases)
    func `A transformer makes the bytes and the value`(kind: StoreKind) throws {
        let stack = try Self.stack(kind, "Opaque")
        let thing = stack.insert("Thing", ["value": Opaque("log"), "name": "a"])
        try stack.context.save()
        #expect((thing.value(forKey: "value") as? Opaque)?.text == "log")
        #expect((try Self.read(stack) as? Opaque)?.text == "log")
        thing.setValue("b", forKey: "name")
        try stack.context.save()
        #expect((try Self.read(stack) as? Opaque)?.text == "log", "another attribute's change does not ask it")
        let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
        request.resultType = .dictionaryResultType
        #expect((try stack.anew().fetch(request).first?["value"] as? Opaque)?.text == "log")
        thing.setValue(nil, forKey: "value")
        try stack.context.save()
        #expect(try Self.read(stack) == nil)
        guard StoreKind.batching.contains(kind) else { return }
        try stack.insertBatch([["value": Opaque("batch")]], into: "Thing")
        _ = try stack.updateBatch("Thing", "name == 'b'", ["value": Opaque("update")])
        let values = try stack.fetch("Thing", in: stack.anew()).compactMap { ($0.value(forKey: "value") as? Opaque)?.text }
        #expect(values.sorted() == ["batch", "update"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A transformer that unarchives is used in reverse`(kind: StoreKind) throws {
        let stack = try Self.stack(kind, "Colour")
        let thing = stack.insert("Thing", ["value": Colour(red: 7)])
        try stack.context.save()
        #expect((try Self.read(stack) as? Colour)?.red == 7)
        thing.setValue("no colour", forKey: "value")
        let error = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(error?.code == NSManagedObjectValidationError)
    }

    @Test(arguments: StoreKind.allCases)
    func `A missing transformer is an error of the save, and reads give nil`(kind: StoreKind) throws {
        // Names belong to the process, and kinds are tested in parallel.
        let text = "Missing for \(kind)", name = NSValueTransformerName(text)
        let stack = try Self.stack(kind, text)
        let thing = stack.insert("Thing", ["value": Opaque("x")])
        let missing = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(missing?.code == NSManagedObjectValidationError && missing?.localizedDescription.contains("\"\(text)\"") == true)
        #expect(missing?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === thing && stack.context.hasChanges)
        ValueTransformer.setValueTransformer(OpaqueTransformer(), forName: name)
        try stack.context.save()
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(try Self.read(stack) == nil)
    }

    @Test(arguments: StoreKind.allCases, [nil, "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName"])
    func `Without a transformer, Foundation's objects are archived`(kind: StoreKind, name: String?) throws {
        let stack = try Self.stack(kind, name)
        let id = UUID()
        let value: NSDictionary = [
            "list": [1, 2.5, "x"], "set": NSSet(array: ["a"]), "ordered": NSOrderedSet(array: [3, 1]), "data": Data([9]),
            "date": Date(timeIntervalSinceReferenceDate: 4), "url": URL(string: "https://example.org/x")!, "id": id, "null": NSNull(),
        ]
        stack.insert("Thing", ["value": value])
        try stack.context.save()
        let read = try #require(try Self.read(stack) as? NSDictionary)
        #expect(read["list"] as? NSArray == value["list"] as? NSArray && (read["list"] as? [Any])?[1] as? Double == 2.5)
        #expect(read["set"] as? NSSet == NSSet(array: ["a"]) && (read["ordered"] as? NSOrderedSet)?.array as? [Int] == [3, 1])
        #expect(read["data"] as? Data == Data([9]) && read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 4))
        #expect(read["url"] as? URL == URL(string: "https://example.org/x") && read["id"] as? UUID == id && read["null"] is NSNull)
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that cannot be archived is an error and ends no process`(kind: StoreKind) throws {
        let stack = try Self.stack(kind, nil)
        let thing = stack.insert("Thing", ["value": "fine"])
        try stack.context.save()
        #expect(try Self.read(stack) as? String == "fine")
        var deep = NSArray()
        for _ in 0..<300 { deep = NSArray(array: [deep]) }
        let bad: [Any] = [Opaque("x"), [Opaque("x")], ["k": NSArray(array: [Colour(red: 1)])], NSDecimalNumber(value: 3), deep, UInt64.max]
        for value in bad {
            thing.setValue(value, forKey: "value")
            // Not with an error expectation, which would format the deep value for seconds.
            do {
                try stack.context.save()
                Issue.record("it was saved")
            } catch let error as NSError {
                let isRefused = error.code == NSManagedObjectValidationError && error.localizedDescription.contains("Thing.value")
                #expect(isRefused)
            }
        }
        stack.context.rollback()
        let stated = try Self.stack(kind, nil, className: NSStringFromClass(Colour.self))
        stated.insert("Thing", ["value": Colour(red: 3)])
        try stated.context.save()
        #expect((try Self.read(stated) as? Colour)?.red == 3, "the class that the model names is archived")
    }

    /// Off Apple's platforms Foundation's unarchiver would end the process for these.
    @Test
    func `Archives of other classes are not read`() throws {
        let colour = try NSKeyedArchiver.archivedData(withRootObject: Colour(red: 1), requiringSecureCoding: true)
        #expect(ObjectArchive.object(colour) == nil && ObjectArchive.object(colour, allowing: [Opaque.self]) == nil)
        #expect(ObjectArchive.object(Data()) == nil && ObjectArchive.object(Data("bplist00".utf8)) == nil)
        #expect((ObjectArchive.object(colour, allowing: [Colour.self]) as? Colour)?.red == 1)
        let list = try ObjectArchive.data(NSArray(array: ["a", NSArray(array: [1])]))
        #expect(ObjectArchive.object(list) as? NSArray == NSArray(array: ["a", NSArray(array: [1])]))
        for cut in stride(from: 0, to: list.count, by: 7) { _ = ObjectArchive.object(list.prefix(cut)) }
        for index in 0..<list.count {
            var damaged = list
            damaged[index] ^= 0x55
            _ = ObjectArchive.object(damaged)
        }
    }

    @Test
    func `Transformers are found by name`() {
        let name = NSValueTransformerName("found-\(UUID().uuidString)")
        #expect(ValueTransformer(forName: name) == nil)
        let transformer = OpaqueTransformer()
        ValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(ValueTransformer(forName: name) === transformer && ValueTransformer.valueTransformerNames().contains(name))
        #expect(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName) is NSSecureUnarchiveFromDataTransformer)
    }

    @Test
    func `Archived texts may look like an archive's own`() throws {
        let attribute = TestStack.attribute("value", .transformableAttributeType)
        for value in ["$null" as NSString, ["$null", "a"] as NSArray, ["$null": "$null", "$class": 2] as NSDictionary] as [NSObject] {
            let read = attribute.value(fromTransformedData: try #require(try attribute.transformedData(for: value)))
            #expect(read as? NSObject == value)
        }
    }

    @Test
    func `An archive may have as many parts as its length allows`() throws {
        var writer = ArchiveWriter()
        let date = writer.object("NSDate", [("NS.time", .real(5))])
        let root = writer.array((0..<300_000).map { _ in date })
        let list = try #require(try KeyedArchive(writer.finish(root: root), path: "list").foundationRoot() as? NSArray)
        #expect(list.count == 300_000 && list[1] as? Date == Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test(arguments: StoreKind.allCases)
    func `An element of a composite has its transformer`(kind: StoreKind) throws {
        ValueTransformer.setValueTransformer(OpaqueTransformer(), forName: NSValueTransformerName("Opaque"))
        let element = TestStack.attribute("part", .transformableAttributeType)
        element.valueTransformerName = "Opaque"
        let composite = NSCompositeAttributeDescription()
        composite.name = "whole"
        composite.elements = [element]
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = [composite]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try TestStack(kind, model: model)
        stack.insert("Thing", ["whole": ["part": Opaque("ab")]])
        try stack.context.save()
        let read = try #require(try stack.fetch("Thing", in: stack.anew()).first?.value(forKey: "whole") as? [String: Any])
        #expect((read["part"] as? Opaque)?.text == "ab")
    }
}
