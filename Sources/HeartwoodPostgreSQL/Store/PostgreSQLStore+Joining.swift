import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog
import Synchronization

/// Saves over this store and others.
///
/// The store that decides runs its save up to the commit, with the decision as one of its rows; then the others prepare; then it commits. From before
/// the first is prepared until the end its transaction holds the decision's key, so a client that asks meanwhile waits, and gets the answer.
extension PostgreSQLStore: JoiningStore {
    /// A store whose server takes no prepared transactions can only decide.
    package var joiningOrder: String { (loaded?.abilities.preparesTransactions == true ? "1" : "0") + (identifier ?? "") }

    package func checkCanPrepare() throws {
        let loaded = try open()
        guard !loaded.abilities.preparesTransactions else { return }
        throw CoreDataError.unsupported(
            "\(loaded.location.shown): nothing was saved. A save over several PostgreSQL stores is atomic by prepared transactions, which this server "
                + "does not take: its setting max_prepared_transactions is 0. Set it to the number of such saves at once, at least, and restart the "
                + "server; or save the changes of each store by itself.")
    }

    private func identity(_ loaded: Loaded) throws -> UUID {
        guard let identity = identifier.flatMap(UUID.init(uuidString:)) else {
            throw CoreDataError.unsupported("\(loaded.location.shown): the store's identifier is no UUID, so no other store can name it in a save.")
        }
        return identity
    }

    // MARK: Deciding

    package func decide(_ batch: SaveBatch, _ body: (JointSave) throws -> Void) throws {
        try saving(batch) { run in
            var attempt = 1
            while true {
                var joint: JointSave?
                do {
                    try run.loaded.pool.withConnection { connection in
                        let made = try jointSave(run.loaded, connection)
                        joint = made
                        try decide(made, run, connection, body)
                    }
                    return nil
                } catch let error as PostgreSQLError where error.mayPass && joint?.isRefused != false && attempt < Self.attemptsMax {
                    Self.pause(behind: error, attempt)
                    attempt += 1
                }
            }
        }
    }

    private func decide(_ joint: JointSave, _ run: SaveRun, _ connection: PostgreSQLConnection, _ body: (JointSave) throws -> Void) throws {
        let decision = Decision(joint.group, run.loaded.location), trace = TransactionTrace()
        trace.ending = try decision.making()
        try run.attempt(connection, trace)
        try body(joint)
        // Every store has the commit now. A row that stays costs its bytes.
        _ = try? run.loaded.readers.withConnection { try decision.forget($0) }
    }

    private func jointSave(_ loaded: Loaded, _ connection: PostgreSQLConnection) throws -> JointSave {
        let group = UUID(), decision = Decision(group, loaded.location)
        return JointSave(group: group, coordinator: try identity(loaded), place: loaded.location.shown) { [self] in
            do {
                try connection.commit()
                return .committed
            } catch {
                guard let error = error as? PostgreSQLError, error.isConnectionLost else { return .refused(error) }
                do {
                    let isMade = try patiently(loaded, error, nil) { try decision.settled($0) }
                    return isMade ? .committed : .refused(error)
                } catch { return .unknown(error) }
            }
        }
    }

    // MARK: Preparing

    package func prepare(_ batch: SaveBatch, _ joint: JointSave, _ body: () throws -> Void) throws {
        try saving(batch, isPart: true) { run in
            let loaded = run.loaded, save = PreparedSave(store: try identity(loaded), coordinator: joint.coordinator, group: joint.group)
            try notePlace(of: joint, loaded)
            try loaded.pool.withConnection { connection in
                let trace = TransactionTrace()
                var ending = PostgreSQLBatch()
                ending.add(save.preparation)
                trace.ending = ending
                do {
                    try run.attempt(connection, trace)
                    try body()
                } catch {
                    if trace.isCommitting { settle(save, joint, loaded, connection) }
                    throw error
                }
                try complete(save, loaded, connection)
            }
            return nil
        }
    }

