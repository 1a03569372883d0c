import Foundation
import SwiftData
import Testing

private let identifiers = Source.source(
    "Fatbobman, NSManagedObjectID and PersistentIdentifier: mastering data identifiers in Core Data and SwiftData",
    "https://fatbobman.com/en/posts/nsmanagedobjectid-and-persistentidentifier/")
private let saving = Source.source(
    "Hacking with Swift, How to save a SwiftData object",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-save-a-swiftdata-object")
private let finding = Source.source(
    "Hacking with Swift, How to find a SwiftData object by its identifier",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-find-a-swiftdata-object-by-its-identifier")

@Suite struct IdentifierQuestions {
    @Test(saving, arguments: StoreKind.allCases)
    func `A model's identifier is temporary until the first save, which gives it another one`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        let temporary = garden.id
        #expect(garden.id == temporary)
        try stack.context.save()
        #expect(garden.id != temporary)
        let permanent = garden.id
        garden.area = 3
        try stack.context.save()
        #expect(garden.id == permanent)
    }

    @Test(.reference("persistentidentifier/storeidentifier"), arguments: StoreKind.allCases)
    func `A saved model's identifier names its store, a temporary one names none`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), first = Garden(name: "Kew"), second = Garden(name: "Wisley")
        stack.context.insert(first)
        stack.context.insert(second)
        #expect(first.id.storeIdentifier == nil)
        try stack.context.save()
        #expect(first.id.storeIdentifier != nil && first.id.storeIdentifier == second.id.storeIdentifier)
    }

    @Test(.reference("modelcontainer/storeidentifier(forconfigurationnamed:)"), arguments: StoreKind.allCases)
    func `The container knows the store of an identifier by the configuration's name, and the name by the store`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let store = try #require(garden.id.storeIdentifier)
        #expect(stack.container.storeIdentifier(forConfigurationNamed: stack.configuration.name) == store)
        #expect(stack.container.configurationName(forStoreIdentifier: store) == stack.configuration.name)
        #expect(stack.container.configurationName(forStoreIdentifier: "none") == nil)
    }

    @Test(.reference("persistentidentifier/entityname"), arguments: StoreKind.allCases)
    func `An identifier names the model's entity, before the save and after it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), bed = Bed(number: 1)
        #expect(bed.id.entityName == "Bed")
        try stack.save(bed)
        #expect(bed.id.entityName == "Bed")
    }

    @Test(identifiers, arguments: StoreKind.allCases)
    func `Every context gives a stored model one identifier`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden, Garden(name: "Wisley"))
        let found = try stack.stored(Garden.self, by: SortDescriptor(\.name))
        #expect(found[0] !== garden && found[0].id == garden.id && found[0].id.hashValue == garden.id.hashValue)
        #expect(found[1].id != garden.id)
    }

    @Test(identifiers)
    func `A stored model has the same identifier at the next launch`() throws {
        let stack = try Stack(.database, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let again = try stack.reopened()
        #expect(try again.stored(Garden.self).map(\.id) == [garden.id])
        #expect((again.context.model(for: garden.id) as? Garden)?.name == "Kew")
    }

    @Test(identifiers, arguments: StoreKind.allCases)
    func `An identifier can be encoded, and finds its model after it was decoded`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(garden.id))
        #expect(decoded == garden.id && decoded.hashValue == garden.id.hashValue && Set([decoded, garden.id]).count == 1)
        #expect((stack.other().model(for: decoded) as? Garden)?.name == "Kew")
    }

    @Test(identifiers, arguments: StoreKind.allCases)
    func `An encoded identifier has a URI, an entity, a store and a primary key`(kind: StoreKind) throws {
        struct Form: Decodable {
            struct Parts: Decodable {
                let primaryKey: String, uriRepresentation: URL, isTemporary: Bool, storeIdentifier: String, entityName: String
            }
            let implementation: Parts
        }
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let parts = try JSONDecoder().decode(Form.self, from: JSONEncoder().encode(garden.id)).implementation
        #expect(parts.uriRepresentation.scheme == "x-coredata" && parts.uriRepresentation.host() == parts.storeIdentifier)
        #expect(parts.uriRepresentation.lastPathComponent == parts.primaryKey && parts.entityName == "Garden" && !parts.isTemporary)
    }

    @Test(
        .source(
            "Hacking with Swift, How to transfer an object between a background context and the main context",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-transfer-an-object-between-a-background-context-and-the-main-context"),
        arguments: StoreKind.allCases)
    func `An identifier goes to another task, which reads the model in a context of its own`(kind: StoreKind) async throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let (container, id) = (stack.container, garden.id)
        let name = await Task.detached { (ModelContext(container).model(for: id) as? Garden)?.name }.value
        #expect(name == "Kew")
    }

    @Test(.reference("persistentidentifier"), arguments: StoreKind.allCases)
    func `Identifiers have an order`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        for number in 1...12 { stack.context.insert(Bed(number: number)) }
        try stack.context.save()
        let ids = try stack.stored(Bed.self).map(\.id), sorted = ids.shuffled().sorted()
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) } && sorted == ids.sorted())
    }

    @Test(.reference("persistentidentifier/identifier(for:entityname:primarykey:)"))
    func `A store of the program's own makes identifiers of a store, an entity and a key`() throws {
        let id = try PersistentIdentifier.identifier(for: "shelf", entityName: "Garden", primaryKey: 7)
        #expect(id.storeIdentifier == "shelf" && id.entityName == "Garden")
        #expect(id == (try PersistentIdentifier.identifier(for: "shelf", entityName: "Garden", primaryKey: 7)))
        #expect(id != (try PersistentIdentifier.identifier(for: "shelf", entityName: "Garden", primaryKey: 8)))
        #expect(id != (try PersistentIdentifier.identifier(for: "other", entityName: "Garden", primaryKey: 7)))
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(id)) == id)
    }

    // MARK: Models by identifiers

    @Test(.reference("modelcontext/model(for:)"), arguments: StoreKind.allCases)
    func `model(for:) gives a model that the context has not read yet`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew", area: 3)
        try stack.save(garden)
        let other = stack.other(), found = try #require(other.model(for: garden.id) as? Garden)
        #expect(found.area == 3 && found.modelContext == other && found.id == garden.id)
    }

    @Test(.reference("modelcontext/model(for:)"), arguments: StoreKind.allCases)
    func `model(for:) gives the instance that the context has`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        #expect(stack.context.model(for: garden.id) === garden)
        let other = stack.other(), found = try #require(try other.fetch(FetchDescriptor<Garden>()).first)
        #expect(other.model(for: garden.id) === found)
    }

    @Test(finding, arguments: StoreKind.allCases)
    func `registeredModel(for:) gives a model only if the context has it`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        try stack.save(garden)
        let other = stack.other()
        #expect(other.registeredModel(for: garden.id) as Garden? == nil)
        let found = try other.fetch(FetchDescriptor<Garden>())
        #expect(other.registeredModel(for: garden.id) as Garden? === found[0])
    }

    @Test(.reference("modelcontext/registeredmodel(for:)"), arguments: StoreKind.allCases)
    func `registeredModel(for:) gives an inserted model by its temporary identifier`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), garden = Garden(name: "Kew")
        stack.context.insert(garden)
        #expect(stack.context.registeredModel(for: garden.id) as Garden? === garden)
        #expect(stack.context.registeredModel(for: garden.id) as Bed? == nil)
    }
}
