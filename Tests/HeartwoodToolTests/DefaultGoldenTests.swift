import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The golden file of catalog version 2, whose layouts state defaults: Tests/Goldens/v1-catalog2 beside the files of format version 1. It stays
/// as it is. A missing file is made by
///
///     HEARTWOOD_MAKE_DEFAULT_GOLDEN=1 swift test --filter DefaultGolden
@Suite struct DefaultGoldenTests {
    private static let folder = ToolProcess.root.appendingPathComponent("Tests/Goldens/v1-catalog2")
    private static let store = folder.appendingPathComponent("defaults.golden"), export = folder.appendingPathComponent("defaults.Thing.jsonl")

    private static var added: [(name: String, type: NSAttributeType, initial: Any)] { [
        ("bool", .booleanAttributeType, true), ("int16", .integer16AttributeType, -5), ("int32", .integer32AttributeType, 70_000),
        ("int64", .integer64AttributeType, 5_000_000_000), ("float", .floatAttributeType, Float(1.5)), ("double", .doubleAttributeType, -2.25),
        ("date", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 86_400)),
        ("uuid", .UUIDAttributeType, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
        ("decimal", .decimalAttributeType, NSDecimalNumber(string: "12345678901234567890.5")), ("text", .stringAttributeType, "zwölf 🪵"),
        ("empty", .stringAttributeType, ""), ("data", .binaryDataAttributeType, Data([0, 1, 255])),
        ("uri", .URIAttributeType, URL(string: "https://example.org/a")!),
    ] }

    /// - Parameter number: the version, from 1. The first has a number and a title, the second an attribute of each type more, in the third the
    ///   title is required.
    private static func model(_ number: Int) -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool, _ initial: Any?) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional, attribute.defaultValue) = (name, type, isOptional, initial)
            return attribute
        }
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = [
            attribute("number", .integer64AttributeType, isOptional: true, nil),
            attribute("title", .stringAttributeType, isOptional: number < 3, number < 3 ? nil : "untitled"),
        ] + (number == 1 ? [] : added.map { attribute($0.name, $0.type, isOptional: false, $0.initial) })
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private static func change(_ url: URL, _ number: Int, _ change: (NSManagedObjectContext, [NSManagedObject]) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(number))
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        try change(context, context.fetch(request))
        try context.save()
        try coordinator.remove(store)
    }

    private static func add(_ number: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        thing.setValue(number, forKey: "number")
        return thing
    }

    private static func make(at url: URL) throws {
        try change(url, 1) { context, _ in for number in 0..<4 { add(number, context).setValue(number == 0 ? "first" : nil, forKey: "title") } }
        try change(url, 2) { context, things in
            things[1].setValue("changed", forKey: "text")
            things[2].setValue(20, forKey: "number")
            add(5, context).setValue(7, forKey: "int16")
        }
        try change(url, 3) { context, things in things[1].setValue(false, forKey: "bool") }
    }

    @Test
    func `The golden file of a catalog with defaults exports its original content, by both readers`() throws {
        if ProcessInfo.processInfo.environment["HEARTWOOD_MAKE_DEFAULT_GOLDEN"] != nil, !FileManager.default.fileExists(atPath: Self.store.path) {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Self.make(at: Self.store)
            try ToolProcess.runWords(["export", Self.store.path, "--entity", "Thing"]).output
                .write(to: Self.export, atomically: true, encoding: .utf8)
        }
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        try FileManager.default.copyItem(atPath: Self.store.path, toPath: path)
        let wanted = try String(contentsOf: Self.export, encoding: .utf8)
        #expect(wanted.contains("zwölf") && wanted.contains("untitled") && wanted.split(separator: "\n").count == 5)
        let export = try ToolProcess.runWords(["export", path, "--entity", "Thing"])
        #expect(export.status == 0 && export.output == wanted, "\(export.error)\(export.output)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(contentsOf: Self.store))
        #expect(try StoreInspection.inspect(path: path).tables.first?.defaults.contains("title") == true)
        let inspected = try ToolProcess.runWords(["inspect", path])
        #expect(inspected.output.contains("DEFAULTS OF OLDER ROWS\nThing: "), "\(inspected.output)")
        #expect(try ToolProcess.runWords(["verify", path]).status == 0)
        guard FormatReader.python != nil else { return }
        let second = try FormatReader.run([path, "--entity", "Thing"])
        #expect(second.output == wanted, "\(second.error)\(second.output)")
        let check = try FormatReader.run([path, "--check"])
        #expect(check.status == 0, "\(check.output)\(check.error)")
    }

    @Test
    func `A file that today's code makes exports what the golden exports, also when it is compacted or salvaged`() throws {
        let path = ToolProcess.temporaryPath(), salvaged = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path, salvaged) }
        try Self.make(at: URL(fileURLWithPath: path))
        func content(_ lines: String) -> [String] {
            lines.replacing(#/x-coredata://[0-9A-F-]+//#, with: "STORE/").split(separator: "\n").map(String.init)
        }
        let wanted = content(try String(contentsOf: Self.export, encoding: .utf8))
        #expect(try content(ToolProcess.runWords(["export", path, "--entity", "Thing"]).output) == wanted)
        #expect(try ToolProcess.runWords(["salvage", path, "-o", salvaged]).status == 0)
        #expect(try content(ToolProcess.runWords(["export", salvaged, "--entity", "Thing"]).output) == wanted)
        #expect(try ToolProcess.runWords(["compact", path]).status == 0)
        #expect(try content(ToolProcess.runWords(["export", path, "--entity", "Thing"]).output) == wanted)
    }
}
