import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The objects of real stores, as a script of another author reads them.
@Suite(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)")) struct SharedSQLiteStoreTests {
    /// The folder, the store's file, and the expected lines.
    private static func stores() throws -> [(folder: String, file: URL, lines: [[String: Any]])] {
        try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted().compactMap { folder in
            let place = SharedStores.folder.appendingPathComponent(folder)
            guard FileManager.default.fileExists(atPath: place.appendingPathComponent("EXPECTED.jsonl").path) else { return nil }
            let lines = try SharedStores.expected(folder)
            return (folder, place.appendingPathComponent(try #require(lines.first?["store"] as? String)), lines)
        }
    }

    private static func open(_ folder: String, _ file: URL) throws -> (NSManagedObjectContext, NSPersistentStore) {
        let source = SharedStores.files(".xcdatamodeld", of: folder).first ?? SharedStores.files(".xcdatamodel", of: folder).first
        let found = try CoreDataStoreModel.find(storeAt: file.path, given: source)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    @Test("Each store has the objects, values and relationships that are expected of it") func storesHaveTheirObjects() throws {
        var objects = 0
        for (folder, file, lines) in try Self.stores() {
            let before = try Self.files(beside: file)
            let (context, store) = try Self.open(folder, file)
            try context.performAndWait {
                #expect(store.identifier == lines[0]["uuid"] as? String, "\(folder)")
                var counts: [String: Int] = [:]
                for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                    request.includesSubentities = false
                    let count = try context.count(for: request)
                    #expect(try context.fetch(request).count == count, "\(folder) \(entity.name ?? "")")
                    if count > 0 { counts[entity.name ?? ""] = count }
                }
                let wanted = (lines[0]["counts"] as? [String: Int] ?? [:]).filter { $0.value > 0 && !$0.key.hasPrefix("TRANSACTION") && $0.key != "CHANGE" }
                #expect(counts == wanted, "\(folder)")
                for line in lines.dropFirst() {
                    objects += 1
                    try Self.check(line, folder, store, context)
                }
            }
            #expect(try Self.files(beside: file) == before, "\(folder): reading leaves the directory as it was")
        }
        #expect(objects > 12_000)
    }

    private static func files(beside file: URL) throws -> [String: Date?] {
        let folder = file.deletingLastPathComponent()
        return try Dictionary(uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(name).path)
            return (name, attributes[.modificationDate] as? Date)
        })
    }

    // MARK: One object

    private static func check(_ line: [String: Any], _ folder: String, _ store: NSPersistentStore, _ context: NSManagedObjectContext) throws {
        let entity = try #require(line["entity"] as? String), key = try #require(line["pk"] as? Int)
        let uri = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/\(entity)/p\(key)"))
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri), "\(folder) \(uri)")
        #expect(id.uriRepresentation() == uri)
        let object = try context.existingObject(with: id)
        #expect(object.entity.name == entity)
        for (name, value) in line["attributes"] as? [String: Any] ?? [:] {
            let expected = value is NSNull ? nil : value
            let problem = try difference(object, name, expected, store, context)
            if let problem { Issue.record("\(folder) \(entity)/\(key).\(name): \(problem)") }
        }
        for (name, value) in line["relationships"] as? [String: Any] ?? [:] {
            let expected = value as? [String] ?? []
            let found = try members(object, name)
            let isOrdered = object.entity.relationshipsByName[name]?.isOrdered ?? false
            let isSame = isOrdered ? found == expected : Set(found) == Set(expected) && found.count == expected.count
            if !isSame { Issue.record("\(folder) \(entity)/\(key).\(name): found \(found.prefix(10)), expected \(expected.prefix(10))") }
        }
    }

    private static func members(_ object: NSManagedObject, _ name: String) throws -> [String] {
        let value = object.value(forKey: name)
        let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
        return members.compactMap { ($0 as? NSManagedObject)?.objectID }.map { "\($0.entity.name ?? "")/\($0.key.row)" }
    }

    /// - Returns: nil if the value is the expected one.
    private static func difference(
        _ object: NSManagedObject, _ name: String, _ expected: Any?, _ store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> String? {
        let index = try #require(object.entity.propertyIndexByName[name])
        let kind = object.runtime.properties[index].kind
        let found: Any?
        if kind == .transformable {
            // The transformer's bytes, not its object.
            let row = try #require(try context.view(of: store).row(object.objectID.key))
            found = object.runtime.access(index, in: row).map { Data(row.bytes($0)).base64EncodedString() }
        } else if name.contains(".") {
            let parts = name.split(separator: ".").map(String.init)
            found = parts.dropFirst().reduce(object.value(forKey: parts[0])) { ($0 as? [String: Any])?[$1] }
        } else {
            found = object.value(forKey: name)
        }
        return isEqual(found, expected, kind) ? nil : "found \(String(describing: found)), expected \(String(describing: expected))"
    }

    private static func isEqual(_ found: Any?, _ expected: Any?, _ kind: PropertyKind) -> Bool {
        guard let found, let expected else { return (found == nil) == (expected == nil) }
        switch found {
        case let date as Date: return (expected as? String).flatMap(seconds).map { abs($0 - date.timeIntervalSinceReferenceDate) < 2e-6 } ?? false
        case let data as Data: return data.base64EncodedString() == expected as? String
        case let uuid as UUID: return uuid.uuidString == expected as? String
        case let url as URL: return url.absoluteString == expected as? String
        case let text as String: return text == expected as? String
        case let decimal as NSDecimalNumber where kind == .decimal:
            return (expected as? String).flatMap { Decimal(string: $0) } == decimal.decimalValue
        case let number as NSNumber where kind == .bool: return number.boolValue == (expected as? Bool ?? ((expected as? Int) == 1))
        case let number as NSNumber where kind == .float: return number.floatValue == (expected as? NSNumber)?.floatValue
        // The parser of the expected text may be wrong by one unit in the last place.
        case let number as NSNumber: return (expected as? NSNumber).map { abs($0.doubleValue - number.doubleValue) <= number.doubleValue.ulp } ?? false
        default: return false
        }
    }

    /// Seconds since 2001 of a date with microseconds, in UTC.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard parts.count == 7, text.hasSuffix("Z") else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let date = calendar.date(from: DateComponents(
            year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4], second: parts[5]))
        return date.map { $0.timeIntervalSinceReferenceDate + Double(parts[6]) / 1e6 }
    }
}
