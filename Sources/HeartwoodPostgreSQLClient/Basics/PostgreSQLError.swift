/// An error of the client, of the network or of the server. No secret of a connection string is in it.
package struct PostgreSQLError: Error, CustomStringConvertible, Sendable {
    package enum Kind: Sendable {
        /// The system has no libpq.
        case noLibrary
        /// The connection string cannot be read.
        case badConnectionString
        /// No connection came about: the server is down, refuses, or does not answer in time.
        case cannotConnect
        /// The connection broke. The client does not know how far the server came.
        case connectionLost
        /// The server refused a statement. `state` says why.
        case server
        /// The statement took longer than the connection's limit, and was cancelled.
        case timedOut
        /// The caller cancelled the statement.
        case cancelled
        /// A value cannot be sent: a text with U+0000, or more bytes than the protocol takes.
        case badValue
        /// The server's answer is none that the caller can take.
        case badAnswer
        /// The pool or the connection was closed, no connection became free in time, or the statement waited in vain.
        case unavailable
    }

    /// What the server says beside its message. Each part is nil where the server left it out.
    package struct Particulars: Sendable {
        package var detail: String?
        package var hint: String?
        package var schema: String?
        package var table: String?
        package var column: String?
        package var constraint: String?
        /// The server's function, which no language translates.
        package var routine: String?
        /// The position in the statement's text, in characters from 1.
        package var position: Int?

        package init() {}
    }

    // One reference: a typed throw then returns in a register.
    private final class Fields: Sendable {
        let kind: Kind
        let state: String
        let message: String
        let particulars: Particulars
        let statement: Int

        init(_ kind: Kind, _ state: String, _ message: String, _ particulars: Particulars, _ statement: Int) {
            self.kind = kind
            self.state = state
            self.message = message
            self.particulars = particulars
            self.statement = statement
        }
    }

    private let fields: Fields

    /// - Parameter statement: the statement's place in its batch.
    package init(_ kind: Kind, _ message: String, state: String = "", particulars: Particulars = Particulars(), statement: Int = 0) {
        fields = Fields(kind, state, message, particulars, statement)
    }

    package var kind: Kind { fields.kind }
    /// The server's SQLSTATE of five characters. Empty where no server answered.
    package var state: String { fields.state }
    package var message: String { fields.message }
    package var detail: String? { fields.particulars.detail }
    package var constraint: String? { fields.particulars.constraint }
    package var particulars: Particulars { fields.particulars }
    /// The place in its batch of the statement that failed, from 0.
    package var statement: Int { fields.statement }

    /// True if the connection serves no further statement.
    package var isConnectionLost: Bool { kind == .connectionLost }

    /// True if the same transaction may succeed when it runs again: a serialization failure, a deadlock, or plans that were made before a change
    /// of the schema.
    package var isTransient: Bool { state == "40001" || state == "40P01" || isStalePlan }

    /// True if the server has changed or lost a prepared statement. The connection prepares its statements anew after that.
    var isStalePlan: Bool { state == "26000" || state == "0A000" && particulars.routine == "RevalidateCachedQuery" }

    package var isUniqueViolation: Bool { state == "23505" }
    package var isForeignKeyViolation: Bool { state == "23503" }

    package var description: String {
        var text = state.isEmpty ? message : "\(message) (SQLSTATE \(state))"
        if let detail { text += " Detail: \(detail)" }
        if let hint = particulars.hint { text += " Hint: \(hint)" }
        return text
    }
}
