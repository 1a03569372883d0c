import Foundation
import SwiftData
import Testing

private let several = Source.source(
    "Hacking with Swift, How to add multiple configurations to a ModelContainer",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-add-multiple-configurations-to-a-modelcontainer")

@Suite struct ContainerQuestions {
    @Test(.wwdc(2023, 10187, "Meet SwiftData, ModelContainer"), arguments: StoreKind.allCases)
    func `A container has the classes that relationships of its classes lead to`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self), names = Set(stack.container.schema.entities.map(\.name))
        #expect(names == ["Garden", "Bed", "Plant", "Sign", "Note", "Gardener"])
        try stack.save(Note(text: "n"))
        #expect(try stack.count(Note.self) == 1)
    }

    @Test(.reference("modelcontainer"))
    func `Saved models are there when the container is made again`() throws {
        let stack = try Stack(.database, Garden.self)
        try stack.save(Bed(number: 1, garden: Garden(name: "Kew")))
        #expect(try stack.reopened().stored(Garden.self).map { $0.beds.map(\.number) } == [[1]])
    }

    @Test(.reference("modelconfiguration/isstoredinmemoryonly"))
    func `A store in memory is empty when the container is made again, and shared by no other container`() throws {
        let stack = try Stack(.inMemory, Garden.self)
        try stack.save(Garden(name: "Kew"))
        #expect(try Stack(.inMemory, Garden.self).count(Garden.self) == 0)
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(
        .source(
            "Hacking with Swift, How to access a SwiftData container from widgets",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-access-a-swiftdata-container-from-widgets"))
    func `Two containers over one file see each other's saves`() throws {
        let first = try Stack(.database, Garden.self), second = try first.reopened()
        try first.save(Garden(name: "Kew"))
        #expect(try second.count(Garden.self) == 1)
        try second.save(Garden(name: "Wisley"))
        #expect(try first.context.fetchCount(FetchDescriptor<Garden>()) == 2)
    }

    @Test(.reference("modelcontainer/configurations"), arguments: StoreKind.allCases)
    func `A container tells its configurations, its schema and its migration plan`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(stack.container.configurations == [stack.configuration] && stack.container.migrationPlan == nil)
        #expect(stack.container.schema == Schema([Garden.self]))
    }

    @Test(.reference("modelcontainer"), arguments: StoreKind.allCases)
    func `A container is equal to itself alone, and may be used by any task`(kind: StoreKind) async throws {
        let stack = try Stack(kind, Garden.self), container = stack.container
        #expect(try container == container && container != Stack(kind, Garden.self).container)
        try await Task.detached {
            let context = ModelContext(container)
            context.insert(Garden(name: "Kew"))
            try context.save()
        }.value
        #expect(try stack.count(Garden.self) == 1)
    }

    @Test(.reference("modelcontainer/erase()"), arguments: StoreKind.allCases)
    func `erase() removes all models of all classes`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        try stack.save(Bed(number: 1, garden: Garden(name: "Kew")), Note(text: "n"))
        try stack.container.erase()
        #expect(try stack.count(Garden.self) == 0 && stack.count(Bed.self) == 0 && stack.count(Note.self) == 0)
    }

    @Test(.reference("modelcontainer/erase()"))
    func `What was erased is gone at the next launch`() throws {
        let stack = try Stack(.database, Garden.self)
        try stack.save(Garden(name: "Kew"))
        try stack.container.erase()
        #expect(try stack.reopened().count(Garden.self) == 0)
    }

    @Test(
        .source(
            "Hacking with Swift, Common SwiftData errors and their solutions",
            "https://www.hackingwithswift.com/quick-start/swiftdata/common-swiftdata-errors-and-their-solutions"),
        arguments: StoreKind.allCases)
    func `A fetch of a class that the container does not have throws`(kind: StoreKind) throws {
        let stack = try Stack(kind, Garden.self)
        #expect(throws: (any Error).self) { try stack.context.fetch(FetchDescriptor<Pond>()) }
        #expect(throws: (any Error).self) { try stack.context.fetchCount(FetchDescriptor<Pond>()) }
    }

    // MARK: Several configurations

    private func twoStores(_ folder: TemporaryFolder) throws -> ModelContainer {
        try ModelContainer(
            for: Garden.self, Pond.self,
            configurations: ModelConfiguration("gardens", schema: Schema([Garden.self]), url: folder.url.appending(path: "gardens.store")),
            ModelConfiguration("ponds", schema: Schema([Pond.self]), url: folder.url.appending(path: "ponds.store")))
    }

    @Test(several)
    func `Each configuration has the models of its schema in a store of its own`() throws {
        let folder = try TemporaryFolder(), container = try twoStores(folder), context = ModelContext(container)
        let garden = Garden(name: "Kew"), pond = Pond(depth: 2)
        context.insert(garden)
        context.insert(pond)
        try context.save()
        #expect(garden.id.storeIdentifier == container.storeIdentifier(forConfigurationNamed: "gardens"))
        #expect(pond.id.storeIdentifier == container.storeIdentifier(forConfigurationNamed: "ponds"))
        let alone = try ModelContainer(for: Pond.self, configurations: ModelConfiguration(url: folder.url.appending(path: "ponds.store")))
        #expect(try ModelContext(alone).fetch(FetchDescriptor<Pond>()).map(\.depth) == [2])
    }

    @Test(several)
    func `One context fetches from the stores of all configurations`() throws {
        let folder = try TemporaryFolder(), container = try twoStores(folder), context = ModelContext(container)
        context.insert(Garden(name: "Kew"))
        context.insert(Pond(depth: 2))
        try context.save()
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<Garden>()) == 1 && other.fetchCount(FetchDescriptor<Pond>()) == 1)
        try container.erase()
        #expect(try other.fetchCount(FetchDescriptor<Garden>()) == 0 && other.fetchCount(FetchDescriptor<Pond>()) == 0)
    }

    @Test(several)
    func `One configuration may be on disk and another one in memory, without names`() throws {
        let folder = try TemporaryFolder(), file = folder.url.appending(path: "default.store")
        let disk = ModelConfiguration(schema: Schema([Garden.self]), url: file)
        let memory = ModelConfiguration(for: Pond.self, isStoredInMemoryOnly: true)
        do {
            let context = ModelContext(try ModelContainer(for: Garden.self, Pond.self, configurations: disk, memory))
            context.insert(Garden(name: "Kew"))
            context.insert(Pond(depth: 2))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<Pond>()) == 1)
        }
        let context = ModelContext(try ModelContainer(for: Garden.self, Pond.self, configurations: disk, memory))
        #expect(try context.fetchCount(FetchDescriptor<Garden>()) == 1 && context.fetchCount(FetchDescriptor<Pond>()) == 0)
    }

    @Test(several)
    func `Two configurations without names may both be in memory`() throws {
        let container = try ModelContainer(
            for: Garden.self, Pond.self, configurations: ModelConfiguration(for: Garden.self, isStoredInMemoryOnly: true),
            ModelConfiguration(for: Pond.self, isStoredInMemoryOnly: true))
        let context = ModelContext(container), garden = Garden(name: "Kew"), pond = Pond(depth: 2)
        context.insert(garden)
        context.insert(pond)
        try context.save()
        #expect(container.configurations.count == 2 && garden.id.storeIdentifier != pond.id.storeIdentifier)
    }

    @Test(.wwdc(2023, 10196, "Dive deeper into SwiftData, configuring persistence"))
    func `Configurations may be told apart by their URLs alone`() throws {
        let folder = try TemporaryFolder(), container = try ModelContainer(
            for: Schema([Garden.self, Pond.self]),
            configurations: ModelConfiguration(schema: Schema([Garden.self]), url: folder.url.appending(path: "a.store")),
            ModelConfiguration(schema: Schema([Pond.self]), url: folder.url.appending(path: "b.store")))
        let context = ModelContext(container)
        context.insert(Pond(depth: 2))
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Pond>()) == 1)
    }
}