    /// Notes where the store is that decides: the name of a prepared transaction has no room for it.
    private func notePlace(of joint: JointSave, _ loaded: Loaded) throws {
        let known = notedPlaces.withLock { $0[joint.coordinator] }
        guard known != joint.place else { return }
        var batch = PostgreSQLBatch()
        try StoreTables.set([SavesInDoubt.key(joint.coordinator): Data(joint.place.utf8)], in: loaded.location, to: &batch)
        _ = try loaded.readers.withConnection { try $0.execute(batch) }
        notedPlaces.withLock { $0[joint.coordinator] = joint.place }
    }

    /// Commits what is prepared. The save is decided, so this goes on until the server has done it.
    private func complete(_ save: PreparedSave, _ loaded: Loaded, _ connection: PostgreSQLConnection) throws {
        do {
            try save.end(isCommitted: true, connection)
        } catch let error as PostgreSQLError {
            do {
                try patiently(loaded, error, nil) { try save.end(isCommitted: true, $0) }
            } catch {
                settleLater()
                throw CoreDataError.make(
                    NSPersistentStoreSaveError,
                    "\(loaded.location.shown): the save is decided, and this store has prepared its part, but its server cannot be reached to complete "
                        + "it. A program that opens the store completes it. Refresh the objects before they are saved again.",
                    [NSUnderlyingErrorKey: error])
            }
        }
    }

    /// Does with a prepared part what was decided, if that is known.
    private func settle(_ save: PreparedSave, _ joint: JointSave, _ loaded: Loaded, _ connection: PostgreSQLConnection) {
        guard joint.isCommitted || joint.isRefused else { return settleLater() }
        do {
            guard connection.isOpen else {
                // The server may be at the preparation still.
                settleLater()
                return try loaded.readers.withConnection { try save.end(isCommitted: joint.isCommitted, $0) }
            }
            if connection.transactionState != .idle { try connection.rollback() }
            try save.end(isCommitted: joint.isCommitted, connection)
        } catch { settleLater() }
    }

    /// Asks for the decision from time to time, until nothing of this store is in doubt.
    private func settleLater() {
        Thread.detachNewThread { [weak self] in
            var quiet = 0
            while quiet < Self.quietLooks {
                // The server tells nobody that it is back, nor that it has prepared a transaction whose connection was lost.
                usleep(1_000_000)
                guard let self, let loaded = try? open() else { return }
                let left = try? loaded.readers.withConnection { try SavesInDoubt(loaded.location).settle($0) }
                if left?.isEmpty == true { quiet += 1 }
                noteChange()
            }
        }
    }

    /// So many looks that find nothing end the looking.
    private static let quietLooks = 5

    // MARK: Asking

    package static func isPlace(_ url: URL) -> Bool { StoreLocation.isPlace(url) }

    package static func hasDecided(_ question: OutsideQuestion, at url: URL) throws -> Bool {
        let coordinator = UUID(uuid: question.coordinator.bytes)
        // A store that this program has open may have a password that the place lacks.
        let location = try OpenStores.location(of: coordinator) ?? StoreLocation(url)
        return try withConnection(location, NSPersistentStoreOpenError) { connection in
            guard try StoredSchema(connection, location).identity == coordinator else {
                throw CoreDataError.make(NSPersistentStoreOpenError, "\(location.shown): another store is there")
            }
            let decision = Decision(UUID(uuid: question.group.bytes), location)
            guard question.isFinal else { return try decision.isMade(connection) }
            guard let answer = try decision.settled(connection) else {
                throw CoreDataError.make(NSPersistentStoreTimeoutError, "\(location.shown): the save is under way; try again")
            }
            return answer
        }
    }

    /// Why a statement that has waited for a while waits in vain: a part of a save is prepared, and nobody can be asked about it. Settles the parts
    /// that somebody can be asked about.
    /// - Parameter process: the server's, that runs the statement.
    func hindrance(of process: Int32) -> String? {
        guard let loaded, loaded.abilities.preparesTransactions else { return nil }
        let reason = try? loaded.readers.withConnection { connection -> String? in
            guard let left = try SavesInDoubt(loaded.location).settle(connection).first else { return nil }
            var parameters = PostgreSQLParameters()
            parameters.addInt32(process)
            // The server names a prepared transaction by the process 0.
            return try connection.execute("SELECT 0 = ANY (pg_blocking_pids($1))", parameters).bool(0, 0) ? left : nil
        }
        return reason ?? nil
    }
}
