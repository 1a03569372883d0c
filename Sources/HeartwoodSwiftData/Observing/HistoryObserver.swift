import Foundation
import Heartwood
import Synchronization

/// Counts the commits to a container's stores that concern the program: those of some models, by some authors, by this process or another.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historyobserver
public final class HistoryObserver: Observable, Sendable {
    public let modelContainer: ModelContainer
    /// The classes whose changes count, with their subclasses; none for all.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose transactions count; none for all.
    public let authors: Set<String>

    private let registrar = ObservationRegistrar()
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "SwiftData.HistoryObserver")
    private let commits = Mutex<CommitObserver?>(nil)

    private struct State: Sendable {
        var count = 0
        var token: NSPersistentHistoryToken
    }

    /// - Parameters:
    ///   - historyTokens: the positions, by store, after which transactions count; nil for the newest.
    /// - Throws: `SwiftDataError.historyTokenExpired` for a token of another history, and where transactions after it are gone.
    public convenience init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [], authors: Set<String> = [],
        modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(historyTokens, observedModels, authors, modelContainer)
    }

    private init(
        _ tokens: [String: any HistoryToken]?, _ observedModels: [any PersistentModel.Type], _ authors: Set<String>, _ container: ModelContainer
    ) throws {
        self.modelContainer = container
        self.observedModels = observedModels
        self.authors = authors
        let newest = container.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        var positions = newest?.positions ?? [:]
        for (store, token) in tokens ?? [:] {
            if let position = (token as? DefaultHistoryToken)?.token.positions[store] { positions[store] = position }
        }
        state = Mutex(State(token: NSPersistentHistoryToken(positions)))
        if tokens != nil, try look() { state.withLock { $0.count = 1 } }
        let observer = container.container.persistentStoreCoordinator.observeCommits { [weak self] _, _ in self?.noteCommit() }
        commits.withLock { $0 = observer }
    }

    /// It rises with each group of commits that concern the program.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.count }
    }

    private func noteCommit() {
        queue.async { [weak self] in
            guard let self else { return }
            // Where the history after the token is gone, something has happened.
            guard (try? look()) ?? true else { return }
            registrar.withMutation(of: self, keyPath: \.eventCounter) { state.withLock { $0.count += 1 } }
        }
    }

    /// Reads the transactions since the last look.
    /// - Returns: whether one of them counts.
    private func look() throws -> Bool {
        let token = state.withLock { $0.token }
        let newest = modelContainer.container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        // Where the history after the token is gone, the next look begins with the newest.
        var next = newest ?? token
        defer { state.withLock { $0.token = next } }
        let observed = observedModels.compactMap { modelContainer.mapped.model.entitiesByName[Schema.entityName(of: $0)] }
        let transactions = try DefaultHistory.transactions(of: modelContainer, after: token)
        next = next.passing(transactions)
        return transactions.contains { transaction in
            guard authors.isEmpty || transaction.author.map(authors.contains) ?? false else { return false }
            guard !observedModels.isEmpty else { return true }
            return transaction.changes?.contains { change in observed.contains { change.changedObjectID.entity.isKindOf(entity: $0) } } ?? false
        }
    }
}
