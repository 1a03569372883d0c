import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// A migration in place, one through objects to a record log and one through objects to a binary archive give the same result.
struct MigrationWaysTests {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute

    @Test
    func `All ways of migrating agree for all versions`() throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_MIGRATION_SEED"].flatMap(UInt64.init)
        let runs = ProcessInfo.processInfo.environment["HEARTWOOD_MIGRATION_RUNS"].flatMap(Int.init) ?? 15
        let first = seed ?? UInt64.random(in: 0...UInt64.max / 2)
        for run in 0..<(seed == nil ? runs : 1) { try Self.run(first + UInt64(run)) }
    }

    private static func run(_ seed: UInt64) throws {
        var versions = RandomVersions(seed: seed)
        var old = tagged(versions.first()), new = tagged(versions.next(of: old))
        if versions.chance(40) { swapAttributes(&new, old) }
        if versions.chance(60) { change(&new, &versions) }
        if versions.chance(60) { derive(&old, &new) }
        let scratch = try ScratchDirectory(), oldModel = old.model(), newModel = new.model()
        for kind in [StoreKind.recordLog, .binary] {
            // The same objects each time.
            var generator = SeededGenerator(seed: seed)
            try with(kind, scratch[kind.rawValue], oldModel) { context in
                fill(old, context, &generator)
                try context.save()
            }
        }
        let known = old.entities.flatMap(\.relationships)
        let sorted = Set(new.entities.flatMap(\.relationships).filter { end in
            end.isOrdered && !known.contains { $0.name == end.was ?? end.name && $0.isOrdered }
        }.map(\.name))
        func result(_ kind: StoreKind, _ url: URL, _ migrate: () throws -> Void = {}) -> [String] {
            do {
                try migrate()
                let found = try with(kind, url, newModel) { try lines($0, new, sorted) }
                if kind == .recordLog { #expect(try StoreVerification.verify(path: url.path).problems.map(\.message) == [], "seed \(seed)") }
                return found
            } catch let error as NSError {
                // The cause of 134140.
                return ["error \(error.code == NSInferredMappingModelError ? NSMigrationMissingMappingModelError : error.code)"]
            }
        }
        let managed = result(.recordLog, scratch["managed"]) {
            let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
            manager.usesStoreSpecificMigrationManager = false
            manager.portion = 7
            try manager.migrateStore(
                from: scratch[StoreKind.recordLog.rawValue], sourceType: NSRecordLogStoreType,
                with: .inferredMappingModel(forSourceModel: oldModel, destinationModel: newModel), toDestinationURL: scratch["managed"],
                destinationType: NSRecordLogStoreType, destinationOptions: Chain.automatic)
        }
        for kind in [StoreKind.recordLog, .binary] {
            let lines = result(kind, scratch[kind.rawValue])
            guard lines != managed else { continue }
            let lost = Set(managed).subtracting(lines).sorted().prefix(3), found = Set(lines).subtracting(managed).sorted().prefix(3)
            Issue.record("seed \(seed), \(kind.rawValue): expected \(lost) found \(found)\nfrom \(old)\nto \(new)")
        }
    }

    private static func with<Result>(
        _ kind: StoreKind, _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: Chain.automatic)
        defer { try? coordinator.remove(store) }
        return try body(coordinator.newContext())
    }

    // MARK: Versions

    /// Gives every object a name that no migration changes.
    private static func tagged(_ version: ModelVersion) -> ModelVersion {
        var version = version
        for index in version.entities.indices {
            version.entities[index].attributes.removeAll { $0.name == "tag" }
            if version.entities[index].parent == nil { version.entities[index].attributes.append(Attribute(name: "tag")) }
        }
        return version
    }

    /// Swaps the names of attributes of one type.
    private static func swapAttributes(_ new: inout ModelVersion, _ old: ModelVersion) {
        for index in new.entities.indices {
            let entity = new.entities[index], before = old.entities.first { $0.name == entity.was ?? entity.name }?.attributes ?? []
            let kept = entity.attributes.indices.filter { at in
                let attribute = entity.attributes[at]
                return attribute.was == nil && attribute.name != "tag" && before.contains { $0.name == attribute.name }
            }
            guard let one = kept.first, let other = kept.last(where: { $0 != one && entity.attributes[$0].type == entity.attributes[one].type })
            else { continue }
            new.entities[index].attributes[one].was = entity.attributes[other].name
            new.entities[index].attributes[other].was = entity.attributes[one].name
            // Renaming identifiers do not change the version, so an attribute is added.
            new.entities[index].attributes.append(Attribute(name: "swapped\(index)"))
        }
    }

    private static func rename(_ names: [String: String], in version: inout ModelVersion) {
        for index in version.entities.indices {
            let entity = version.entities[index]
            if let name = names[entity.name] {
                version.entities[index].was = entity.was ?? entity.name
                version.entities[index].name = name
            }
            version.entities[index].parent = entity.parent.map { names[$0] ?? $0 }
            for at in entity.relationships.indices {
                let destination = entity.relationships[at].destination
                version.entities[index].relationships[at].destination = names[destination] ?? destination
            }
        }
    }

    private static func change(_ new: inout ModelVersion, _ versions: inout RandomVersions) {
        let index = Int.random(in: 0..<new.entities.count, using: &versions.generator)
        let name = new.entities[index].name
        switch Int.random(in: 0..<4, using: &versions.generator) {
        case 0:
            rename([name: "Former\(name)"], in: &new)
            new.entities.append(Entity(name: name, attributes: [Attribute(name: "tag"), Attribute(name: "more")]))
        case 1:
            guard let other = new.entities.map(\.name).filter({ $0 != name }).randomElement(using: &versions.generator) else { return }
            rename([name: other, other: name], in: &new)
            new.entities[index].attributes.append(Attribute(name: "exchanged"))
        case 2:
            // Inherited properties become its own.
            guard let parent = new.entities[index].parent else { return }
            new.entities[index].attributes += new.attributes(of: parent)
            new.entities[index].parent = nil
        default:
            guard let at = new.entities[index].relationships.indices.randomElement(using: &versions.generator),
                new.entities[index].relationships[at].inverse == nil
            else { return }
            let destination = new.entities[index].relationships[at].destination
            guard let other = new[destination].parent ?? new.entities.first(where: { $0.parent == destination })?.name else { return }
            new.entities[index].relationships[at].destination = other
        }
    }

    /// Derives a value from every text and every to-many relationship, by their names in either version.
    private static func derive(_ old: inout ModelVersion, _ new: inout ModelVersion) {
        for index in old.entities.indices {
            let name = old.entities[index].name, stated = old.entities[index]
            guard let at = new.entities.firstIndex(where: { $0.was ?? $0.name == name }) else { continue }
            for attribute in stated.attributes where attribute.type == .stringAttributeType && attribute.name != "tag" {
                let all = new.attributes(of: new.entities[at].name).filter { $0.type == .stringAttributeType }
                old.entities[index].attributes.append(Attribute(name: "upper\(attribute.name)", derivation: "uppercase:(\(attribute.name))"))
                guard let found = all.first(where: { $0.name == attribute.name }) ?? all.first(where: { $0.was == attribute.name })
                else { continue }
                new.entities[at].attributes.append(Attribute(name: "upper\(attribute.name)", derivation: "uppercase:(\(found.name))"))
            }
            for end in stated.relationships where end.isToMany {
                let count = Attribute(name: "count\(end.name)", type: .integer64AttributeType, derivation: "\(end.name).@count")
                old.entities[index].attributes.append(count)
                let stays = new.relationships(of: new.entities[at].name).contains { $0.name == end.name && $0.isToMany }
                if stays { new.entities[at].attributes.append(count) }
            }
        }
    }

    // MARK: Objects

    private static func fill(_ version: ModelVersion, _ context: NSManagedObjectContext, _ generator: inout SeededGenerator) {
        var objects: [NSManagedObject] = []
        for entity in version.entities {
            for _ in 0..<Int.random(in: 0...8, using: &generator) { objects.append(context.make(entity.name, ["tag": "t\(objects.count)"])) }
        }
        for object in objects {
            let name = object.entity.name ?? ""
            for attribute in version.attributes(of: name) where attribute.name != "tag" && attribute.derivation == nil {
                let value = RandomVersions.draw(attribute.type, from: object.value(forKey: attribute.name), &generator)
                if value != nil || attribute.isOptional { object.setValue(value, forKey: attribute.name) }
            }
            for end in version.relationships(of: name) {
                let family = version.family(of: end.destination)
                let candidates = objects.filter { family.contains($0.entity.name ?? "") }.shuffled(using: &generator)
                let members = Array(candidates.prefix(Int.random(in: 0...3, using: &generator)))
                object.setValue(
                    !end.isToMany ? members.first : end.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: end.name)
            }
        }
    }

    private static func lines(_ context: NSManagedObjectContext, _ version: ModelVersion, _ sorted: Set<String>) throws -> [String] {
        func label(_ object: Any) -> String {
            guard let object = object as? NSManagedObject else { return "?" }
            return "\(object.entity.name ?? "?")#\(object.value(forKey: "tag") ?? "?")"
        }
        return try version.entities.flatMap { entity in
            try context.all(entity.name).map { object in
                var words = [label(object)]
                for attribute in version.attributes(of: entity.name).sorted(by: { $0.name < $1.name }) {
                    words.append("\(attribute.name)=\(ValueWords.of(object.value(forKey: attribute.name)))")
                }
                for end in version.relationships(of: entity.name).sorted(by: { $0.name < $1.name }) {
                    let value = object.value(forKey: end.name)
                    var members = (value as? NSOrderedSet)?.map(label) ?? (value as? Set<NSManagedObject>)?.map(label) ?? value.map { [label($0)] }
                        ?? []
                    if !end.isOrdered || sorted.contains(end.name) { members.sort() }
                    words.append("\(end.name)=\(members.joined(separator: ","))")
                }
                return words.joined(separator: " ")
            }
        }.sorted()
    }
}
