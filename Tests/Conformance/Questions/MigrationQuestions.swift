import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A change of a model.
struct ModelChange: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let make: @Sendable (Bool) -> NSManagedObjectModel

    /// `make` returns the model before the change, and with true the model after it.
    init(_ what: String, _ make: @escaping @Sendable (Bool) -> NSManagedObjectModel) {
        (testDescription, self.make) = (what, make)
    }

    private static func of(
        _ what: String, _ properties: @escaping @Sendable (Bool) -> [NSPropertyDescription]
    ) -> ModelChange {
        ModelChange(what) { Sketch.model(Sketch.entity("Item", [Sketch.attribute("name")] + properties($0))) }
    }

    static let attributes: [ModelChange] = [
        of("an attribute is added") { $0 ? [Sketch.attribute("new")] : [] },
        of("an attribute is removed") { $0 ? [] : [Sketch.attribute("old")] },
        of("a required attribute with a default value is added") { $0 ? [Sketch.attribute("new", optional: false, default: "x")] : [] },
        of("a required attribute becomes optional") { [Sketch.attribute("a", optional: $0, default: $0 ? nil : "x")] },
        of("an optional attribute becomes required, with a default value") {
            [Sketch.attribute("a", optional: !$0, default: $0 ? "x" : nil)]
        },
        of("an attribute is renamed") { isNew in
            let attribute = Sketch.attribute(isNew ? "after" : "before")
            if isNew { attribute.renamingIdentifier = "before" }
            return [attribute]
        },
        of("a default value changes") { [Sketch.attribute("a", default: $0 ? "x" : "y")] },
        of("an attribute becomes transient") { $0 ? [Sketch.transient("a")] : [Sketch.attribute("a")] },
        of("a transient attribute is added") { $0 ? [Sketch.transient("a")] : [] },
    ]

    static let entities: [ModelChange] = [
        ModelChange("an entity is added") {
            $0 ? Sketch.model(Sketch.entity("Item", []), Sketch.entity("New", [])) : Sketch.model(Sketch.entity("Item", []))
        },
        ModelChange("an entity is removed") {
            $0 ? Sketch.model(Sketch.entity("Item", [])) : Sketch.model(Sketch.entity("Item", []), Sketch.entity("Old", []))
        },
        ModelChange("an entity is renamed") { isNew in
            let entity = Sketch.entity(isNew ? "After" : "Before", [Sketch.attribute("name")])
            if isNew { entity.renamingIdentifier = "Before" }
            return Sketch.model(entity)
        },
        ModelChange("a parent entity is added") { isNew in
            let item = Sketch.entity("Item", [Sketch.attribute("name")])
            guard isNew else { return Sketch.model(item) }
            let parent = Sketch.entity("Parent", [])
            parent.subentities = [item]
            return Sketch.model(parent, item)
        },
        ModelChange("a property moves up to the parent") { isNew in
            let name = Sketch.attribute("name"), parent = Sketch.entity("Parent", isNew ? [name] : [])
            let item = Sketch.entity("Item", isNew ? [] : [name])
            parent.subentities = [item]
            return Sketch.model(parent, item)
        },
        ModelChange("an entity's class changes") { isNew in
            Sketch.model(Sketch.entity("Item", [Sketch.attribute("name")], of: isNew ? Pet.self : NSManagedObject.self))
        },
    ]

    private static func link(
        _ what: String, _ make: @escaping @Sendable (Bool, NSEntityDescription, NSEntityDescription) -> Void
    ) -> ModelChange {
        ModelChange(what) { isNew in
            let item = Sketch.entity("Item", []), other = Sketch.entity("Other", [])
            make(isNew, item, other)
            return Sketch.model(item, other)
        }
    }

    static let relationships: [ModelChange] = [
        link("a relationship is added") { isNew, item, other in if isNew { Sketch.relationship(item, "others", .many, to: other) } },
        link("a relationship is removed") { isNew, item, other in if !isNew { Sketch.relationship(item, "others", .many, to: other) } },
        link("a to-one relationship becomes to-many") { isNew, item, other in
            Sketch.relationship(item, "others", isNew ? .many : .one, to: other)
        },
        link("a to-many relationship becomes ordered") { isNew, item, other in
            Sketch.relationship(item, "others", isNew ? .ordered : .many, to: other)
        },
        link("an ordered relationship loses its order") { isNew, item, other in
            Sketch.relationship(item, "others", isNew ? .many : .ordered, to: other)
        },
        link("a relationship is renamed") { isNew, item, other in
            let relationship = Sketch.relationship(item, isNew ? "after" : "before", .many, to: other)
            if isNew { relationship.renamingIdentifier = "before" }
        },
        link("a delete rule changes") { isNew, item, other in
            Sketch.relationship(item, "others", .many, to: other, rule: isNew ? .cascadeDeleteRule : .nullifyDeleteRule)
        },
    ]

    static let refused: [ModelChange] = [
        of("a text becomes a number") { [Sketch.attribute("a", $0 ? .integer32AttributeType : .stringAttributeType)] },
        of("a date becomes a text") { [Sketch.attribute("a", $0 ? .stringAttributeType : .dateAttributeType)] },
    ]

    /// Each change of a type in the first list to another one in the second.
    private static func numbers(_ olds: [(String, NSAttributeType)], _ news: [(String, NSAttributeType)]) -> [ModelChange] {
        olds.flatMap { old in
            news.filter { $0.1 != old.1 }.map { new in of("\(old.0) becomes \(new.0)") { [Sketch.attribute("a", $0 ? new.1 : old.1)] } }
        }
    }

    private static let integers: [(String, NSAttributeType)] = [
        ("Integer 16", .integer16AttributeType), ("Integer 32", .integer32AttributeType), ("Integer 64", .integer64AttributeType),
    ]
    private static let fractions: [(String, NSAttributeType)] = [("Float", .floatAttributeType), ("Double", .doubleAttributeType)]
    private static let truths: [(String, NSAttributeType)] = [("Boolean", .booleanAttributeType)]

    static let widths = numbers(integers, integers) + numbers(fractions, fractions)
    static let kinds = numbers(integers, fractions + truths) + numbers(fractions, integers + truths) + numbers(truths, integers + fractions)
}

