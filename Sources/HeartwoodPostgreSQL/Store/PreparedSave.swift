import Foundation
internal import HeartwoodPostgreSQLClient

/// A store's part of a save over several stores, as a prepared transaction. Its name says whose it is: `heartwood STORE COORDINATOR SAVE`, each by
/// its identifier.
struct PreparedSave {
    let store: UUID
    let coordinator: UUID
    let group: UUID

    static let prefix = "heartwood"

    init(store: UUID, coordinator: UUID, group: UUID) { (self.store, self.coordinator, self.group) = (store, coordinator, group) }

    /// nil for a transaction of others.
    init?(name: String) {
        let words = name.split(separator: " "), identifiers = words.dropFirst().compactMap { UUID(uuidString: String($0)) }
        guard words.count == 4, words[0] == Self.prefix, identifiers.count == 3 else { return nil }
        self.init(store: identifiers[0], coordinator: identifiers[1], group: identifiers[2])
    }

    var name: String { "\(Self.prefix) \(store.uuidString) \(coordinator.uuidString) \(group.uuidString)" }

    private func statement(_ command: String) -> PostgreSQLStatement {
        PostgreSQLStatement("\(command) PREPARED\(SQLName.literal(name))", isPrepared: false)
    }

    /// The end of the transaction in place of its commit.
    var preparation: PostgreSQLStatement { PostgreSQLStatement("PREPARE TRANSACTION\(SQLName.literal(name))", isPrepared: false) }

    /// Commits the prepared transaction, or rolls it back. If it is gone, somebody has done that.
    func end(isCommitted: Bool, _ connection: PostgreSQLConnection) throws {
        do {
            try connection.execute(statement(isCommitted ? "COMMIT" : "ROLLBACK"))
        } catch let error where error.state == "42704" {}
    }
}
