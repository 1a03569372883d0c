import Foundation
import Testing

@testable import Heartwood

/// A zoo in an SQLite file, and the same objects in a record log: one of them is the other's measure.
final class ZooTwins {
    let zoo: Zoo
    let file: NSManagedObjectContext
    let log: NSManagedObjectContext
    private var names: [NSManagedObjectID: String] = [:]
    private var objects: [NSManagedObjectContext: [String: NSManagedObjectID]] = [:]
    private let stack: TestStack

    /// References that lead nowhere are not in a record log, so both twins are without them.
    private static let sound = "UPDATE ZKEEPER SET ZBEST = NULL, Z1_BEST = NULL WHERE Z_PK = 7; DELETE FROM Z_1HELPERS WHERE Z_1HELPED = 88;"
    private static let entities = ["Note", "Keeper", "Animal", "Cat", "Dog"]

    init(in folder: URL, _ sql: String = "") throws {
        zoo = try Zoo(in: folder, Self.sound + sql)
        file = try zoo.context()
        stack = try TestStack(.inMemory, model: zoo.model)
        log = stack.context
        try copy()
    }

    private func copy() throws {
        var copies: [NSManagedObjectID: NSManagedObject] = [:], originals: [NSManagedObject] = []
        for entity in Self.entities {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.includesSubentities = false
            for original in try file.fetch(request) {
                let copy = NSEntityDescription.insertNewObject(forEntityName: entity, into: log)
                for name in original.entity.attributesByName.keys { copy.setValue(original.value(forKey: name), forKey: name) }
                copies[original.objectID] = copy
                originals.append(original)
                // Row numbers rise in the order of the saves.
                try log.save()
            }
        }
        for original in originals {
            for (name, relationship) in original.entity.relationshipsByName {
                let members = Self.members(original.value(forKey: name)).compactMap { copies[$0.objectID] }
                let value: Any? =
                    relationship.isOrdered
                    ? NSOrderedSet(array: members) : relationship.isToMany ? NSSet(array: members) : members.first
                copies[original.objectID]?.setValue(value, forKey: name)
            }
        }
        try log.save()
        for original in originals {
            guard let copy = copies[original.objectID] else { continue }
            let name = "\(original.entity.name ?? "")\(original.objectID.key.row)"
            for (context, id) in [(file, original.objectID), (log, copy.objectID)] {
                names[id] = name
                objects[context, default: [:]][name] = id
            }
        }
        for context in [file, log] { context.reset() }
    }

    private static func members(_ value: Any?) -> [NSManagedObject] {
        (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? (value as? NSSet)?.allObjects as? [NSManagedObject]
            ?? [value as? NSManagedObject].compactMap { $0 }
    }

    func object(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        context.object(with: try #require(objects[context]?[name]))
    }

    /// Replaces the names of objects ("@Keeper1") by the objects of a context.
    func arguments(_ list: [Any], in context: NSManagedObjectContext) throws -> [Any] {
        try list.map { value in
            if let name = value as? String, name.hasPrefix("@") { return try object(String(name.dropFirst()), in: context) }
            if let name = value as? String, name.hasPrefix("#") { return try object(String(name.dropFirst()), in: context).objectID }
            return try (value as? [Any]).map { try arguments($0, in: context) } ?? value
        }
    }

    /// A value as text, with the names of objects.
    func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let object as NSManagedObject: names[object.objectID] ?? "?"
        case let id as NSManagedObjectID: "id of " + (names[id] ?? "?")
        case let list as [String: Any]: "{" + list.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "}"
        case let list as NSDictionary: text(list as? [String: Any] ?? [:])
        case let list as [Any]: "[" + list.map(text).joined(separator: ", ") + "]"
        case let set as NSOrderedSet: text(set.array)
        case let set as NSSet: "{" + set.allObjects.map(text).sorted().joined(separator: ", ") + "}"
        case let number as NSDecimalNumber: number.stringValue
        case let number as NSNumber: number.stringValue
        case let data as Data: data.base64EncodedString()
        case let value?: "\(value)"
        }
    }

    /// The answers of both twins, or the codes and reasons of their errors.
    func answers(_ question: (NSManagedObjectContext) throws -> Any?) -> (file: String, log: String) {
        func answer(_ context: NSManagedObjectContext) -> String {
            do {
                return text(try question(context))
            } catch let error as NSError {
                return "error \(error.code)"
            }
        }
        return (answer(file), answer(log))
    }
}
