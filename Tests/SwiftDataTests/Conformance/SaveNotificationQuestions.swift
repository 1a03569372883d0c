import Foundation
import SwiftData
import Testing

/// What a save posts.
@Suite struct SaveNotificationQuestions {
    private final class Heard: @unchecked Sendable {
        // Unchecked: a save posts on the thread that saves, and that is the test's.
        var all: [Notification] = []
        private var tokens: [any NSObjectProtocol] = []

        init(_ context: ModelContext) {
            for name in [ModelContext.willSave, ModelContext.didSave] {
                tokens.append(NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] in all.append($0) })
            }
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

        func ids(_ key: ModelContext.NotificationKey) -> Set<PersistentIdentifier> {
            Set(all.last?.userInfo?[key.rawValue] as? [PersistentIdentifier] ?? [])
        }
    }

    @Test(.reference("modelcontext/didsave"), arguments: StoreKind.allCases)
    func `A save is announced before it and after it`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), heard = Heard(fleet.context)
        fleet.ships[0].name = "x"
        try fleet.context.save()
        #expect(heard.all.map(\.name) == [ModelContext.willSave, ModelContext.didSave])
        #expect(heard.all.allSatisfy { ($0.object as? ModelContext) === fleet.context })
    }

    @Test(.reference("modelcontext/willsave"), arguments: StoreKind.allCases)
    func `The announcement before a save has no user info`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), heard = Heard(fleet.context)
        fleet.ships[0].name = "x"
        try fleet.context.save()
        #expect(heard.all.first?.userInfo?.isEmpty ?? true)
    }

    @Test(.reference("modelcontext/notificationkey"), arguments: StoreKind.allCases)
    func `The announcement after a save has the identifiers that it changed`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), heard = Heard(fleet.context), gone = fleet.ships[2].persistentModelID
        let ship = Freighter("Elin", tonnage: 1, launched: day(5))
        fleet.context.insert(ship)
        fleet.ships[0].name = "x"
        fleet.context.delete(fleet.ships[2])
        try fleet.context.save()
        #expect(heard.ids(.insertedIdentifiers) == [ship.persistentModelID])
        #expect(heard.ids(.updatedIdentifiers).contains(fleet.ships[0].persistentModelID))
        #expect(heard.ids(.deletedIdentifiers) == [gone])
    }

    @Test(.reference("modelcontext/notificationkey/historytokens"), arguments: StoreKind.allCases)
    func `The announcement after a save has the history's tokens`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), heard = Heard(fleet.context)
        fleet.ships[0].name = "x"
        try fleet.context.save()
        let tokens = heard.all.last?.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue] as? [String: any HistoryToken]
        let last = try #require(fleet.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        #expect(tokens?[last.storeIdentifier] as? DefaultHistoryToken == last.token)
    }

    @Test(.reference("modelcontext/didsave"), arguments: StoreKind.allCases)
    func `A change that is made while a save is announced is saved with it`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        nonisolated(unsafe) let ship = fleet.ships[1]
        let token = NotificationCenter.default.addObserver(forName: ModelContext.willSave, object: fleet.context, queue: nil) { _ in
            ship.tonnage = 222
        }
        defer { NotificationCenter.default.removeObserver(token) }
        fleet.ships[0].name = "x"
        try fleet.context.save()
        #expect(!fleet.context.hasChanges)
        #expect(try ModelContext(fleet.container).fetchCount(FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage == 222 })) == 1)
    }

    @Test(.fatbobman("mastering-data-tracking-and-notifications-in-core-data-and-swiftdata"), arguments: StoreKind.allCases)
    func `Every context of a container is heard without naming one`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        nonisolated(unsafe) var contexts: [ModelContext] = []
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) {
            if let context = $0.object as? ModelContext { contexts.append(context) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        fleet.ships[0].name = "x"
        try fleet.context.save()
        other.insert(Freighter("Elin", tonnage: 1, launched: day(5)))
        try other.save()
        // Suites run side by side, and their contexts are heard too.
        #expect(contexts.filter { $0.container == fleet.container } == [fleet.context, other])
    }
}
