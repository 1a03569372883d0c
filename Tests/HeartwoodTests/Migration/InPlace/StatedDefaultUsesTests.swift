import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The stack reads rows that are older than a layout's default: in composites and transformables, through undo and refresh, from other stores and
/// from the past.
struct StatedDefaultUsesTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25), id = UUID()

    private static func model(_ attributes: [NSPropertyDescription]) -> NSManagedObjectModel {
        let thing = NSEntityDescription(), model = NSManagedObjectModel()
        thing.name = "Thing"
        thing.properties = [TestStack.attribute("n", .integer64AttributeType)] + attributes
        model.entities = [thing]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType, _ initial: Any?) -> NSAttributeDescription {
        let attribute = TestStack.attribute(name, type)
        attribute.isOptional = false
        attribute.defaultValue = initial
        return attribute
    }

    private static var first: NSManagedObjectModel { model([]) }

    private static var second: NSManagedObjectModel {
        let place = NSCompositeAttributeDescription(), tags = attribute("tags", .transformableAttributeType, ["a", "b"] as NSArray)
        place.name = "place"
        place.elements = [attribute("x", .doubleAttributeType, 1.5), attribute("label", .stringAttributeType, "home")]
        tags.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        return model([
            attribute("text", .stringAttributeType, "tëxt"), attribute("count", .integer32AttributeType, 5), attribute("flag", .booleanAttributeType, true),
            attribute("when", .dateAttributeType, date), attribute("price", .decimalAttributeType, NSDecimalNumber(string: "1.50")),
            attribute("bytes", .binaryDataAttributeType, Data([0, 1, 255])), attribute("key", .UUIDAttributeType, id), place, tags,
        ])
    }

    private static let paths = ["text", "count", "flag", "when", "price", "bytes", "key", "place.x", "place.label", "tags"]

    /// The values of each object, as one line.
    private static func lines(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
        return try context.fetch(request).map { thing in
            paths.map { path in
                switch thing.value(forKeyPath: path) {
                case let data as Data: "\(path) \(Array(data))"
                case let date as Date: "\(path) \(date.timeIntervalSinceReferenceDate)"
                case let array as NSArray: "\(path) \(array.map { "\($0)" })"
                case let value?: "\(path) \(value)"
                case nil: "\(path) nil"
                }
            }.joined(separator: ", ")
        }
    }

    /// Three things of the first version, and one that the second version made.
    private static func chain() throws -> Chain {
        let chain = try Chain()
        try chain.with(first) { context in for number in 0..<3 { context.make("Thing", ["n": number]) } }
        try chain.with(second) { $0.make("Thing", ["n": 3]) }
        return chain
    }

    /// The values of a new object, as one line.
    private static var wanted: String {
        "text tëxt, count 5, flag true, when 700000000.25, price 1.5, bytes [0, 1, 255], key \(id.uuidString), place.x 1.5, place.label home, tags [\"a\", \"b\"]"
    }

    @Test
    func `is what a new object has, in composites and transformables too`() throws {
        let chain = try Self.chain()
        let lines = try chain.with(Self.second) { try Self.lines($0) }
        #expect(Set(lines).count == 1 && lines.count == 4, "\(lines)")
        for part in Self.wanted.split(separator: ", ", maxSplits: 2) where part.hasPrefix("text") || part.hasPrefix("count") {
            #expect(lines[0].contains(part))
        }
        #expect(lines[0].contains("place.x 1.5, place.label home, tags [\"a\", \"b\"]"))
        try chain.with(Self.second) { (context: NSManagedObjectContext) throws in
            for (format, count) in [
                ("place.label == 'home'", 4), ("place.x > 1", 4), ("place.x > 2", 0), ("text ENDSWITH[cd] 'EXT'", 4), ("flag == YES", 4), ("count IN {4, 5}", 4),
            ] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(format: format)
                let found = try context.count(for: request)
                #expect(found == count, "\(format)")
            }
        }
    }

    @Test
    func `is changed in one object and one element alone, and comes back by undo, rollback and refresh`() throws {
        let chain = try Self.chain()
        try chain.with(Self.second) { context in
            context.undoManager = UndoManager()
            context.undoManager?.groupsByEvent = false
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).sorted { $0.key.rawValue < $1.key.rawValue }
            context.undoManager?.beginUndoGrouping()
            things[0].setValue("new", forKey: "text")
            things[0].setValue("office", forKeyPath: "place.label")
            context.processPendingChanges()
            context.undoManager?.endUndoGrouping()
            #expect(things[0].committedValues(forKeys: ["text"])["text"] as? String == "tëxt")
            context.undo()
            #expect(things[0].value(forKey: "text") as? String == "tëxt" && things[0].value(forKeyPath: "place.label") as? String == "home")
            things[1].setValue("rolled", forKey: "text")
            context.rollback()
            #expect(things[1].value(forKey: "text") as? String == "tëxt")
            things[2].setValue(6, forKey: "count")
            context.refresh(things[2], mergeChanges: false)
            #expect(things[2].value(forKey: "count") as? Int == 5)
            things[0].setValue("office", forKeyPath: "place.label")
            things[1].setValue("", forKey: "text")
            try context.save()
        }
        let lines = try chain.with(Self.second) { try Self.lines($0) }
        #expect(lines[0].contains("text tëxt") && lines[0].contains("place.x 1.5, place.label office"))
        #expect(lines[1].contains("text , count 5") && lines[2] == lines[3])
    }

    @Test
    func `goes along to other kinds of stores, and to Core Data's file and back`() throws {
        let chain = try Self.chain(), lines = try chain.with(Self.second) { try Self.lines($0) }
        var at = chain.url
        for (name, type) in [("a.binary", NSBinaryStoreType), ("b.sqlite", NSSQLiteStoreType), ("c.heartwood", NSRecordLogStoreType)] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.second), url = chain.scratch[name]
            let from = [NSRecordLogStoreType, NSBinaryStoreType, NSSQLiteStoreType][["a.binary", "b.sqlite", "c.heartwood"].firstIndex(of: name) ?? 0]
            let store = try coordinator.addPersistentStore(ofType: from, configurationName: nil, at: at)
            try coordinator.migratePersistentStore(store, to: url, withType: type)
            #expect(try Self.lines(coordinator.newContext()) == lines, "\(name)")
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            at = url
        }
    }

    @Test
    func `is seen in the past from the migration's commit on, and not before`() throws {
        let chain = try Chain()
        try chain.with(Self.first) { context in for number in 0..<3 { context.make("Thing", ["n": number]) } }
        func commit() throws -> UInt64 { try StoreInspection.inspect(path: chain.url.path).sequence }
        let before = try commit()
        let lines = try chain.with(Self.second) { try Self.lines($0) }
        let migrated = try commit()
        try chain.with(Self.second) { context in
            for thing in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) { thing.setValue("later", forKey: "text") }
        }
        let old = try chain.with(Self.first, options: [NSRecordLogAsOfOption: before]) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).compactMap { $0.value(forKey: "n") as? Int }.sorted()
        }
        #expect(old == [0, 1, 2])
        let seen = try chain.with(Self.second, options: [NSRecordLogAsOfOption: migrated]) { try Self.lines($0) }
        #expect(seen == lines)
        #expect(throws: (any Error).self) { try chain.with(Self.second, options: [NSRecordLogAsOfOption: before]) { try Self.lines($0) } }
    }
}
