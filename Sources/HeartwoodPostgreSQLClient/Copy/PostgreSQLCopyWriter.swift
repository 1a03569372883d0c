/// The rows of a COPY to the server while they are made.
package struct PostgreSQLCopyWriter {
    private var copy: CopyIn
    /// Rows that are not sent yet.
    package var rows = PostgreSQLRows()

    private static let bytesMax = 64 << 10

    init(_ copy: CopyIn) { self.copy = copy }

    /// Whether there are enough bytes for a message.
    package var isFull: Bool { rows.bytes.count >= Self.bytesMax }

    /// Sends the bytes so far, which may end inside of a row.
    /// - Throws: `connectionLost`. An error of the server comes at the end of the COPY.
    package mutating func send() throws(PostgreSQLError) { try copy.send(&rows) }

    func finish(isGivenUp: Bool) throws(PostgreSQLError) -> Int { try copy.finish(isGivenUp: isGivenUp) }
}
