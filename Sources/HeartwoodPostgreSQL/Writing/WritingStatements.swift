internal import HeartwoodPostgreSQLClient
import Synchronization

/// The statements of a layout's saves, each made once.
final class WritingStatements: Sendable {
    enum Key: Hashable {
        /// The beginning of a transaction.
        case beginning(isNumbered: Bool)
        /// A lock of rows of a table.
        case lock(table: String, isOne: Bool)
        /// The places are those of the fields that get values.
        case insertion(entity: Int16, places: [Int], isOne: Bool)
        case update(entity: Int16, places: [Int], isOne: Bool)
    }

    /// A program writes few sets of columns; one that writes more gets these made anew.
    private static let countMax = 256
    private let made = Mutex<[Key: PostgreSQLStatement]>([:])

    func statement(_ key: Key, _ text: () -> String) -> PostgreSQLStatement {
        if let known = made.withLock({ $0[key] }) { return known }
        let statement = PostgreSQLStatement(text())
        made.withLock { if $0.count < Self.countMax { $0[key] = statement } }
        return statement
    }
}
