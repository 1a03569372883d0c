import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withServer)
struct StatementTests {
    @Test
    func `A statement's first run and its later ones take one round trip each`() throws {
        let connection = try connect(), statement = PostgreSQLStatement("SELECT $1::int8 + 1")
        for number in 1...3 {
            let trips = connection.roundTrips
            let answer = try connection.execute(statement, PostgreSQLParameters { $0.addInt64(Int64(number)) })
            #expect(try answer.int64(0, 0) == Int64(number) + 1)
            if PostgreSQLLibrary.hasPipelines { #expect(connection.roundTrips == trips + 1) }
        }
        let prepared = try connection.execute("SELECT statement FROM pg_prepared_statements WHERE statement = 'SELECT $1::int8 + 1'")
        #expect(prepared.count == 1)
    }

    @Test
    func `A batch takes one round trip, and gives a result for each statement`() throws {
        let connection = try connect()
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction(.serializable).begin)
        batch.add("CREATE TEMPORARY TABLE t (id int8 PRIMARY KEY)")
        for number in 1...100 { batch.add("INSERT INTO t VALUES ($1)", PostgreSQLParameters { $0.addInt64(Int64(number)) }) }
        batch.add("SELECT count(*) FROM t")
        batch.add(.commit)
        let trips = connection.roundTrips
        let results = try connection.execute(batch)
        if PostgreSQLLibrary.hasPipelines { #expect(connection.roundTrips == trips + 1) }
        #expect(results.count == 104)
        #expect(results[50].affectedRows == 1)
        #expect(try results[102].int64(0, 0) == 100)
        #expect(results[103].commandTag == "COMMIT")
        #expect(connection.transactionState == .idle)
    }

    @Test
    func `An error of a batch names its statement, and the statements behind it do not run`() throws {
        let connection = try connect()
        try connection.execute("CREATE TEMPORARY TABLE t (id int8 CONSTRAINT unique_id PRIMARY KEY)")
        try connection.begin()
        var batch = PostgreSQLBatch()
        for number in [1, 2, 1, 3] { batch.add("INSERT INTO t VALUES ($1)", PostgreSQLParameters { $0.addInt64(Int64(number)) }) }
        let error = try failure { try connection.execute(batch) }
        #expect(error.statement == 2)
        #expect(error.state == "23505" && error.isUniqueViolation && error.kind == .server)
        #expect(error.constraint == "unique_id")
        #expect(error.detail == "Key (id)=(1) already exists.")
        #expect(connection.transactionState == .failed)
        try connection.rollback()
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 0)
    }

    @Test
    func `A wrong statement tells the place in its text, and leaves the connection usable`() throws {
        let connection = try connect()
        let error = try failure { try connection.execute("SELECT 1 FROM no_such_table") }
        #expect(error.state == "42P01")
        #expect(error.particulars.position == 15)
        #expect(!error.isConnectionLost)
        #expect(try connection.execute("SELECT 2").int32(0, 0) == 2)
    }

    @Test
    func `A commit of a failed transaction throws`() throws {
        let connection = try connect()
        try connection.begin()
        _ = try failure { try connection.execute("SELECT 1/0") }
        #expect(try failure { try connection.commit() }.state == "25P02")
        #expect(connection.transactionState == .idle)
    }

    @Test
    func `A connection keeps so many prepared statements, and lets the one go that was used longest ago`() throws {
        let connection = try connect { $0.preparedMax = 3 }
        let kept = PostgreSQLStatement("SELECT 'kept'")
        for number in 0..<20 {
            try connection.execute(kept)
            try connection.execute(PostgreSQLStatement("SELECT 'number \(number)'"))
        }
        let found = try connection.execute(PostgreSQLStatement("SELECT statement FROM pg_prepared_statements", isPrepared: false))
        let texts = try (0..<found.count).map { try found.text($0, 0) }
        #expect(texts.count == 3)
        #expect(texts.contains("SELECT 'kept'"))
        #expect(texts.contains("SELECT 'number 19'"))
    }

    @Test
    func `A batch with more new statements than a connection keeps runs all of them`() throws {
        let connection = try connect { $0.preparedMax = 2 }
        for _ in 0..<2 {
            var batch = PostgreSQLBatch()
            for number in 0..<10 { batch.add(PostgreSQLStatement("SELECT \(number)")) }
            #expect(try connection.execute(batch).map { try $0.int32(0, 0) } == Array(0..<10))
        }
        #expect(try connection.execute("SELECT count(*) FROM pg_prepared_statements").int64(0, 0) <= 3)
    }

