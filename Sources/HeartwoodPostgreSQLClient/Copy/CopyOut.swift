internal import Foundation

/// One COPY from the server: begin, the messages, finish. The server sends a row a message.
struct CopyOut {
    private let connection: PostgreSQLConnection
    private let deadline: ContinuousClock.Instant?
    private var hasHead = false
    private var isAtEnd = false

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    /// The signature, the flags, and the length of an extension.
    private static let headBytes = 19

    init(_ connection: PostgreSQLConnection, _ deadline: ContinuousClock.Instant?) {
        self.connection = connection
        self.deadline = deadline
    }

    private var library: LibPQ { connection.library }

    func begin(_ sql: String) throws(PostgreSQLError) {
        try connection.beginCopy(sql, LibPQStatus.copyOut, deadline)
    }

    /// The next message; nil behind the last. `free` takes it.
    func next() throws(PostgreSQLError) -> UnsafeMutableBufferPointer<CChar>? {
        while true {
            var start: UnsafeMutablePointer<CChar>?
            let count = library.getCopyData(connection.handle, &start, 1)
            if count > 0 { return UnsafeMutableBufferPointer(start: start, count: Int(count)) }
            guard count == 0 else { return nil }
            try connection.waitForInput(deadline)
        }
    }

    func free(_ message: UnsafeMutableBufferPointer<CChar>) { library.freeMemory(message.baseAddress) }

    /// The row of a message; nil for the mark of the end.
    mutating func row(_ message: UnsafeMutableBufferPointer<CChar>) throws(PostgreSQLError) -> PostgreSQLCopiedRow? {
        var bytes = UnsafeRawBufferPointer(message)
        if !hasHead {
            bytes = UnsafeRawBufferPointer(rebasing: bytes[try Self.behindHead(bytes)...])
            hasHead = true
            // The head may come alone.
            if bytes.isEmpty { return nil }
        }
        guard !isAtEnd, bytes.count >= 2 else { throw PostgreSQLCopiedRow.fault("a row is cut off") }
        let columns = Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))
        if columns == -1 {
            isAtEnd = true
            return nil
        }
        return try PostgreSQLCopiedRow(UnsafeRawBufferPointer(rebasing: bytes[2...]), columns: Int(columns))
    }

    private static func behindHead(_ bytes: UnsafeRawBufferPointer) throws(PostgreSQLError) -> Int {
        guard bytes.count >= headBytes, bytes.starts(with: signature) else { throw PostgreSQLCopiedRow.fault("its head is missing") }
        let extra = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: 15, as: Int32.self))
        guard extra >= 0, Int(extra) <= bytes.count - headBytes else { throw PostgreSQLCopiedRow.fault("its head is cut off") }
        return headBytes + Int(extra)
    }

    func finish() throws(PostgreSQLError) { _ = try connection.answer(deadline, 0) }
}
