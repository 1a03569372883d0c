import Foundation
import RecordLog
import Synchronization
import Testing

@testable import Heartwood

/// Makes one author for each name in the books.
class AuthorPolicy: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        manager.userInfo = ["authors": NSMutableDictionary(), "calls": ["begin"]]
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let book = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])[0]
        guard let name = sInstance.value(forKey: "authorName") as? String, let known = manager.userInfo?["authors"] as? NSMutableDictionary
        else { return }
        let author: NSManagedObject
        if let id = known[name] as? NSManagedObjectID, !id.isTemporaryID {
            author = manager.destinationContext.object(with: id)
        } else if let object = known[name] as? NSManagedObject {
            author = object
        } else {
            author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: manager.destinationContext)
            author.setValue(name, forKey: "name")
            known[name] = author
        }
        author.mutableSetValue(forKey: "books").add(book)
    }

    private func note(_ call: String, _ manager: NSMigrationManager) {
        let calls = manager.userInfo?["calls"] as? [String] ?? []
        manager.userInfo?["calls"] = calls + [call]
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("endInstances", manager) }

    override func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        #expect(source.count == 1 && source[0].value(forKey: "title") as? String == dInstance.value(forKey: "name") as? String)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("endRelationships", manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("validation", manager) }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { note("end", manager) }

    override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        switch selector {
        case "shout:": (arguments.first as? String)?.uppercased()
        case "pagesOf:times:": (arguments[0] as? NSNumber).map { NSNumber(value: $0.intValue * ((arguments[1] as? NSNumber)?.intValue ?? 0)) }
        default: try super.value(ofFunction: selector, arguments: arguments)
        }
    }
}

final class FailingPolicy: NSEntityMigrationPolicy {
    struct Refusal: Error {}

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws { throw Refusal() }
}

/// Notes the highest number of objects that the two contexts of a migration have at a time.
final class CountingPolicy: NSEntityMigrationPolicy {
    static let key = "registeredMax"

    private func count(_ manager: NSMigrationManager) {
        let known = manager.userInfo?[Self.key] as? Int ?? 0
        manager.userInfo = [Self.key: max(known, manager.sourceContext.registeredCount + manager.destinationContext.registeredCount)]
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        count(manager)
    }

    override func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        count(manager)
    }
}

final class CancellingPolicy: NSEntityMigrationPolicy {
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        manager.cancelMigrationWithError(CancellationError())
    }
}

@Suite struct MappingModelTests {
    private static let old: Sketch = "Book: title:string authorName:string pages:int32 next>Book/previous previous>Book/next tags>>Tag/books\nTag: name:string books>>Book/tags"
    private static let new: Sketch = """
        Work: name:string loud:string pages:int64 leaves:int32 author>Author/books next>Work/previous previous>Work/next tags>>>Tag/works
        Author: name:string books>>Work/author
        Tag: name:string count:int32 works>>Work/tags
        """

