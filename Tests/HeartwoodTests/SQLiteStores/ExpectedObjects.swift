import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// Compares the objects of an SQLite store with lines of JSON that state them.
struct ExpectedObjects {
    let name: String
    let file: URL
    /// The first tells of the store, each other one of an object.
    let lines: [[String: Any]]
    /// Whether the objects are looked for in a record log that was made of the store.
    var isConverted = false

    init(name: String, file: URL, lines: [[String: Any]]) {
        (self.name, self.file, self.lines) = (name, file, lines)
    }

    init(_ made: CoreDataStoreFile) throws {
        self.init(name: made.name, file: made.store, lines: [try made.summary()] + (try made.objects()))
    }

    /// - Parameters:
    ///   - source: the model's, for a store without a cache.
    ///   - model: a model to open the store with; nil for the one that is found.
    func open(source: URL? = nil, model: NSManagedObjectModel? = nil) throws -> (NSManagedObjectContext, NSPersistentStore) {
        let model = try model ?? CoreDataStoreModel.find(storeAt: file.path, given: source).model
        let configurations = model.configurations.filter { $0 != NSManagedObjectModel.defaultConfigurationName }
        let names = Set((lines.first?["entityNumbers"] as? [String: Int] ?? [:]).filter { $0.value < 16000 }.keys)
        let configuration = configurations.first { Set((model.entities(forConfigurationName: $0) ?? []).compactMap(\.name)) == names }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let isPart = names.count < model.entities.count
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: isPart ? configuration : nil, at: file)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    /// - Returns: the number of objects.
    func check(source: URL? = nil, model: NSManagedObjectModel? = nil) throws -> Int {
        let before = try files()
        let (context, store) = try open(source: source, model: model)
        try check(store, context)
        #expect(try files() == before, "\(name): reading leaves the directory as it was")
        return lines.count - 1
    }

    func check(_ store: NSPersistentStore, _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            #expect(store.identifier == lines[0]["uuid"] as? String, "\(name)")
            var counts: [String: Int] = [:]
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities(forConfigurationName: store.configurationName) ?? []
            where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                let count = try context.count(for: request)
                #expect(try context.fetch(request).count == count, "\(name) \(entity.name ?? "")")
                if count > 0 { counts[entity.name ?? ""] = count }
            }
            let history: Set = ["CHANGE", "TRANSACTION", "TRANSACTIONSTRING"]
            let wanted = (lines[0]["counts"] as? [String: Int] ?? [:]).filter { $0.value > 0 && !history.contains($0.key) }
            #expect(counts == wanted, "\(name)")
            for line in lines.dropFirst() { try check(line, store, context) }
        }
    }

    /// The files beside the store, with the times of their last changes.
    func files() throws -> [String: Date?] {
        let folder = file.deletingLastPathComponent()
        return try Dictionary(uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(name).path)
            return (name, attributes[.modificationDate] as? Date)
        })
    }

    // MARK: One object

    private func check(_ line: [String: Any], _ store: NSPersistentStore, _ context: NSManagedObjectContext) throws {
        let entity = try #require(line["entity"] as? String), key = try #require(line["pk"] as? Int)
        let uri = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/\(entity)/p\(key)"))
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri), "\(name) \(uri)")
        #expect(id.uriRepresentation() == uri)
        let object = try context.existingObject(with: id)
        #expect(object.entity.name == entity)
        for (property, value) in line["attributes"] as? [String: Any] ?? [:] {
            let expected = value is NSNull ? nil : value
            let problem = try difference(object, property, expected, store, context)
            if let problem { Issue.record("\(name) \(entity)/\(key).\(property): \(problem)") }
        }
        for (property, value) in line["relationships"] as? [String: Any] ?? [:] {
            let expected = value as? [String] ?? []
            let found = try members(object, property, context)
            let isOrdered = object.entity.relationshipsByName[property]?.isOrdered ?? false
            let isSame = isOrdered ? found == expected : Set(found) == Set(expected) && found.count == expected.count
            if !isSame { Issue.record("\(name) \(entity)/\(key).\(property): found \(found.prefix(10)), expected \(expected.prefix(10))") }
        }
    }

    /// A reference that leads nowhere is a fault that cannot be fulfilled, as in Core Data; the lines leave it out.
    private func members(_ object: NSManagedObject, _ name: String, _ context: NSManagedObjectContext) throws -> [String] {
        let value = object.value(forKey: name)
        let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
        let ids = members.compactMap { ($0 as? NSManagedObject)?.objectID }
        return ids.filter { (try? context.existingObject(with: $0)) != nil }.map { "\($0.entity.name ?? "")/\($0.key.row)" }
    }

    /// - Returns: nil if the value is the expected one.
    private func difference(
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
        if let missing = (expected as? [String: Any])?["missing"] as? String {
            // A conversion has reported the missing file.
            if isConverted { return found == nil ? nil : "a value without its file" }
            defer { context.readingFailure = nil }
            guard let failure = context.readingFailure as NSError?, failure.code == CocoaError.Code.fileReadNoSuchFile.rawValue else {
                return "the missing file \(missing) is no error"
            }
            return failure.localizedDescription.contains(missing) ? nil : failure.localizedDescription
        }
        return Self.isEqual(found, expected, kind) ? nil : "found \(String(describing: found)), expected \(String(describing: expected))"
    }

    static func isEqual(_ found: Any?, _ expected: Any?, _ kind: PropertyKind) -> Bool {
        // Foundation has no URL without text.
        guard let found, let expected else { return (found == nil) == (expected == nil || kind == .uri && expected as? String == "") }
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
        // The parser of the expected text may be wrong by some units in the last place.
        case let number as NSNumber:
            return (expected as? NSNumber).map { abs($0.doubleValue - number.doubleValue) <= 4 * number.doubleValue.ulp } ?? false
        default: return false
        }
    }

    /// Seconds since 2001 of a date with microseconds, in UTC and in the Gregorian calendar also where it was not in use yet. A date beyond the
    /// years of four digits is stated as seconds.
    static func seconds(_ text: String) -> Double? {
        if text.hasSuffix(" s") { return Double(text.dropLast(2)) }
        let parts = text.split { !$0.isNumber }.compactMap { Int($0) }
        guard parts.count == 7, text.hasSuffix("Z") else { return nil }
        // Years begin in March, so that a leap day is the last of its year.
        let year = parts[1] > 2 ? parts[0] : parts[0] - 1, month = (parts[1] + 9) % 12
        let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + parts[2] - 1 - 730_791
        return Double(days * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]) + Double(parts[6]) / 1e6
    }
}
