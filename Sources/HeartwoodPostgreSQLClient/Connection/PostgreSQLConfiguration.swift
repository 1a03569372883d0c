/// Where the server is, and how connections behave.
package struct PostgreSQLConfiguration: Sendable {
    /// As psql takes it: a URL (`postgresql://…`), `key=value` pairs, or the name of a database. Empty: all comes from the environment. libpq
    /// adds service files, the password file and the variables `PG…`. It may hold a password, so nothing shows it.
    var connectionString: String { secret.text }
    private let secret: Secret
    /// The longest that a statement may take. nil: as long as it wants. A statement that takes longer is cancelled.
    package var statementTimeout: Duration?
    /// How long connecting may take, in seconds, where neither the connection string nor the environment says.
    package var connectTimeout = 10
    /// How long the server may take to give up a cancelled statement, before its connection counts as lost.
    package var cancelPatience = Duration.seconds(5)
    /// The most prepared statements of a connection. 0 prepares none, as some poolers need it.
    package var preparedMax = 256
    /// False runs each statement of a batch in a round trip of its own, as with a libpq before version 14.
    package var usesPipelines = true
    /// Called on the thread that waits, with the number of the server's process, each time that an answer has not come for `stallAfter`. A text that
    /// it returns says why the statement waits in vain: the statement is cancelled, and throws `unavailable` with the text.
    package var onStall: (@Sendable (Int32) -> String?)?
    package var stallAfter = Duration.seconds(2)
    /// What each new connection runs first, in one round trip.
    package var setUp: [PostgreSQLStatement] = []
    /// Gets notices, as warnings of statements are. Without it they are dropped.
    package var onNotice: (@Sendable (PostgreSQLNotice) -> Void)?

    package init(_ connectionString: String) { secret = Secret(text: connectionString) }
}

/// A text that no description shows, nor `dump`.
private struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String
    var description: String { "…" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
