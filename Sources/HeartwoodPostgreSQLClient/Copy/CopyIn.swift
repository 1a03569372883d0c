internal import Foundation

/// One COPY to the server: begin, send, finish.
struct CopyIn {
    private let connection: PostgreSQLConnection
    private let deadline: ContinuousClock.Instant?
    private var hasHead = false

    /// Source: "Binary Format" of COPY in PostgreSQL's documentation: a signature, flags, the length of an extension.
    private static let head = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
    /// In place of a row's count of columns: -1.
    private static let end: [UInt8] = [0xFF, 0xFF]

    init(_ connection: PostgreSQLConnection, _ deadline: ContinuousClock.Instant?) {
        self.connection = connection
        self.deadline = deadline
    }

    private var library: LibPQ { connection.library }

    func begin(_ sql: String) throws(PostgreSQLError) {
        try connection.beginCopy(sql, LibPQStatus.copyIn, deadline)
    }

    /// Sends the rows and takes them out of `rows`.
    mutating func send(_ rows: inout PostgreSQLRows) throws(PostgreSQLError) {
        if !hasHead { try put(Self.head) }
        hasHead = true
        try put(rows.bytes)
        rows.bytes.removeAll(keepingCapacity: true)
    }

    /// A message takes less than a gigabyte. Rows may lie over several.
    private static let messageBytesMax = 1 << 20

    private func put(_ bytes: [UInt8]) throws(PostgreSQLError) {
        for start in stride(from: 0, to: bytes.count, by: Self.messageBytesMax) {
            let range = start..<min(bytes.count, start + Self.messageBytesMax)
            let done = bytes.withUnsafeBytes { all in
                let piece = UnsafeRawBufferPointer(rebasing: all[range])
                return library.putCopyData(connection.handle, piece.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(piece.count))
            }
            guard done == 1 else { throw connection.lost() }
            try connection.flush(deadline)
        }
    }

    /// - Parameter isGivenUp: the server is told to take no row.
    func finish(isGivenUp: Bool) throws(PostgreSQLError) -> Int {
        if !isGivenUp { try put(Self.end) }
        connection.roundTrips += 1
        guard library.putCopyEnd(connection.handle, isGivenUp ? "the client gave the COPY up" : nil) == 1 else { throw connection.lost() }
        do {
            return try connection.answer(deadline, 0).affectedRows
        } catch {
            if isGivenUp, !error.isConnectionLost { return 0 }
            throw error
        }
    }
}
