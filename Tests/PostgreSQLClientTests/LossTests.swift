import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withPrivateServer)
struct LossTests {
    /// A transaction whose number is known before its commit.
    private func insert(_ id: Int, into table: String, _ connection: PostgreSQLConnection, _ number: inout UInt64?) throws {
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLTransaction().begin)
        batch.add("SELECT pg_current_xact_id()")
        batch.add(PostgreSQLStatement("INSERT INTO \(table) VALUES ($1)"), PostgreSQLParameters { $0.addInt64(Int64(id)) })
        number = try connection.execute(batch)[1].xid8(0, 0)
        try connection.commit()
    }

    private func settled(_ number: UInt64, _ witness: PostgreSQLConnection) throws -> PostgreSQLOutcome {
        while true {
            let outcome = try witness.outcome(of: number)
            if outcome != .running { return outcome }
        }
    }

    private func count(of id: Int, in table: String, _ witness: PostgreSQLConnection) throws -> Int64 {
        let statement = PostgreSQLStatement("SELECT count(*) FROM \(table) WHERE id = $1")
        return try witness.execute(statement, PostgreSQLParameters { $0.addInt64(Int64(id)) }).int64(0, 0)
    }

    /// Inserts over a proxy that has a fault, and finds out what became of it.
    /// - Parameter mayPass: the last message passes, and the answer to it may be quicker than the cut.
    /// - Returns: nil if the transaction had no number yet.
    private func trial(
        _ id: Int, into table: String, _ proxy: PostgreSQLProxy, _ fault: PostgreSQLProxy.Fault, mayPass: Bool, _ witness: PostgreSQLConnection
    ) throws -> PostgreSQLOutcome? {
        let connection = try connect(proxy.connectionString)
        proxy.setFault(fault)
        defer { proxy.setFault(nil) }
        var number: UInt64?
        do {
            try insert(id, into: table, connection, &number)
            #expect(mayPass, "\(fault)")
        } catch let error as PostgreSQLError {
            #expect(error.isConnectionLost && !connection.isOpen, "\(fault): \(error)")
        }
        let outcome = try number.map { try settled($0, witness) }
        #expect(try count(of: id, in: table, witness) == (outcome == .committed ? 1 : 0), "\(fault)")
        return outcome
    }

    @Test
    func `A connection that is cut at any message is lost, and the commit's outcome is found out`() throws {
        let proxy = try makeProxy(), witness = try connect(), table = "cut_at_any"
        try witness.execute(PostgreSQLStatement("CREATE TABLE \(table) (id int8)"))
        defer { _ = try? witness.execute(PostgreSQLStatement("DROP TABLE \(table)")) }
        var number: UInt64?
        let whole = try connect(proxy.connectionString)
        let count = try proxy.count { try insert(0, into: table, whole, &number) }
        #expect(count.roundTrips == 2)
        #expect(count.toServer.count > 8 && count.toClient.count > 8)
        var id = 0, outcomes: Set<PostgreSQLOutcome?> = []
        for direction in PostgreSQLProxy.Direction.allCases {
            let messages = direction == .toServer ? count.toServer.count : count.toClient.count
            for message in 0..<messages {
                id += 2
                let inside = PostgreSQLProxy.Fault(.cutInside, after: message, direction)
                outcomes.insert(try trial(id, into: table, proxy, inside, mayPass: false, witness))
                let behind = PostgreSQLProxy.Fault(.cut, after: message + 1, direction)
                outcomes.insert(try trial(id + 1, into: table, proxy, behind, mayPass: message + 1 == messages, witness))
            }
        }
        #expect(outcomes == [.committed, .rolledBack, nil])
    }

    @Test
    func `A cut COPY is a lost connection`() throws {
        let proxy = try makeProxy()
        for (message, direction) in [(3, PostgreSQLProxy.Direction.toServer), (1, .toClient), (2, .toClient)] {
            let connection = try connect(proxy.connectionString)
            try connection.execute("CREATE TEMPORARY TABLE t (id int8)")
            proxy.setFault(PostgreSQLProxy.Fault(.cut, after: message, direction))
            let error = try failure {
                var rest = 20
                try connection.copyIn("COPY t FROM STDIN (FORMAT binary)") { rows in
                    for number in 0..<5000 {
                        rows.beginRow(columns: 1)
                        rows.addInt64(Int64(number))
                    }
                    rest -= 1
                    return rest > 0
                }
                try connection.execute("SELECT 1")
            }
            #expect(error.isConnectionLost, "\(error)")
            proxy.setFault(nil)
        }
    }

    @Test
    func `A connection that an administrator ends is lost, and says so`() throws {
        let connection = try connect(), other = try connect()
        try other.execute(
            PostgreSQLStatement("SELECT pg_terminate_backend($1, 5000)"), PostgreSQLParameters { $0.addInt32(connection.serverProcess) })
        let error = try failure { try connection.execute("SELECT 1") }
        #expect(error.isConnectionLost)
        #expect(error.state == "57P01")
        #expect(try failure { try connection.execute("SELECT 1") }.isConnectionLost)
    }

    @Test
    func `A refused connection is told from a lost one`() throws {
        let proxy = try makeProxy()
        proxy.setRefusing(true)
        #expect(try failure { _ = try connect(proxy.connectionString) }.kind == .cannotConnect)
        proxy.setRefusing(false)
        #expect(try connect(proxy.connectionString).execute("SELECT 1").count == 1)
        #expect(try failure { _ = try connect("host=/nowhere/at/all") }.kind == .cannotConnect)
        let unknown = try failure { _ = try connect(proxy.connectionString + " dbname=no_such_database") }
        #expect(unknown.kind == .cannotConnect && unknown.message.contains("no_such_database"))
    }

    @Test
    func `A server that stops and starts again serves new connections`() throws {
        let server = try PostgreSQLTestServer()
        let pool = PostgreSQLPool(try configuration(server.connectionString), size: 2)
        _ = try pool.withConnection { try $0.execute("CREATE TABLE kept (id int8)") }
        let held = try pool.take()
        try server.crash()
        #expect(try failure { try held.execute("SELECT 1") }.isConnectionLost)
        pool.giveBack(held)
        #expect(try failure { try pool.withConnection { _ = try $0.execute("SELECT 1") } }.kind == .cannotConnect)
        try server.start()
        #expect(try pool.withConnection { try $0.execute("SELECT count(*) FROM kept").int64(0, 0) } == 0)
        try server.stop()
        #expect(try failure { try pool.withConnection { _ = try $0.execute("SELECT 1") } }.kind == .cannotConnect)
    }
}
