/// How a transaction begins.
package struct PostgreSQLTransaction: Sendable {
    package enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
        case serializable = "SERIALIZABLE"
    }

    package var isolation: Isolation?
    package var isReadOnly = false

    package init(_ isolation: Isolation? = nil, isReadOnly: Bool = false) {
        self.isolation = isolation
        self.isReadOnly = isReadOnly
    }

    /// The statement that begins it. A batch may begin with it.
    package var begin: PostgreSQLStatement {
        PostgreSQLStatement("BEGIN" + (isolation.map { " ISOLATION LEVEL \($0.rawValue)" } ?? "") + (isReadOnly ? " READ ONLY" : ""))
    }
}