    @Test
    func `A statement whose preparing failed is prepared again`() throws {
        let connection = try connect(), statement = PostgreSQLStatement("SELECT id FROM later")
        #expect(try failure { try connection.execute(statement) }.state == "42P01")
        try connection.execute("CREATE TEMPORARY TABLE later (id int4)")
        #expect(try connection.execute(statement).count == 0)
    }

    @Test
    func `A statement runs on after its table has other columns`() throws {
        let connection = try connect(), statement = PostgreSQLStatement("SELECT * FROM t")
        try connection.execute("CREATE TEMPORARY TABLE t (id int4)")
        #expect(try connection.execute(statement).columnCount == 1)
        try connection.execute("ALTER TABLE t ADD COLUMN name text")
        #expect(try connection.execute(statement).columnCount == 2)
        // In a transaction the caller repeats it.
        try connection.execute("ALTER TABLE t ADD COLUMN other text")
        try connection.begin()
        #expect(try failure { try connection.execute(statement) }.isTransient)
        try connection.rollback()
        try connection.begin()
        #expect(try connection.execute(statement).columnCount == 3)
        try connection.commit()
    }

    @Test
    func `Statements run on after the server has forgotten them`() throws {
        let connection = try connect(), statement = PostgreSQLStatement("SELECT 7")
        try connection.execute(statement)
        try connection.execute(PostgreSQLStatement("DISCARD ALL", isPrepared: false))
        #expect(try connection.execute(statement).int32(0, 0) == 7)
    }

    @Test
    func `A connection for a pooler prepares nothing`() throws {
        let connection = try connect { $0.preparedMax = 0 }
        let answer = try connection.execute("SELECT $1::text", PostgreSQLParameters { try $0.addText("a") })
        #expect(try answer.text(0, 0) == "a")
        #expect(try connection.execute("SELECT count(*) FROM pg_prepared_statements").int64(0, 0) == 0)
    }

    @Test
    func `A large batch whose answers are large as well comes through`() throws {
        let connection = try connect()
        var batch = PostgreSQLBatch()
        let text = String(repeating: "x", count: 300_000)
        for _ in 0..<60 { batch.add("SELECT $1::text", PostgreSQLParameters { try? $0.addText(text) }) }
        let results = try connection.execute(batch)
        #expect(results.count == 60)
        #expect(try results.allSatisfy { try $0.text(0, 0) == text })
    }

    @Test
    func `Without pipelines a batch has the same results, a round trip for each statement`() throws {
        let connection = try connect {
            $0.usesPipelines = false
            $0.preparedMax = 2
        }
        for _ in 0..<2 {
            var batch = PostgreSQLBatch()
            batch.add(PostgreSQLTransaction().begin)
            for number in 0..<5 { batch.add(PostgreSQLStatement("SELECT \(number)")) }
            batch.add(PostgreSQLStatement("SELECT 1/0"))
            batch.add(.commit)
            #expect(try failure { try connection.execute(batch) }.statement == 6)
            #expect(connection.transactionState == .failed)
            try connection.rollback()
        }
        var batch = PostgreSQLBatch()
        for number in 0..<5 { batch.add(PostgreSQLStatement("SELECT \(number)", isPrepared: false)) }
        let trips = connection.roundTrips
        #expect(try connection.execute(batch).map { try $0.int32(0, 0) } == Array(0..<5))
        #expect(connection.roundTrips == trips + 5)
    }

    @Test
    func `Notices go to the receiver`() throws {
        let heard = Heard<PostgreSQLNotice>()
        let connection = try connect { $0.onNotice = { heard.add($0) } }
        try connection.execute("DROP TABLE IF EXISTS no_such_table")
        #expect(heard.all.map(\.severity) == ["NOTICE"])
        #expect(heard.all.first?.message.contains("no_such_table") == true)
    }

    @Test
    func `What a new connection is to run first runs, and its error is that of the opening`() throws {
        let connection = try connect { $0.setUp = ["SET search_path = one_path", "SET extra_float_digits = 3"] }
        #expect(try connection.execute("SHOW search_path").text(0, 0) == "one_path")
        #expect(try failure { _ = try connect { $0.setUp = ["SET no_such_setting = 1"] } }.state == "42704")
    }

    @Test
    func `A statement that wants a COPY is refused`() throws {
        let connection = try connect()
        let error = try failure { try connection.execute(PostgreSQLStatement("COPY (SELECT 1) TO STDOUT", isPrepared: false)) }
        #expect(error.kind == .badAnswer || error.isConnectionLost)
        #expect(!connection.isOpen)
    }

    @Test
    func `A closed connection refuses statements`() throws {
        let connection = try connect()
        connection.close()
        connection.close()
        #expect(try failure { try connection.execute("SELECT 1") }.isConnectionLost)
        #expect(connection.serverVersion == 0)
        #expect(connection.transactionState == .unknown)
        connection.cancel()
    }
}
