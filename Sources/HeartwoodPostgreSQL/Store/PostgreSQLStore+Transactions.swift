import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore {
    /// The most times that a transaction runs because others were in its way, or its connection was lost.
    static let attemptsMax = 10
    /// How long a commit whose answer was lost is asked for.
    private static let patience = Duration.seconds(30)

    /// Runs a transaction until it is known to be committed, or to have failed.
    ///
    /// It runs again after a serialization failure, a deadlock, where another save took a unique value between the check and the write, and where no
    /// connection came about, for some four seconds. It also runs again where the connection was lost and the server has not committed: the server
    /// is asked for the transaction's number, and where the number does not tell, rows that only this transaction inserts do.
    /// - Parameters:
    ///   - attemptsMax: 1 for a transaction that cannot run twice.
    ///   - body: runs it whole, with the commit.
    /// - Returns: nil where the server answered the commit. Otherwise a number at or behind that of the transaction, which is committed.
    /// - Throws: the error of `body`; nothing is committed then. 134030 where the server cannot be asked: the message says so.
    func transact(
        _ loaded: Loaded, _ attemptsMax: Int = attemptsMax, _ body: (PostgreSQLConnection, TransactionTrace) throws -> Void
    ) throws -> Int64? {
        var attempt = 1, doubt: Doubt?
        while true {
            let trace = TransactionTrace()
            do {
                try loaded.pool.withConnection { try body($0, trace) }
                renewMark(behind: trace, loaded)
                return nil
            } catch {
                if let doubt, let number = try horizon(ifThere: doubt, loaded) { return number }
                guard let error = error as? PostgreSQLError else { throw error }
                if error.isConnectionLost, trace.isCommitting, !trace.isRepeatable {
                    switch try outcome(of: trace, loaded, error) {
                    case .committed(let number): return Int64(clamping: number)
                    case .rolledBack: break
                    case .unknown:
                        guard trace.newRow != nil else { throw unknown(error, trace.number, loaded) }
                        let new = Doubt(trace: trace, loss: error)
                        if trace.number != nil, let number = try horizon(ifThere: new, loaded) { return number }
                        doubt = new
                    }
                }
                guard error.mayPass, attempt < attemptsMax else { throw error }
                Self.pause(behind: error, attempt)
                attempt += 1
            }
        }
    }

    /// Waits before the next attempt, where no connection came about: the server may be about to start.
    static func pause(behind error: PostgreSQLError, _ attempt: Int) {
        guard error.kind == .cannotConnect else { return }
        // The server tells nobody that it is back.
        usleep(5_000 << UInt32(min(attempt, 8)))
    }

    /// A transaction whose outcome its number does not tell; a new row does.
    private struct Doubt {
        let trace: TransactionTrace
        let loss: PostgreSQLError
    }

    private enum Outcome {
        case committed(UInt64), rolledBack
        /// The number does not tell: it is not known, or another transaction may have got it after a crash.
        case unknown
    }

    /// What became of a transaction whose commit got no answer. It waits while the server is still at it.
    private func outcome(of trace: TransactionTrace, _ loaded: Loaded, _ loss: PostgreSQLError) throws -> Outcome {
        guard let number = trace.number else { return .unknown }
        return try patiently(loaded, loss, number) { connection in
            switch try connection.outcome(of: number) {
            // A number that another transaction has got belongs to one that is lost.
            case .rolledBack: .rolledBack
            case .running: nil
            case .forgotten: throw unknown(loss, number, loaded)
            case .committed: try loaded.layout.crashMark.isSame(as: trace.mark, connection) ? .committed(number) : .unknown
            }
        }
    }

    /// Makes a new mark behind a transaction that has found none.
    private func renewMark(behind trace: TransactionTrace, _ loaded: Loaded) {
        guard trace.number != nil, trace.mark == nil else { return }
        // Without a mark a lost commit is only harder to find out.
        try? loaded.readers.withConnection { try loaded.layout.crashMark.set($0) }
    }

    /// Asks over new connections until there is an answer.
    func patiently<Answer>(
        _ loaded: Loaded, _ loss: PostgreSQLError, _ number: UInt64?, _ ask: (PostgreSQLConnection) throws -> Answer?
    ) throws -> Answer {
        let end = ContinuousClock.now + Self.patience
        var pause: UInt32 = 1_000
        while ContinuousClock.now < end {
            do {
                if let answer = try loaded.readers.withConnection(ask) { return answer }
            } catch let error as PostgreSQLError where error.isConnectionLost || error.kind == .cannotConnect {}
            // The server tells nothing of a transaction's end, nor that it is back.
            usleep(pause)
            pause = min(2 * pause, 200_000)
        }
        throw unknown(loss, number, loaded)
    }

    /// Where the new row of a transaction is there: the number behind those that the server has given.
    private func horizon(ifThere doubt: Doubt, _ loaded: Loaded) throws -> Int64? {
        guard let row = doubt.trace.newRow else { return nil }
        let number = loaded.abilities.numbersTransactions ? "pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1" : "0::bigint"
        let statement = PostgreSQLStatement("SELECT \(number) FROM \(row.family.quoted) WHERE \(FamilyTable.number) = $1")
        var parameters = PostgreSQLParameters()
        parameters.addInt64(row.number)
        return try patiently(loaded, doubt.loss, nil) { connection -> Int64?? in
            let found = try connection.execute(statement, parameters)
            return .some(found.count == 0 ? nil : try found.int64(0, 0))
        }
    }

    private func unknown(_ loss: PostgreSQLError, _ number: UInt64?, _ loaded: Loaded) -> NSError {
        let name = number.map { "the transaction \($0)" } ?? "the transaction"
        return CoreDataError.make(
            NSPersistentStoreSaveError,
            "\(loaded.location.shown): the connection was lost while \(name) was committed, and the server cannot be asked whether it is "
                + "(\(loss.message)). Once the server is back, refresh the objects before they are saved again.",
            [NSUnderlyingErrorKey: loss, NSURLErrorKey: URL(string: loaded.location.shown) as Any])
    }
}

extension PostgreSQLError {
    /// Whether the same save may succeed when it runs again.
    var mayPass: Bool { isTransient || isUniqueViolation || isConnectionLost || kind == .cannotConnect }
}
