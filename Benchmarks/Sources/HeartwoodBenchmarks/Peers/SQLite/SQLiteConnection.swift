import CSQLite

/// One connection of SQLite's C API, with its prepared statements.
final class SQLiteConnection {
    private(set) var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func open(_ path: String) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw PeerError(description: "sqlite3_open failed") }
    }

    func close() {
        forgetStatements()
        sqlite3_close(database)
        database = nil
    }

    func forgetStatements() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
    }

    func execute(_ sql: String) throws {
        var message: UnsafeMutablePointer<CChar>?
        guard sqlite3_exec(database, sql, nil, nil, &message) == SQLITE_OK else {
            throw PeerError(description: message.map { String(cString: $0) } ?? "sqlite3_exec failed")
        }
    }

    /// A statement that is prepared once and reset at each use.
    func prepare(_ sql: String) throws -> OpaquePointer? {
        if let known = statements[sql] {
            sqlite3_reset(known)
            return known
        }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw PeerError(description: String(cString: sqlite3_errmsg(database)))
        }
        statements[sql] = statement
        return statement
    }

    func step(_ statement: OpaquePointer?) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw PeerError(description: String(cString: sqlite3_errmsg(database)))
        }
    }

    func text(_ statement: OpaquePointer?, _ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
    }

    /// Reads run inside one transaction, which is SQLite's best case.
    func reading(_ body: () throws -> UInt64) throws -> UInt64 {
        try execute("BEGIN")
        let result = try body()
        try execute("COMMIT")
        return result
    }
}
