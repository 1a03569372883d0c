/// The text of a statement, with its hash. A connection finds the prepared statement by it, so callers keep statements rather than make them anew.
package struct PostgreSQLStatement: Hashable, Sendable {
    package let text: String
    private let hash: Int
    /// False for a statement that runs seldom: the connection then keeps no plan of it.
    package let isPrepared: Bool
    /// Whether the text contains U+0000, with which no statement reaches the server.
    let hasZeroByte: Bool

    package init(_ text: String, isPrepared: Bool = true) {
        self.text = text
        self.isPrepared = isPrepared
        hash = text.hashValue
        hasZeroByte = text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.text == b.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    package static let commit = PostgreSQLStatement("COMMIT")
    package static let rollback = PostgreSQLStatement("ROLLBACK")
}

extension PostgreSQLStatement: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self.init(value) }
}
