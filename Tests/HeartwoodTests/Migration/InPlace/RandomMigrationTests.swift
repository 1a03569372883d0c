import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Random versions, compared with a plain model of a migration.
struct RandomMigrationTests {
    /// An object in the plain model: its values, and the destinations of each relationship, by entity and row in the old version.
    struct Plain {
        var entity: String
        var row: UInt64
        var values: [String: String] = [:]
        var members: [String: [String]] = [:]
    }

    static func text(_ value: Any?, _ attribute: ModelVersion.Attribute) -> String {
        if attribute.type == .booleanAttributeType, let value = value as? Bool { return value ? "1" : "0" }
        if attribute.type == .doubleAttributeType, let value = value as? Double { return "\(NSNumber(value: value))" }
        return ValueWords.of(value)
    }

    @Test(arguments: StoreKind.migratingInPlace)
    func `The objects keep the values that both versions have`(kind: StoreKind) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_MIGRATION_SEED"].flatMap(UInt64.init)
        let runs = ProcessInfo.processInfo.environment["HEARTWOOD_MIGRATION_RUNS"].flatMap(Int.init) ?? 20
        let first = UInt64.random(in: 0...UInt64.max / 2)
        var notInPlace = 0
        for run in 0..<(seed == nil ? runs : 1) {
            let seed = seed ?? first + UInt64(run)
            do {
                if try !Self.run(seed, kind) { notInPlace += 1 }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        #expect(notInPlace * 2 < runs, "most go in place")
    }

    /// A random value that the store takes: a server of PostgreSQL has no U+0000 in texts.
    private static func draw(_ type: NSAttributeType, from old: Any?, _ kind: StoreKind, _ generator: inout SeededGenerator) -> Any? {
        let value = RandomVersions.draw(type, from: old, &generator)
        return kind == .postgreSQL ? (value as? String)?.replacing("\0", with: "\u{1}") ?? value : value
    }

    private static func fill(
        _ version: ModelVersion, _ context: NSManagedObjectContext, _ kind: StoreKind, _ generator: inout SeededGenerator
    ) {
        var objects: [NSManagedObject] = []
        for entity in version.entities {
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                objects.append(NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context))
            }
        }
        for object in objects {
            for attribute in version.attributes(of: object.entity.name!) where Int.random(in: 0..<4, using: &generator) > 0 {
                let value = draw(attribute.type, from: object.value(forKey: attribute.name), kind, &generator)
                if value != nil || attribute.isOptional { object.setValue(value, forKey: attribute.name) }
            }
            for end in version.relationships(of: object.entity.name!) {
                let family = version.family(of: end.destination)
                let candidates = objects.filter { family.contains($0.entity.name!) }.shuffled(using: &generator)
                let members = Array(candidates.prefix(Int.random(in: 0...3, using: &generator)))
                if !end.isToMany {
                    object.setValue(members.first, forKey: end.name)
                } else {
                    object.setValue(end.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: end.name)
                }
            }
        }
    }

    /// - Returns: whether the store was migrated in place.
    private static func run(_ seed: UInt64, _ kind: StoreKind) throws -> Bool {
        var versions = RandomVersions(seed: seed)
        var old = versions.first()
        let store = try VersionedStore(old, kind, keepsHistory: seed % 2 == 0) { Self.fill(old, $0, kind, &versions.generator) }
        for _ in 0..<3 {
            let new = versions.next(of: old)
            let before = try Self.plain(old, store.anew(), seed: seed)
            let context: NSManagedObjectContext
            do {
                context = try store.migrated(to: new)
            } catch is VersionedStore.NotInPlace {
                return false
            } catch let error as NSError where error.code == NSInferredMappingModelError {
                return false
            }
            try Self.audit(context, seed, new)
            let expected = Self.expected(before, old, new)
            let after = try context.described(new, sorting: Self.newlyOrdered(old, new))
            guard after == expected else {
                let lost = Set(expected).subtracting(after).sorted().prefix(3), found = Set(after).subtracting(expected).sorted().prefix(3)
                Issue.record("seed \(seed): expected \(lost) found \(found)\nfrom \(old)\nto \(new)")
                return true
            }
            store.store?.indexing.wait()
            try Self.checkIndexes(new, context, seed)
            if seed % 2 == 0 { try Self.readHistory(context, seed) }
            try store.close()
            let problems = try store.problems
            #expect(problems == [], "seed \(seed)")
            // Rows of several layouts are changed, deleted and found.
            try Self.change(new, store.open(new), kind, &versions.generator)
            try Self.checkIndexes(new, store.anew(), seed)
            try store.close()
            #expect(try store.problems == [], "seed \(seed), after changes")
            try store.open(new)
            old = new
        }
        return true
    }

    /// Fetches through indexes find the existing objects.
    private static func checkIndexes(_ version: ModelVersion, _ context: NSManagedObjectContext, _ seed: UInt64) throws {
        for entity in version.entities {
            for index in entity.indexes {
                let format = index.predicate ?? (index.keys[0].contains("(") ? "\(index.keys[0]) BEGINSWITH 'TEXT 1'" : "\(index.keys[0]) != nil")
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
                request.includesSubentities = false
                request.predicate = NSPredicate(format: format)
                let found = try context.fetch(request).map(\.label).sorted()
                let there = try context.all(entity.name).filter { request.predicate?.evaluate(with: $0) ?? true }.map(\.label).sorted()
                #expect(found == there, "seed \(seed): \(format) of \(entity.name)")
            }
        }
    }

    /// Transactions recorded in an older version are read in this one's terms.
    private static func readHistory(_ context: NSManagedObjectContext, _ seed: UInt64) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let transactions = (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        for change in transactions.flatMap({ $0.changes ?? [] }) {
            let known = entities[change.changedObjectID.entity.name ?? ""]?.propertiesByName ?? [:]
            #expect((change.updatedProperties ?? []).allSatisfy { known[$0.name] === $0 }, "seed \(seed)")
        }
    }

    private static func change(
        _ version: ModelVersion, _ context: NSManagedObjectContext, _ kind: StoreKind, _ generator: inout SeededGenerator
    ) throws {
        let known = try version.entities.filter { !$0.isAbstract }.flatMap { try context.all($0.name) }
        for object in known.shuffled(using: &generator).prefix(known.count / 8) { context.delete(object) }
        try context.save()
        fill(version, context, kind, &generator)
        let objects = try version.entities.filter { !$0.isAbstract }.flatMap { try context.all($0.name) }
        for object in objects where Int.random(in: 0..<3, using: &generator) == 0 {
            for attribute in version.attributes(of: object.entity.name!) where attribute.isOptional {
                object.setValue(draw(attribute.type, from: object.value(forKey: attribute.name), kind, &generator), forKey: attribute.name)
            }
        }
        for object in context.insertedObjects.union(context.updatedObjects) {
            for attribute in version.attributes(of: object.entity.name!) where !attribute.isOptional
                && object.value(forKey: attribute.name) == nil
            {
                object.setValue(attribute.initial, forKey: attribute.name)
            }
        }
        // The store has the values that were set.
        let expected = objects.map { object in version.attributes(of: object.entity.name!).map { text(object.value(forKey: $0.name), $0) } }
        try context.save()
        context.refreshAllObjects()
        for (object, values) in zip(objects, expected) {
            #expect(version.attributes(of: object.entity.name!).map { text(object.value(forKey: $0.name), $0) } == values, "\(object.label)")
        }
        try changeByBatches(version, context, &generator)
    }

    /// A batch insertion, update and deletion over rows of several layouts have the same effect as changes of objects.
    private static func changeByBatches(_ version: ModelVersion, _ context: NSManagedObjectContext, _ generator: inout SeededGenerator) throws {
        for entity in version.entities {
            guard let attribute = version.attributes(of: entity.name).filter(
                { $0.type == .integer64AttributeType }).randomElement(using: &generator)
            else { continue }
            let before = try context.all(entity.name).filter { $0.value(forKey: attribute.name) as? Int ?? 0 > 100 }.count
            let update = NSBatchUpdateRequest(entityName: entity.name)
            update.includesSubentities = false
            update.predicate = NSPredicate(format: "%K > 100", attribute.name)
            update.propertiesToUpdate = [attribute.name: 77]
            update.resultType = .updatedObjectsCountResultType
            #expect(try (context.execute(update) as? NSBatchUpdateResult)?.result as? Int == before)
            let doomed = NSFetchRequest<any NSFetchRequestResult>(entityName: entity.name)
            doomed.includesSubentities = false
            doomed.fetchLimit = 1
            doomed.predicate = NSPredicate(format: "%K = 77", attribute.name)
            let there = try context.count(for: doomed) > 0
            let deletion = NSBatchDeleteRequest(fetchRequest: doomed)
            deletion.resultType = .resultTypeCount
            #expect(try (context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == (there ? 1 : 0))
        }
        context.reset()
    }

    private static func audit(_ context: NSManagedObjectContext, _ seed: UInt64, _ version: ModelVersion) throws {
        if let view = try context.persistentStoreCoordinator?.persistentStores.first?.rows?.newestView() as? RecordLogView {
            let findings = try StoreAudit.findings(in: view).map { "\($0)" }
            #expect(findings == [], "seed \(seed): \(version)")
        }
    }

    private static func plain(_ version: ModelVersion, _ context: NSManagedObjectContext, seed: UInt64) throws -> [Plain] {
        try audit(context, seed, version)
        return try version.entities.filter { !$0.isAbstract }.flatMap { entity in
            try context.all(entity.name).map { object in
                var plain = Plain(entity: entity.name, row: object.key.rawValue & 0xFFFF_FFFF_FFFF)
                for attribute in version.attributes(of: entity.name) {
                    plain.values[attribute.name] = text(object.value(forKey: attribute.name), attribute)
                }
                for end in version.relationships(of: entity.name) { plain.members[end.name] = object.labels(end) }
                return plain
            }
        }
    }

    /// The relationships that are newly ordered: their order is that of the rows, which a plain model does not know.
    private static func newlyOrdered(_ old: ModelVersion, _ new: ModelVersion) -> Set<String> {
        let known = old.entities.flatMap(\.relationships)
        return Set(new.entities.flatMap(\.relationships).filter { end in
            end.isOrdered && !known.contains { $0.name == end.was ?? end.name && $0.isOrdered }
        }.map(\.name))
    }

    /// The expected content of the new version, in the form of `described`.
    private static func expected(_ before: [Plain], _ old: ModelVersion, _ new: ModelVersion) -> [String] {
        // The new names of the old entities.
        var names: [String: String] = [:]
        for entity in new.entities {
            if let source = old.entities.first(where: { $0.name == entity.was ?? entity.name }) { names[source.name] = entity.name }
        }
        func moved(_ label: String) -> String? {
            let parts = label.split(separator: "#")
            return names[String(parts[0])].map { "\($0)#\(parts[1])" }
        }
        let sorted = newlyOrdered(old, new), there = Set(before.map { "\($0.entity)#\($0.row)" })
        return before.compactMap { object -> String? in
            guard let entity = names[object.entity] else { return nil }
            let label = "\(entity)#\(object.row)"
            var words = [label]
            for attribute in new.attributes(of: entity).sorted(by: { $0.name < $1.name }) {
                let known = object.values[attribute.was ?? attribute.name]
                let source = old.attributes(of: object.entity).first { $0.name == attribute.was ?? attribute.name }
                let isFilled = known == nil || known == "-" && !attribute.isOptional && source?.isOptional == true
                words.append("\(attribute.name)=\(isFilled ? text(attribute.initial, attribute) : known ?? "-")")
            }
            for end in new.relationships(of: entity).sorted(by: { $0.name < $1.name }) {
                let family = new.family(of: end.destination)
                var members: [String] = []
                let was = old.relationships(of: object.entity).first { $0.name == end.was ?? end.name }
                if let known = object.members[end.was ?? end.name], let was {
                    // Only a to-one relationship without an inverse may lead to missing objects.
                    let keepsVoid = was.inverse != nil || was.isToMany || end.inverse == nil && !end.isToMany
                    members = known.filter { keepsVoid || there.contains($0) }.compactMap(moved)
                } else if let inverse = end.inverse, let back = new.entities.flatMap(\.relationships).first(where: { $0.name == inverse && $0.inverse == end.name }) {
                    // A new relationship has the pairs of its inverse.
                    let mine = "\(object.entity)#\(object.row)"
                    members = before.filter { $0.members[back.was ?? back.name]?.contains(mine) == true }
                        .compactMap { moved("\($0.entity)#\($0.row)") }
                }
                members = members.filter { family.contains(String($0.split(separator: "#")[0])) }
                if !end.isOrdered || sorted.contains(end.name) { members.sort() }
                words.append("\(end.name)=\(members.joined(separator: ","))")
            }
            return words.joined(separator: " ")
        }.sorted()
    }
}
