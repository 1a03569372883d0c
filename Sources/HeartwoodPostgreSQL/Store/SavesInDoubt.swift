import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The parts of saves over several stores that a store has prepared, and that nobody has ended: their savers are gone, or at it.
struct SavesInDoubt {
    private let location: StoreLocation

    init(_ location: StoreLocation) { self.location = location }

    /// The key of the row that says where a store is that decides.
    static func key(_ coordinator: UUID) -> String { "coordinator \(coordinator.uuidString)" }

    private static let found = PostgreSQLStatement(
        "SELECT gid FROM pg_prepared_xacts WHERE database = current_database() AND starts_with(gid, '\(PreparedSave.prefix) ') ORDER BY prepared",
        isPrepared: false)

    /// Asks the stores that decide, and ends each part as they say.
    /// - Returns: why some are left, a text each.
    /// - Complexity: one round trip where nothing is in doubt.
    func settle(_ connection: PostgreSQLConnection) throws -> [String] {
        let answer = try connection.execute(Self.found)
        guard answer.count > 0 else { return [] }
        let stored = try StoredSchema(connection, location)
        var left: [String] = []
        for line in 0..<answer.count {
            guard let save = PreparedSave(name: try answer.text(line, 0)), save.store == stored.identity else { continue }
            let place = stored.values[Self.key(save.coordinator)].map { String(decoding: $0, as: UTF8.self) }
            do {
                try save.end(isCommitted: try isDecided(save, place), connection)
            } catch where (error as NSError).code == NSPersistentStoreTimeoutError {
                // The saver is at it.
            } catch {
                left.append(
                    "\(location.shown): a part of a save over several stores is prepared in this store, and the store that decides about it, "
                        + "\(place ?? save.coordinator.uuidString), cannot be asked: \((error as NSError).localizedDescription) Make its server "
                        + "reachable. If it is lost for good, an administrator ends the part by ROLLBACK PREPARED '\(save.name)'.")
            }
        }
        return left
    }

    private func isDecided(_ save: PreparedSave, _ place: String?) throws -> Bool {
        guard let place, let url = URL(string: place) else {
            throw CoreDataError.make(NSPersistentStoreOpenError, "nothing says where it is.")
        }
        let question = OutsideQuestion(
            group: StoredUUID(bytes: save.group.uuid), coordinator: StoredUUID(bytes: save.coordinator.uuid), place: place, isFinal: true)
        return try PostgreSQLStore.hasDecided(question, at: url)
    }
}
