import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Fetch indexes follow their attributes through versions of a model: none is built anew of rows that have not changed.
@Suite struct FollowingIndexTests {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute

    /// A note with an index of each kind: of columns, of an expression, partial, of terms.
    private static func model(
        entity: String = "Note", was: String? = nil, title: String = "title", number: String = "number", prefix: String = "",
        parent: Bool = false, more: [Attribute] = [], change: (NSEntityDescription) -> Void = { _ in }
    ) -> NSManagedObjectModel {
        var attributes = [Attribute(name: title, was: title == "title" ? nil : "title")]
        let numbers = [Attribute(name: number, was: number == "number" ? nil : "number", type: .integer32AttributeType)]
        if !parent { attributes += numbers }
        var note = Entity(name: entity, was: was, parent: parent ? "Base" : nil, attributes: attributes + more)
        if !parent { note.indexes = [("\(prefix)byNumber", [number], nil), ("\(prefix)partial", [number], "\(number) > 2 AND \(title) != nil")] }
        var version = ModelVersion(note)
        if parent {
            version.entities.append(Entity(name: "Base", isAbstract: true, attributes: numbers))
            version["Base"].indexes = [("\(prefix)byNumber", [number], nil)]
        }
        let model = version.model(), made = model.entitiesByName[entity]!
        let upper = NSExpressionDescription()
        upper.name = "upper"
        upper.expression = NSExpression(format: "uppercase:(\(title))")
        upper.expressionResultType = .stringAttributeType
        made.indexes.append(NSFetchIndexDescription(
            name: "\(prefix)upper", elements: [NSFetchIndexElementDescription(property: upper, collationType: .binary)]))
        made.indexes.append(NSFetchIndexDescription(
            name: "\(prefix)text", elements: [NSFetchIndexElementDescription(property: made.attributesByName[title]!, collationType: .text)]))
        change(made)
        return model
    }

    private static func titled(_ number: Int) -> String { "oak \(number % 7) and ash \(number)" }

