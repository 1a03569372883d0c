import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// One state of a store: a transaction of a connection of its own, which reads only and sees what was committed when it began.
///
/// The server keeps the rows of that state until the last user lets go. If the connection is lost, so is the state.
final class PinnedState: Sendable {
    private let connection: PostgreSQLConnection
    private let shown: String
    private let turn = NSLock()

    init(_ location: StoreLocation, _ layout: PostgreSQLLayout) throws {
        shown = location.shown
        do {
            connection = try PostgreSQLConnection(PostgreSQLConfiguration(location.connection))
            var first = PostgreSQLBatch()
            first.add(PostgreSQLTransaction(.repeatableRead, isReadOnly: true).begin)
            // The first statement that reads decides which state it is.
            first.add(PostgreSQLStatement("SELECT 1 WHERE \(layout.isCurrent)"))
            try connection.execute(first)
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreOperationError, location.shown)
        }
    }

    deinit { connection.close() }

    /// Ends the state for all its users: the store is removed.
    func end() { turn.withLock { connection.close() } }

    func read(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws -> PostgreSQLResult {
        do {
            return try turn.withLock { try connection.execute(statement, parameters) }
        } catch let error as PostgreSQLError where error.isConnectionLost || error.state == "25P02" {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "\(shown): the state that the context is pinned to is gone with its connection (\(error.message)). Set another query generation.",
                [NSUnderlyingErrorKey: error])
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreOperationError, shown)
        }
    }
}
