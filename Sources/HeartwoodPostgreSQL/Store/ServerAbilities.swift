import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The abilities of a server that not every server of PostgreSQL's protocol has.
struct ServerAbilities: Sendable {
    /// As "PostgreSQL 15.18".
    let product: String
    /// Whether keys are checked when a transaction commits, so that a save writes rows in any order.
    let defersKeys: Bool
    /// Whether a transaction tells its number in 64 bits, which the history and a lost commit need: from version 13 on.
    let numbersTransactions: Bool
    /// Whether notifications of other processes arrive. A pooler in transaction mode does not say that it lacks them.
    let listens: Bool
    /// Whether transactions are prepared (`max_prepared_transactions`), which a save over several stores needs.
    let preparesTransactions: Bool
    /// Whether the server is a standby, or takes transactions that read only.
    let isReadOnly: Bool

    /// Servers that are named in their version or in a parameter, and have no deferrable keys.
    private static let others = [(mark: "CockroachDB", listens: false), (mark: "YB-", listens: true), (mark: "Yugabyte", listens: true)]

    private static let questions = PostgreSQLStatement(
        """
        SELECT version(), coalesce(current_setting('max_prepared_transactions', true), '0'),
            EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'pg_current_xact_id'),
            coalesce(current_setting('default_transaction_read_only', true), 'off') = 'on', pg_is_in_recovery()
        """, isPrepared: false)

    /// Asks the server, in one round trip.
    init(_ connection: PostgreSQLConnection) throws {
        let answer = try connection.execute(Self.questions)
        let version = try answer.text(0, 0), prepared = Int(try answer.text(0, 1)) ?? 0
        let other = Self.others.first { version.contains($0.mark) }
        product = Self.product(version)
        defersKeys = other == nil
        listens = other?.listens ?? true
        numbersTransactions = try answer.bool(0, 2)
        preparesTransactions = prepared > 0
        isReadOnly = try answer.bool(0, 3) || answer.bool(0, 4)
    }

    /// The oldest version that has all functions of the store's statements.
    private static let versionMin = 110_000

    /// - Parameter version: as libpq gives it.
    /// - Throws: 134080 that names what the server lacks and a store needs.
    func check(version: Int, recordsHistory: Bool, _ location: StoreLocation) throws {
        let lacks = version < Self.versionMin ? "is older than version 11, which a store needs"
            : !defersKeys ? "has no deferrable keys, and a save writes rows in any order"
            : recordsHistory && !numbersTransactions ? "does not tell the numbers of transactions in 64 bits, which a history needs (version 13)" : nil
        guard let lacks else { return }
        throw CoreDataError.make(NSPersistentStoreOpenError, "\(location.shown): the server, \(product), \(lacks).")
    }

    /// The first words of a version's text, up to the number.
    private static func product(_ version: String) -> String {
        let words = version.split(separator: " ")
        guard let number = words.firstIndex(where: { $0.first?.isNumber ?? false }) else { return words.prefix(2).joined(separator: " ") }
        return words[...number].joined(separator: " ")
    }

    /// The abilities in words, for people.
    var names: [String] {
        [
            (defersKeys, "deferrable keys"), (numbersTransactions, "transaction numbers"), (listens, "notifications"),
            (preparesTransactions, "prepared transactions"),
        ].filter(\.0).map(\.1) + (isReadOnly ? ["read only"] : [])
    }
}
