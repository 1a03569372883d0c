import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// Statements that the server works on while the client makes the next ones.
@Suite(.withServer)
struct SentAheadTests {
    private static func insertions(_ numbers: [Int64]) -> PostgreSQLBatch {
        var batch = PostgreSQLBatch()
        for number in numbers { batch.add("INSERT INTO t VALUES ($1)", PostgreSQLParameters { $0.addInt64(number) }) }
        return batch
    }

    /// A connection with an open transaction and a table of unique numbers.
    private func begun(usesPipelines: Bool = true) throws -> PostgreSQLConnection {
        let connection = try connect { $0.usesPipelines = usesPipelines }
        try connection.execute("CREATE TEMPORARY TABLE t (id int8 PRIMARY KEY)")
        try connection.begin()
        return connection
    }

    private func count(_ connection: PostgreSQLConnection) throws -> Int64 { try connection.execute("SELECT count(*) FROM t").int64(0, 0) }

    @Test(arguments: [true, false])
    func `Statements that are sent ahead are of the next one's round trip, which answers itself alone`(usesPipelines: Bool) throws {
        let connection = try begun(usesPipelines: usesPipelines), trips = connection.roundTrips
        for part in 0..<3 { try connection.send(Self.insertions([Int64(part) * 2, Int64(part) * 2 + 1])) }
        var last = PostgreSQLBatch()
        last.add("SELECT count(*) FROM t")
        let results = try connection.commit(last)
        #expect(results.count == 2)
        #expect(try results[0].int64(0, 0) == 6)
        if usesPipelines, PostgreSQLLibrary.hasPipelines { #expect(connection.roundTrips == trips + 1) }
        #expect(connection.transactionState == .idle)
        #expect(try count(connection) == 6)
    }

    @Test
    func `The next statement throws the error of one that was sent ahead, and a rollback leaves the connection usable`() throws {
        let connection = try begun()
        try connection.send(Self.insertions([1, 2]))
        try connection.send(Self.insertions([2, 3]))
        let error = try failure { try connection.commit(Self.insertions([4])) }
        #expect(error.isUniqueViolation && error.statement == -2)
        #expect(connection.transactionState == .failed)
        try connection.rollback()
        #expect(try count(connection) == 0)
    }

    @Test
    func `The error of the next statement names its own place`() throws {
        let connection = try begun()
        try connection.send(Self.insertions([1, 2]))
        let error = try failure { try connection.execute(Self.insertions([3, 1])) }
        #expect(error.isUniqueViolation && error.statement == 1)
        try connection.rollback()
    }

    @Test(arguments: [[1, 2], [1, 1]] as [[Int64]])
    func `A rollback behind statements without an answer takes them back, whether they fail or not`(numbers: [Int64]) throws {
        let connection = try begun()
        try connection.send(Self.insertions(numbers))
        try connection.rollback()
        #expect(connection.transactionState == .idle)
        #expect(try count(connection) == 0)
    }

    @Test(arguments: [[1, 2], [1, 1]] as [[Int64]])
    func `A pool takes back a connection whose user has left statements without an answer`(numbers: [Int64]) throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        _ = try pool.withConnection { try $0.execute("CREATE TEMPORARY TABLE t (id int8 PRIMARY KEY)") }
        try pool.withConnection { connection in
            try connection.begin()
            try connection.send(Self.insertions(numbers))
        }
        #expect(pool.counts.open == 1)
        #expect(try pool.withConnection { try $0.execute("SELECT count(*) FROM t").int64(0, 0) } == 0)
    }

    @Test
    func `A statement that cannot be sent leaves those that were sent as they are`() throws {
        let connection = try begun()
        try connection.send(Self.insertions([1, 2]))
        var bad = PostgreSQLBatch()
        bad.add("SELECT '\0'")
        for attempt in [{ try connection.send(bad) }, { _ = try connection.execute(bad) }] {
            let error = try failure(of: attempt)
            #expect(error.kind == .badValue)
        }
        #expect(try count(connection) == 2)
        try connection.commit()
        #expect(try count(connection) == 2)
    }

    @Test
    func `A stream and a COPY come behind what was sent ahead`() throws {
        let connection = try begun()
        try connection.send(Self.insertions([1, 2]))
        var streamed: [Int64] = []
        try connection.stream("SELECT id FROM t ORDER BY id") { streamed.append(try $0.int64(0, 0)) }
        #expect(streamed == [1, 2])
        try connection.send(Self.insertions([3]))
        var copied = 0
        try connection.copyOut("COPY t TO STDOUT (FORMAT binary)") { _ in copied += 1 }
        #expect(copied == 3)
        try connection.send(Self.insertions([4]))
        try connection.copyIn("COPY t FROM STDIN (FORMAT binary)") { rows in
            rows.beginRow(columns: 1)
            rows.addInt64(5)
            return false
        }
        #expect(try count(connection) == 5)
        try connection.rollback()
    }

    @Test
    func `Megabytes are sent ahead while the server answers`() throws {
        let connection = try connect()
        try connection.execute("CREATE TEMPORARY TABLE t (id int8, content bytea)")
        try connection.begin()
        let trips = connection.roundTrips
        for number in 0..<40 {
            var batch = PostgreSQLBatch()
            try batch.add("INSERT INTO t VALUES ($1, $2) RETURNING content", PostgreSQLParameters {
                $0.addInt64(Int64(number))
                try $0.addBytes(Data(repeating: UInt8(number), count: 1 << 19))
            })
            try connection.send(batch)
        }
        #expect(try connection.execute("SELECT sum(length(content)) FROM t").int64(0, 0) == 40 << 19)
        if PostgreSQLLibrary.hasPipelines { #expect(connection.roundTrips == trips + 1) }
        try connection.rollback()
    }
}
