import Heartwood
import Synchronization

/// The selections of a store, by their entities.
final class SelectionCache: Sendable {
    private let made = Mutex<[[Int16]: RowSelection]>([:])

    func selection(_ entities: [BoundEntity], _ layout: PostgreSQLLayout) -> RowSelection {
        made.withLock { made in
            let id = entities.map(\.number)
            if let known = made[id] { return known }
            let selection = RowSelection(entities, layout, alias: "t")
            made[id] = selection
            return selection
        }
    }
}