    /// Opens the store, whose index builds have ended when `body` runs.
    private static func open<Result>(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (RecordLogStore, NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [String: Any] = [
            NSRecordLogDurabilityOption: "none", NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let log = try #require(store.rows)
        log.indexing.wait()
        return try body(log, coordinator.newContext())
    }

    private static func indexes(_ store: RecordLogStore) throws -> [UInt16] {
        try store.loaded().log.snapshot().catalog.indexes.map(\.id.rawValue).sorted()
    }

    private static func filled() throws -> (scratch: ScratchDirectory, indexes: [UInt16]) {
        let scratch = try ScratchDirectory()
        let ids = try open(scratch["store"], model()) { store, context in
            for number in 0..<50 {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(titled(number), forKey: "title")
                note.setValue(number % 5, forKey: "number")
            }
            try context.save()
            return try indexes(store)
        }
        return (scratch, ids)
    }

    /// Each index finds what a scan finds, also rows that are changed now.
    private static func check(_ url: URL, _ model: NSManagedObjectModel, entity: String = "Note", title: String, number: String, _ prefix: String = "") throws {
        try open(url, model) { _, context in
            let added = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            added.setValue("another oak 3", forKey: title)
            added.setValue(4, forKey: number)
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            try context.fetch(request).first?.setValue("elm 3", forKey: title)
            try context.save()
            for (name, format) in [
                ("byNumber", "\(number) == 4"), ("partial", "\(number) > 2 AND \(title) != nil AND \(number) == 3"),
                ("upper", "uppercase:(\(title)) == 'ELM 3'"), ("text", "\(title) CONTAINS[c] 'OAK 3'"),
            ] {
                request.predicate = NSPredicate(format: format)
                let found = try QueryTuning.with(QueryTuning(access: .index("index:\(prefix)\(name)"))) { try context.fetch(request).count }
                let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try context.fetch(request).count }
                #expect(found == scanned && found > 0, "\(name)")
            }
        }
        let report = try StoreVerification.verify(path: url.path, makeExtractor: StoredModel.options.makeExtractor)
        #expect(report.isSound && report.indexEntries > 0, "\(report.problems)")
    }

    @Test
    func `Indexes follow renamed attributes and entities, and keep their entries`() throws {
        for (title, number, entity) in [("heading", "number", "Note"), ("title", "size", "Note"), ("heading", "size", "Memo"), ("number", "title", "Note")] {
            let (scratch, before) = try Self.filled()
            let model = Self.model(entity: entity, was: entity == "Note" ? nil : "Note", title: title, number: number)
            let after = try Self.open(scratch["store"], model) { store, _ in try Self.indexes(store) }
            #expect(after == before, "\(title), \(number)")
            try Self.check(scratch["store"], model, entity: entity, title: title, number: number)
        }
    }

    @Test
    func `Indexes stay where attributes come and go beside theirs`() throws {
        for more in [[Attribute(name: "extra")], [Attribute(name: "extra", initial: "x")], [Attribute(name: "needed", isOptional: false, initial: "")]] {
            let (scratch, before) = try Self.filled(), model = Self.model(more: more)
            #expect(try Self.open(scratch["store"], model) { store, _ in try Self.indexes(store) } == before)
            try Self.check(scratch["store"], model, title: "title", number: "number")
        }
    }

    @Test
    func `An index follows its attribute to a parent entity`() throws {
        let (scratch, before) = try Self.filled(), model = Self.model(parent: true)
        let after = try Self.open(scratch["store"], model) { store, _ in try Self.indexes(store) }
        // The partial one is not in the new model.
        #expect(Set(after).isSubset(of: before) && after.count == before.count - 1)
    }

    @Test
    func `An index that a model names otherwise is renamed, in the same version of the model`() throws {
        let (scratch, before) = try Self.filled(), model = Self.model(prefix: "other")
        #expect(try Self.open(scratch["store"], model) { store, _ in try Self.indexes(store) } == before)
        try Self.check(scratch["store"], model, title: "title", number: "number", "other")
    }

    /// The name is the old one, and the column another.
    @Test
    func `An index over an attribute that was removed and added again is built anew`() throws {
        let (scratch, before) = try Self.filled()
        let without = ModelVersion(Entity(name: "Note", attributes: [Attribute(name: "extra")]))
        #expect(try Self.open(scratch["store"], without.model()) { store, _ in try Self.indexes(store) } == [])
        // A version of its own: a program does not go back to a former one.
        func again() -> NSManagedObjectModel { Self.model { $0.versionHashModifier = "again" } }
        let after = try Self.open(scratch["store"], again()) { store, _ in try Self.indexes(store) }
        #expect(after.count == before.count && Set(after).isDisjoint(with: before))
        try Self.open(scratch["store"], again()) { _, context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "title CONTAINS 'oak'")
            let count = try context.count(for: request)
            #expect(count == 0)
        }
    }

    @Test
    func `A default that a layout states for an indexed attribute has the index built anew`() throws {
        let scratch = try ScratchDirectory()
        func version(_ initial: String?) -> NSManagedObjectModel {
            Self.model { note in
                note.attributesByName["title"]?.isOptional = initial == nil
                note.attributesByName["title"]?.defaultValue = initial
            }
        }
        try Self.open(scratch["store"], version(nil)) { _, context in
            for number in 0..<9 {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                if number % 2 == 0 { note.setValue("oak \(number)", forKey: "title") }
                note.setValue(number % 5, forKey: "number")
            }
            try context.save()
        }
        try Self.open(scratch["store"], version("elm")) { _, context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "title CONTAINS 'elm'")
            let found = try QueryTuning.with(QueryTuning(access: .index("index:text"))) { try context.fetch(request).count }
            #expect(found == 4)
        }
    }

    /// A program that ends at once, time and again, would never get its index built. Its closing waits for that.
    @Test
    func `A store that is opened and closed at once gets its index`() throws {
        let (scratch, _) = try Self.filled()
        let without = ModelVersion(Entity(name: "Note", attributes: [Attribute(name: "title"), Attribute(name: "number", type: .integer32AttributeType)]))
        try Self.open(scratch["store"], without.model()) { _, _ in }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: scratch["store"])
        try coordinator.remove(store)
        let log = try LogStore.open(path: scratch["store"].path, options: StoredModel.options)
        #expect(log.snapshot().catalog.indexes.count == 4)
    }
}