    private func property(_ name: String, _ format: String? = nil) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = format.map { NSExpression(format: $0) }
        return mapping
    }

    private func mappingModel(policy: String? = NSStringFromClass(AuthorPolicy.self)) -> NSMappingModel {
        let books = NSEntityMapping(), tags = NSEntityMapping()
        books.name = "BookToWork"
        books.mappingType = .customEntityMappingType
        books.sourceEntityName = "Book"
        books.destinationEntityName = "Work"
        books.entityMigrationPolicyClassName = policy
        books.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\" , \"Book\", \"pages > 0\"), $manager.sourceContext, NO)")
        books.attributeMappings = [property("name", "$source.title"), property("pages", "$source.pages")]
        if policy == NSStringFromClass(AuthorPolicy.self) {
            books.attributeMappings?.append(property("loud", "FUNCTION($entityPolicy, \"shout:\", $source.title)"))
            books.attributeMappings?.append(property("leaves", "FUNCTION($entityPolicy, \"pagesOf:times:\", $source.pages, 2)"))
        }
        books.relationshipMappings = [
            property("next", "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"BookToWork\", $source.next)"),
            property("tags", "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"tags\", $source.tags)"),
        ]
        tags.name = "TagToTag"
        tags.mappingType = .transformEntityMappingType
        tags.sourceEntityName = "Tag"
        tags.destinationEntityName = "Tag"
        tags.attributeMappings = [property("name", "FUNCTION($source.name, 'uppercaseString')"), property("count", "$source.books.@count")]
        let model = NSMappingModel()
        model.entityMappings = [books, tags]
        return model
    }

    private func fill(_ chain: Chain) throws {
        try chain.with(Self.old) { context in
            let tags = ["x", "y"].map { context.make("Tag", ["name": $0]) }
            let books = [("Emma", "Jane", 300), ("Persuasion", "Jane", 200), ("Dubliners", "James", 150), ("Draft", "James", 0)].map {
                context.make("Book", ["title": $0.0, "authorName": $0.1, "pages": $0.2])
            }
            books[0].setValue(books[1], forKey: "next")
            books[0].setValue(Set(tags) as NSSet, forKey: "tags")
            books[2].setValue(Set([tags[1]]) as NSSet, forKey: "tags")
        }
    }

    private static let migrated = [
        "Author: books=[\"Dubliners\"] name=James", "Author: books=[\"Emma\", \"Persuasion\"] name=Jane",
        "Tag: count=1 name=X works=[\"Emma\"]", "Tag: count=2 name=Y works=[\"Dubliners\", \"Emma\"]",
    ]

    private func migrate(
        _ chain: Chain, _ mapping: NSMappingModel, to url: URL, _ kind: StoreKind? = nil, change: (NSMigrationManager) -> Void = { _ in }
    ) throws {
        let manager = NSMigrationManager(sourceModel: Self.old.model, destinationModel: Self.new.model)
        change(manager)
        try manager.migrateStore(
            from: chain.url, sourceType: chain.kind.type, options: nil, with: mapping, toDestinationURL: url,
            destinationType: (kind ?? chain.kind).type, destinationOptions: [NSRecordLogDurabilityOption: "none"])
    }

    private func lines(_ url: URL, _ kind: StoreKind) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.new.model)
        let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url)
        defer { try? coordinator.remove(store) }
        return try coordinator.newContext().lines()
    }

    @Test(arguments: StoreKind.allCases.filter(\.hasFile), StoreKind.allCases.filter(\.hasFile))
    func `A program's own mapping model splits a store`(from: StoreKind, to: StoreKind) throws {
        let chain = try Chain(from), target = chain.scratch["new"]
        try fill(chain)
        let before = try Data(contentsOf: chain.url)
        var calls: [String] = []
        var manager: NSMigrationManager?
        try migrate(chain, mappingModel(), to: target, to) { manager = $0 }
        calls = manager?.userInfo?["calls"] as? [String] ?? []
        let found = try lines(target, to)
        #expect(found.filter { !$0.hasPrefix("Work") } == Self.migrated)
        let emma = try #require(found.first { $0.contains("name=Emma") })
        #expect(
            emma.contains("author=Jane") && emma.contains("leaves=600") && emma.contains("loud=EMMA") && emma.contains("next=Persuasion")
                && emma.contains("previous=-"))
        #expect(found.contains { $0.contains("name=Persuasion") && $0.contains("previous=Emma") })
        #expect(found.count == 7, "the draft is not among them")
        #expect(calls == ["begin", "endInstances", "endRelationships", "validation", "end"])
        #expect(try Data(contentsOf: chain.url) == before && chain.scratch.names == ["new", "store"])
        #expect(manager?.migrationProgress == 1 && manager?.reader == nil && manager?.currentMapping == nil)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: to.type, at: target)
        #expect(
            metadata[NSStoreUUIDKey] as? String == (try chain.metadata()[NSStoreUUIDKey] as? String)
                && metadata[NSStoreTypeKey] as? String == to.type)
        manager?.reset()
        #expect(manager?.ownMappingModel == nil && manager?.migrationProgress == 0)
    }

    @Test
    func `A store is migrated in several passes`() throws {
        let chain = try Chain(), target = chain.scratch["new"]
        try fill(chain)
        let whole = mappingModel(), books = NSMappingModel(), tags = NSMappingModel()
        books.entityMappings = [whole.entityMappings[0]]
        tags.entityMappings = [whole.entityMappings[1]]
        // The second pass does not know tags of the first.
        books.entityMappings[0].relationshipMappings?.removeLast()
        try migrate(chain, tags, to: target)
        try migrate(chain, books, to: target)
        #expect(try lines(target, .recordLog).count == 7)
        #expect(chain.scratch.names == ["new", "store"])
        let broken = mappingModel(policy: NSStringFromClass(FailingPolicy.self))
        let before = try Data(contentsOf: target)
        #expect(throws: FailingPolicy.Refusal.self) { try migrate(chain, broken, to: target) }
        #expect(try Data(contentsOf: target) == before && chain.scratch.names == ["new", "store"], "what was there is there")
    }

    @Test
    func `A failure is described and leaves nothing`() throws {
        let chain = try Chain(), target = chain.scratch["new"]
        try fill(chain)
        func error(_ mapping: NSMappingModel?, from url: URL? = nil, sourceLocation: SourceLocation = #_sourceLocation) -> NSError? {
            let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
                let manager = NSMigrationManager(sourceModel: Self.old.model, destinationModel: Self.new.model)
                try manager.migrateStore(
                    from: url ?? chain.url, sourceType: NSRecordLogStoreType, options: nil, with: mapping, toDestinationURL: target,
                    destinationType: NSRecordLogStoreType)
            }
            #expect(chain.scratch.names == ["store"], sourceLocation: sourceLocation)
            return error as NSError?
        }
        func changed(_ change: (NSEntityMapping) -> Void) -> NSMappingModel {
            let model = mappingModel()
            change(model.entityMappings[0])
            return model
        }
        func says(_ error: NSError?, _ wanted: Int, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(
                code(error) == wanted && error?.localizedDescription.contains(text) == true, "\(String(describing: error))",
                sourceLocation: sourceLocation)
        }
        says(error(nil), NSMigrationMissingMappingModelError, "no mapping model")
        says(error(mappingModel(), from: chain.scratch["none"]), NSMigrationManagerSourceStoreError, "no such file")
        says(error(changed { $0.entityMigrationPolicyClassName = "Nobody" }), NSEntityMigrationPolicyError, "Nobody")
        says(
            error(changed { $0.attributeMappings?.append(property("leaves", "FUNCTION($entityPolicy, \"nothing:\", 1)")) }),
            NSEntityMigrationPolicyError, "nothing:")
        says(error(
            changed { $0.attributeMappings?.append(property("leaves", "FUNCTION($manager, \"nothing:\", 1)")) }), NSMigrationError, "nothing:")
        says(error(changed { $0.attributeMappings?.append(property("leaves", "$source.weight")) }), NSMigrationError, "Book.weight")
        says(error(changed { $0.attributeMappings?.append(property("leaves", "$source.title")) }), NSMigrationError, "leaves")
        says(error(changed { $0.attributeMappings?.append(property("leaves", "$stranger")) }), NSMigrationError, "$stranger")
        says(error(changed { $0.attributeMappings?.append(property("weight")) }), NSMigrationError, "weight")
        says(error(changed { $0.relationshipMappings?.append(property("author", "$source.next")) }), NSMigrationError, "author")
        says(error(changed { $0.sourceEntityName = "Paper" }), NSMigrationError, "Paper")
        says(error(changed { $0.sourceEntityVersionHash = Data([1]) }), NSMigrationError, "another version")
        says(error(changed { $0.sourceExpression = NSExpression(format: "5") }), NSMigrationError, "neither a fetch request")
        says(
            error(changed { $0.relationshipMappings = [property("next", "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"Other\", $source.next)")] }),
            NSMigrationError, "Other")
        says(error(mappingModel(policy: NSStringFromClass(CancellingPolicy.self))), NSMigrationCancelledError, "cancelled")
        let manager = NSMigrationManager(sourceModel: Self.new.model, destinationModel: Self.new.model)
        let other = #expect(throws: (any Error).self) {
            try manager.migrateStore(from: chain.url, type: .recordLog, mapping: NSMappingModel(), to: target, type: .recordLog)
        }
        #expect(code(other) == NSMigrationManagerSourceStoreError, "it was made with another model")
        let own = #expect(throws: (any Error).self) {
            try manager.migrateStore(from: chain.url, type: .recordLog, mapping: NSMappingModel(), to: chain.url, type: .recordLog)
        }
        #expect(code(own) == NSPersistentStoreOperationError)
        let model = Self.old.model
        let nowhere = #expect(throws: (any Error).self) {
            try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
                from: chain.url, type: .recordLog, mapping: .inferredMappingModel(forSourceModel: model, destinationModel: model),
                to: chain.scratch["no/where"], type: .recordLog)
        }
        #expect(code(nowhere) == NSMigrationManagerDestinationStoreError)
    }

    @Test
    func `The model's rules are checked on the objects that a mapping model makes`() throws {
        let chain = try Chain()
        try chain.with(Sketch("A: name:string size:int32")) { context in
            for size in [1, 2, 30] { context.make("A", ["name": "\(size)", "size": size]) }
        }
        let after = Sketch("A: name:string! size:int32").model
        after.entities[0].attributesByName["size"]?.setValidationPredicates([NSPredicate(format: "SELF < 10")], withValidationWarnings: nil)
        let mapping = NSEntityMapping(), model = NSMappingModel()
        mapping.sourceEntityName = "A"
        mapping.destinationEntityName = "A"
        mapping.attributeMappings = [property("size", "$source.size")]
        model.entityMappings = [mapping]
        #expect(mapping.name == "A->A")
        func migrate() throws {
            try NSMigrationManager(sourceModel: Sketch("A: name:string size:int32").model, destinationModel: after)
                .migrateStore(from: chain.url, type: .recordLog, mapping: model, to: chain.scratch["new"], type: .recordLog)
        }
        let missing = #expect(throws: (any Error).self) { try migrate() }
        #expect(code(missing) == NSValidationMissingMandatoryPropertyError)
        mapping.attributeMappings?.append(property("name", "$source.name"))
        let large = #expect(throws: (any Error).self) { try migrate() }
        #expect(code(large) == NSValidationNumberTooLargeError)
        mapping.attributeMappings?[0].valueExpression = NSExpression(format: "TERNARY($source.size > 9, 9, $source.size)")
        try migrate()
        #expect(try Chain.lines(at: chain.scratch["new"], after) == ["A: name=1 size=1", "A: name=2 size=2", "A: name=30 size=9"])
    }

    @Test
    func `A migration holds a few thousand objects at a time`() throws {
        let chain = try Chain(), count = 6_000
        let old: Sketch = "A: name:string b>B/as\nB: name:string as>>A/b", new: Sketch = "A: name:string size:int16 b>B/as\nB: name:string as>>A/b"
        try chain.with(old) { context in
            let groups = (0..<10).map { context.make("B", ["name": "\($0)"]) }
            for number in 0..<count { context.make("A", ["name": "\(number)", "b": groups[number % 10]]) }
        }
        let manager = NSMigrationManager(sourceModel: old.model, destinationModel: new.model)
        manager.portion = 500
        manager.usesStoreSpecificMigrationManager = false
        let inferred = try NSMappingModel.inferredMappingModel(forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        for mapping in inferred.entityMappings { mapping.entityMigrationPolicyClassName = NSStringFromClass(CountingPolicy.self) }
        try manager.migrateStore(
            from: chain.url, sourceType: NSRecordLogStoreType, options: nil, with: inferred, toDestinationURL: chain.scratch["new"],
            destinationType: NSRecordLogStoreType, destinationOptions: [NSRecordLogDurabilityOption: "none"])
        let registeredMax = try #require(manager.userInfo?[CountingPolicy.key] as? Int)
        #expect(registeredMax > 0 && registeredMax < 5_000, "\(registeredMax)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new.model)
        try coordinator.addPersistentStore(type: .recordLog, at: chain.scratch["new"])
        let context = coordinator.newContext()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "A")) == count)
        for group in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "B")) {
            let members = group.mutableSetValue(forKey: "as").allObjects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            #expect(members.count == count / 10 && members.allSatisfy { $0.hasSuffix(group.value(forKey: "name") as! String) })
        }
    }

    @Test
    func `Progress only grows, and another thread may cancel the migration`() throws {
        let chain = try Chain()
        let old: Sketch = "A: name:string", new: Sketch = "A: title:string~name"
        try chain.with(old) { context in for number in 0..<3_000 { context.make("A", ["name": "\(number)"]) } }
        let manager = NSMigrationManager(sourceModel: old.model, destinationModel: new.model)
        manager.portion = 10
        manager.usesStoreSpecificMigrationManager = false
        let seen = Mutex<[Float]>([]), isOver = DispatchSemaphore(value: 0)
        let watcher = Thread {
            defer { isOver.signal() }
            while seen.withLock({ $0.count < 100_000 }), manager.migrationProgress < 0.3 { seen.withLock { $0.append(manager.migrationProgress) } }
            manager.cancelMigrationWithError(CocoaError(.userCancelled))
        }
        watcher.start()
        let inferred = try NSMappingModel.inferredMappingModel(forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let result = Result {
            try manager.migrateStore(from: chain.url, type: .recordLog, mapping: inferred, to: chain.scratch["new"], type: .recordLog)
        }
        isOver.wait()
        #expect(seen.withLock { zip($0, $0.dropFirst()).allSatisfy { $0 <= $1 } })
        switch result {
        case .success: #expect(manager.migrationProgress == 1)
        case .failure(let error):
            #expect((error as? CocoaError)?.code == .userCancelled)
            #expect(chain.scratch.names == ["store"])
        }
    }

    @Test
    func `Functions in formats are kept as written`() throws {
        for format in [
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"XToX\", $source.rel)",
            "FUNCTION($entityPolicy, \"selector:\", $source.a, {1, 2})", "FETCH($request, $manager.sourceContext, NO)",
        ] {
            let expression = try NSExpression(parsing: format)
            let type = format.hasPrefix("FETCH") ? NSFetchRequestExpressionType : .function
            #expect(try NSExpression(parsing: expression.description) == expression && expression.expressionType == type)
        }
        let call = NSExpression(forFunction: NSExpression(forVariable: "manager"), selectorName: "sourceContext", arguments: [])
        #expect(call.function == "sourceContext" && call.operand.variable == "manager" && call.arguments?.isEmpty == true)
        let stack = try TestStack(.inMemory)
        for operand in ["$x", "name"] {
            #expect(throws: (any Error).self) { try stack.fetch("Person", "name == FUNCTION(\(operand), \"explode\")") }
        }
    }
}

extension Chain {
    static func lines(at url: URL, _ model: NSManagedObjectModel, _ kind: StoreKind = .recordLog) throws -> [String] {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url)
        defer { try? coordinator.remove(store) }
        return try coordinator.newContext().lines()
    }
}
