import Foundation
import SwiftData
import Testing

@ModelActor actor Shipyard {
    func build(_ name: String, tonnage: Int = 1) throws -> PersistentIdentifier {
        let ship = Freighter(name, tonnage: tonnage, launched: day(1))
        modelContext.insert(ship)
        try modelContext.save()
        return ship.persistentModelID
    }

    func load(_ id: PersistentIdentifier, _ more: Int) throws {
        guard let ship = self[id, as: Freighter.self] else { return }
        ship.tonnage += more
        try modelContext.save()
    }

    func name(_ id: PersistentIdentifier) -> String? { self[id, as: Freighter.self]?.name }
    func isHarbour(_ id: PersistentIdentifier) -> Bool { self[id, as: Harbour.self] != nil }
    func names(_ descriptor: FetchDescriptor<Freighter>) throws -> [String] { try modelContext.fetch(descriptor).map(\.name) }
    func contextIsExecutors() -> Bool { modelExecutor.modelContext === modelContext }
    func hasOwnContext() -> Bool { modelContext.container == modelContainer && !modelContext.hasChanges }
    func leaveUnsaved() { modelContext.insert(Freighter("unsaved", tonnage: 1, launched: day(1))) }
    func isOnMainThread() -> Bool { Thread.isMainThread }
    func isIsolated() -> Bool { preconditionIsolated(); return true }
}

/// Written without the macro, with a context of its own making.
actor Dock: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor
    let title: String

    init(_ container: ModelContainer, title: String) {
        modelContainer = container
        let context = ModelContext(container)
        context.author = title
        modelExecutor = DefaultSerialModelExecutor(modelContext: context)
        self.title = title
    }

    func author() -> String? { modelContext.author }
    func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Freighter>()) }
}

/// Actors with contexts, and what goes from one to another.
@Suite struct ModelActorQuestions {
    private func stack(_ kind: StoreKind) throws -> Stack { try Stack(kind, Freighter.self, Harbour.self, Sailor.self, Voyage.self) }

    @Test(.reference("modelactor()"), arguments: StoreKind.allCases)
    func `The macro makes an actor of a container`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container, yard = Shipyard(modelContainer: container)
        #expect(yard.modelContainer == container)
        #expect(await yard.hasOwnContext())
        #expect(await yard.contextIsExecutors())
        #expect(await yard.isIsolated())
    }

    @Test(.useYourLoaf("swiftdata-background-tasks"), arguments: StoreKind.allCases)
    func `An actor is written by hand with a default executor`(kind: StoreKind) async throws {
        let stack = try stack(kind), dock = Dock(stack.container, title: "dock")
        #expect(await dock.author() == "dock")
        #expect(try await dock.count() == 0)
    }

    @Test(.useYourLoaf("swiftdata-background-tasks"), arguments: StoreKind.allCases)
    func `Identifiers lead from one actor's models to another's`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container
        let first = Shipyard(modelContainer: container), second = Shipyard(modelContainer: container)
        let id = try await first.build("Freya")
        #expect(await second.name(id) == "Freya")
        try await second.load(id, 4)
        try await first.load(id, 5)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Freighter>()).map(\.tonnage) == [10])
    }

    @Test(.reference("modelactor/subscript(_:as:)"), arguments: StoreKind.allCases)
    func `The subscript gives nil for a model of another class and for one that is gone`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container, yard = Shipyard(modelContainer: container)
        let id = try await yard.build("Freya")
        #expect(await !yard.isHarbour(id))
        let context = ModelContext(container)
        try context.delete(model: Freighter.self)
        try context.save()
        #expect(await yard.name(id) == nil)
    }

    @MainActor @Test(.useYourLoaf("swiftdata-background-tasks"), arguments: StoreKind.allCases)
    func `The main context sees what an actor has saved, and nothing else`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container, yard = Shipyard(modelContainer: container)
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Freighter>()) == 0)
        await yard.leaveUnsaved()
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Freighter>()) == 0)
        _ = try await yard.build("Freya")
        #expect(try container.mainContext.fetchCount(FetchDescriptor<Freighter>()) == 2)
    }

    @Test(.reference("fetchdescriptor"), arguments: StoreKind.allCases)
    func `A descriptor with a predicate and an order goes to an actor`(kind: StoreKind) async throws {
        let stack = try stack(kind), yard = Shipyard(modelContainer: stack.container)
        for (index, name) in ["c", "a", "b"].enumerated() { _ = try await yard.build(name, tonnage: index) }
        let descriptor = FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 0 }, sortBy: [SortDescriptor(\.name)])
        #expect(try await yard.names(descriptor) == ["a", "b"])
    }

    @Test(.reference("modelcontainer")) func `Containers, identifiers, schemas and descriptions may be sent`() {
        func takesSendable<T: Sendable>(_: T.Type) -> Bool { true }
        #expect(takesSendable(ModelContainer.self) && takesSendable(ModelConfiguration.self) && takesSendable(Schema.self))
        #expect(takesSendable(PersistentIdentifier.self) && takesSendable(FetchDescriptor<Freighter>.self) && takesSendable(EditingState.self))
        #expect(takesSendable(DefaultHistoryToken.self) && takesSendable(DefaultHistoryTransaction.self))
        #expect(takesSendable(DefaultSnapshot.self) && takesSendable(MigrationStage.self) && takesSendable(Schema.Version.self))
    }

    @Test(.brightDigit("swiftdata-sendable"), arguments: StoreKind.allCases)
    func `Actors at work at once lose nothing`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let yard = Shipyard(modelContainer: container)
                    for turn in 0..<5 { _ = try await yard.build("\(number).\(turn)") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Freighter>()) == 20)
    }

    @Test(.brightDigit("swiftdata-modelactor"), arguments: StoreKind.allCases)
    func `An actor made in a detached task runs off the main thread`(kind: StoreKind) async throws {
        let stack = try stack(kind), container = stack.container
        let isOnMain = await Task.detached { await Shipyard(modelContainer: container).isOnMainThread() }.value
        #expect(!isOnMain)
    }

    @MainActor @Test(.fatbobman("concurret-programming-in-swiftdata"), arguments: [StoreKind.inMemory])
    func `An actor made on the main thread runs there`(kind: StoreKind) async throws {
        let stack = try stack(kind), isOnMain = await Shipyard(modelContainer: stack.container).isOnMainThread()
        knownDifference("An actor runs on a queue of its own, wherever it is made, so that it never blocks the main thread.") { #expect(isOnMain) }
    }
}