@MainActor struct MigrationQuestions {
    private func infer(_ change: ModelChange) -> NSError? {
        failure { _ = try NSMappingModel.inferredMappingModel(forSourceModel: change.make(false), destinationModel: change.make(true)) }
    }

    @Test(.migrationGuide("Lightweight Migration: Core Data Must Be Able to Infer the Mapping"), arguments: ModelChange.attributes)
    func `A mapping is inferred for changes of attributes`(change: ModelChange) { #expect(infer(change) == nil) }

    @Test(.migrationGuide("Lightweight Migration: changing the entity hierarchy"), arguments: ModelChange.entities)
    func `A mapping is inferred for changes of entities`(change: ModelChange) { #expect(infer(change) == nil) }

    @Test(.migrationGuide("Lightweight Migration: relationships"), arguments: ModelChange.relationships)
    func `A mapping is inferred for changes of relationships`(change: ModelChange) { #expect(infer(change) == nil) }

    @Test(.header("CoreDataErrors", "NSInferredMappingModelError"), arguments: ModelChange.refused)
    func `No mapping is inferred where nothing says what the values become: 134190`(change: ModelChange) {
        let error = infer(change)
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSInferredMappingModelError)
    }

    @Test(.source("Measured in public code for Apple's platforms (parity A3)"), arguments: ModelChange.widths)
    func `A mapping is inferred for a change of a number's width`(change: ModelChange) { #expect(infer(change) == nil) }

    @Test(.source("Measured in public code for Apple's platforms (parity A3)"), arguments: ModelChange.kinds)
    func `A mapping is inferred for a change between kinds of numbers`(change: ModelChange) {
        #expect(infer(change) == nil)
    }

    @Test(.source("Measured in public code for Apple's platforms (parity A17)"))
    func `A mapping is inferred where an attribute's renaming identifier names a new relationship`() {
        let change = ModelChange("") { isNew in
            let item = Sketch.entity("Item", []), other = Sketch.entity("Other", [])
            let attribute = Sketch.attribute(isNew ? "ownerName" : "owner")
            if isNew { attribute.renamingIdentifier = "owner" }
            item.properties = [attribute]
            if isNew { Sketch.relationship(item, "owner", .one, to: other) }
            return Sketch.model(item, other)
        }
        #expect(infer(change) == nil)
    }

    private static let automatic = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]

    /// Opens a store made with the old model with the new one.
    private func migrated(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel, _ fill: (Stack) -> Void) throws -> Stack {
        let stack = try Stack(.database, old)
        fill(stack)
        try stack.context.save()
        return try stack.reopened(new, options: Self.automatic)
    }

    @Test(.migrationGuide("Lightweight Migration"))
    func `An automatic migration keeps values and gives new attributes their default value`() throws {
        let stack = try migrated(Sketch.items(), Sketch.items([Sketch.attribute("new", default: "x")])) {
            $0.new("Item", ["name": "a", "number": 1])
        }
        let item = try stack.only("Item", in: stack.context)
        #expect(item.text("name") == "a" && item.int("number") == 1 && item.text("new") == "x")
    }

    @Test(.migrationGuide("Lightweight Migration: renaming identifiers"))
    func `An automatic migration keeps the values of what was renamed`() throws {
        let title = Sketch.attribute("title"), thing = Sketch.entity("Thing", [title, Sketch.attribute("number", .integer64AttributeType)])
        (title.renamingIdentifier, thing.renamingIdentifier) = ("name", "Item")
        let stack = try migrated(Sketch.items(), Sketch.model(thing)) { $0.new("Item", ["name": "a", "number": 1]) }
        #expect(try stack.only("Thing", in: stack.context).text("title") == "a")
    }

    @Test(.migrationGuide("Lightweight Migration: to-one to to-many"))
    func `An automatic migration keeps relationships that become to-many`() throws {
        func model(_ arity: Sketch.Arity) -> NSManagedObjectModel {
            let item = Sketch.entity("Item", []), other = Sketch.entity("Other", [Sketch.attribute("name")])
            Sketch.pair(Sketch.relationship(item, "others", arity, to: other), Sketch.relationship(other, "items", .many, to: item))
            return Sketch.model(item, other)
        }
        let stack = try migrated(model(.one), model(.many)) { $0.new("Item", ["others": $0.new("Other", ["name": "o"])]) }
        #expect(try stack.only("Item", in: stack.context).members("others").map { $0.text("name") } == ["o"])
    }

    @Test(.migrationGuide("Lightweight Migration"))
    func `An automatic migration gives what becomes required its default value where it was nil`() throws {
        let new = Sketch.items([Sketch.attribute("note", optional: false, default: "none")])
        let stack = try migrated(Sketch.items([Sketch.attribute("note")]), new) { $0.new("Item", ["name": "a"]) }
        #expect(try stack.only("Item", in: stack.context).text("note") == "none")
    }

    @Test(.source("Public reports of error 134110, \"Validation error missing attribute values on mandatory destination attribute\""))
    func `A required attribute without a default value fails the migration of objects`() throws {
        let error = failure {
            _ = try migrated(Sketch.items(), Sketch.items([Sketch.attribute("must", optional: false)])) { $0.new("Item") }
        }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSMigrationError)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSStoreUUIDKey"))
    func `After a migration the store's UUID is what it was`() throws {
        var uuid: String?
        let stack = try migrated(Sketch.items(), Sketch.items([Sketch.attribute("new")])) {
            $0.new("Item")
            uuid = $0.store.identifier
        }
        #expect(stack.store.identifier == uuid)
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSMigratePersistentStoresAutomaticallyOption"), arguments: StoreKind.files)
    func `Without the options a store of another version does not open`(kind: StoreKind) throws {
        let stack = try Stack(kind, Sketch.items())
        try stack.saved("Item")
        let error = failure { _ = try stack.reopened(Sketch.items([Sketch.attribute("new")])) }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A18)"))
    func `A store may go back to a version that it has left`() throws {
        let stack = try migrated(Sketch.items(), Sketch.items([Sketch.attribute("new")])) { $0.new("Item", ["name": "a"]) }
        let again = try stack.reopened(Sketch.items(), options: Self.automatic)
        #expect(try again.only("Item", in: again.context).text("name") == "a")
    }

    /// A manager between two versions, a store of the first one, and the URL for the second.
    private func manager(_ kind: StoreKind) throws -> (Stack, NSMigrationManager, NSMappingModel, URL) {
        let old = Sketch.items(), new = Sketch.items([Sketch.attribute("new", default: "x")]), stack = try Stack(kind, old)
        try stack.saved("Item", ["name": "a"])
        try stack.coordinator.remove(stack.store)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        return (stack, NSMigrationManager(sourceModel: old, destinationModel: new), mapping, stack.url.appendingPathExtension("new"))
    }

    private func migrate(_ stack: Stack, _ manager: NSMigrationManager, _ mapping: NSMappingModel, to url: URL) throws {
        try manager.migrateStore(
            from: stack.url, sourceType: stack.kind.type, options: nil, with: mapping, toDestinationURL: url,
            destinationType: stack.kind.type, destinationOptions: nil)
    }

    @Test(.migrationGuide("The Migration Process"), arguments: StoreKind.files)
    func `A migration manager writes the new version to another URL`(kind: StoreKind) throws {
        let (stack, manager, mapping, url) = try manager(kind)
        try migrate(stack, manager, mapping, to: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: manager.destinationModel)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let item = try stack.only("Item", in: context)
        #expect(item.text("name") == "a" && item.text("new") == "x")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A19)"))
    func `A manager that is cancelled before it begins throws what it was cancelled with`() throws {
        let (stack, manager, mapping, url) = try manager(.database)
        manager.cancelMigrationWithError(NSError(domain: "test", code: 7))
        #expect(failure { try migrate(stack, manager, mapping, to: url) }?.code == 7)
    }

    @Test(.reference("nsentitymapping/mappingtype"))
    func `An inferred mapping says what becomes of each entity`() throws {
        let old = Sketch.model(Sketch.entity("Same", []), Sketch.entity("Gone", []), Sketch.entity("Changed", []))
        let new = Sketch.model(Sketch.entity("Same", []), Sketch.entity("New", []), Sketch.entity("Changed", [Sketch.attribute("a")]))
        let mappings = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new).entityMappings ?? []
        func type(_ name: String) -> NSEntityMappingType? {
            mappings.first { ($0.destinationEntityName ?? $0.sourceEntityName) == name }?.mappingType
        }
        #expect(type("Same") == .copyEntityMappingType && type("Gone") == .removeEntityMappingType)
        #expect(type("New") == .addEntityMappingType && type("Changed") == .transformEntityMappingType)
    }

    @Test(.reference("nsentitymapping/attributemappings"))
    func `An inferred mapping has a mapping for each attribute`() throws {
        let old = Sketch.items(), new = Sketch.items([Sketch.attribute("new")])
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        #expect(Set(try #require(mapping.entityMappings?.first?.attributeMappings).compactMap(\.name)) == ["name", "number", "new"])
    }
}
