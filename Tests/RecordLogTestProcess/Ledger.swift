import RecordLog

/// A store in which every commit keeps an invariant, so that a state between commits is detected.
///
/// Table `account` has three rows: two balances that add up to `total`, and the number of commits. Table `entry` has one row for each commit, with
/// its number; every sixteenth has a large body, so that the commit takes several frames.
final class Ledger {
    /// A state that no commit made.
    struct Torn: Error {
        let what: String
    }

    let store: LogStore
    private let accounts: TableDefinition
    private let entries: TableDefinition
    private var builder = RowBuilder()

    private static let total: Int64 = 1_000_000
    private static let pieces = 3
    private static let filler = String(repeating: "f", count: 40_000)

    init(path: String, options: StoreOptions) throws {
        store = try LogStore.open(path: path, options: options)
        if let damage = store.damage { throw damage }
        if store.snapshot().catalog.table(named: "account") == nil, !options.isReadOnly { try Self.define(store) }
        let catalog = store.snapshot().catalog
        guard let accounts = catalog.table(named: "account"), let entries = catalog.table(named: "entry") else {
            throw Torn(what: "the tables are not there")
        }
        self.accounts = accounts
        self.entries = entries
    }

    private static func define(_ store: LogStore) throws {
        try store.write { transaction in
            let accounts = try transaction.defineTable(name: "account", columns: [("value", .int64)])
            let entries = try transaction.defineTable(name: "entry", columns: [("number", .int64), ("piece", .int64), ("text", .text)])
            let ids = entries.currentLayout.columns.map(\.id)
            _ = try transaction.defineIndex(named: "number", on: entries.id, parts: [IndexPart(column: ids[0], ascending: true)])
            let builder = RowBuilder()
            for value in [total, 0, 0] {
                builder.begin(accounts.currentLayout)
                builder.set(0, int64: value)
                let row = try transaction.newRow(in: accounts.id)
                try transaction.put(RowReference(table: accounts.id, row: row), body: builder.unsafeBody())
            }
        }
    }

    private func value(_ row: UnsafeRowView?) throws -> Int64 {
        guard let row else { throw Torn(what: "an account is not there") }
        return row.int64(accounts.currentLayout.access[0])
    }

    private func account(_ row: UInt64) -> RowReference { RowReference(table: accounts.id, row: row) }

    /// - Returns: the commit's number, after its save has returned.
    func commit() throws -> Int64 {
        try store.write { transaction in
            let number = try value(try transaction.unsafeRow(account(3))) + 1
            let first = try value(try transaction.unsafeRow(account(1))), second = try value(try transaction.unsafeRow(account(2)))
            let moved = (number * 7919) % 1000 - 400
            for (row, value) in [(UInt64(1), first - moved), (2, second + moved), (3, number)] {
                builder.begin(accounts.currentLayout)
                builder.set(0, int64: value)
                try transaction.put(account(row), body: builder.unsafeBody())
            }
            for piece in 0..<Self.pieces {
                builder.begin(entries.currentLayout)
                builder.set(0, int64: number)
                builder.set(1, int64: Int64(piece))
                builder.set(2, text: number % 16 == 0 ? Self.filler : "entry")
                let row = try transaction.newRow(in: entries.id)
                try transaction.put(RowReference(table: entries.id, row: row), body: builder.unsafeBody())
            }
            return number
        }
    }

    /// Checks that a snapshot is at a whole commit.
    /// - Parameter isWhole: whether to check every row and index entry.
    /// - Returns: the commit's number.
    func check(_ snapshot: Snapshot, isWhole: Bool) throws -> Int64 {
        let sum = try value(try snapshot.unsafeRow(account(1))) + value(try snapshot.unsafeRow(account(2)))
        guard sum == Self.total else { throw Torn(what: "the balances add up to \(sum)") }
        let number = try value(try snapshot.unsafeRow(account(3)))
        let count = Int(number) * Self.pieces
        guard snapshot.rowCount(entries.id) == count else {
            throw Torn(what: "\(snapshot.rowCount(entries.id)) entries after \(number) commits")
        }
        for row in max(1, count - Self.pieces)...max(1, count) where count > 0 { try check(snapshot, row: UInt64(row)) }
        guard try !snapshot.contains(RowReference(table: entries.id, row: UInt64(count) + 1)) else { throw Torn(what: "an entry too many") }
        guard isWhole else { return number }
        for row in stride(from: 1, through: count, by: 1) { try check(snapshot, row: UInt64(row)) }
        guard let index = snapshot.catalog.indexes(on: entries.id).first, try snapshot.count(index.id, .all) == count else {
            throw Torn(what: "the index has not \(count) entries")
        }
        return number
    }

    private func check(_ snapshot: Snapshot, row: UInt64) throws {
        let access = entries.currentLayout.access
        guard let view = try snapshot.unsafeRow(RowReference(table: entries.id, row: row)) else { throw Torn(what: "entry \(row) is not there") }
        let number = Int64((row - 1) / UInt64(Self.pieces)) + 1, piece = Int64((row - 1) % UInt64(Self.pieces))
        guard view.int64(access[0]) == number, view.int64(access[1]) == piece,
            view.bytes(access[2]).count == (number % 16 == 0 ? Self.filler.utf8.count : 5)
        else { throw Torn(what: "entry \(row) is another's") }
    }
}
