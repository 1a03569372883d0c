import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withServer)
struct CancellationTests {
    private static let sleep = PostgreSQLStatement("SELECT pg_sleep(60)")

    @Test
    func `A statement that takes longer than its limit is cancelled, and the connection serves on`() throws {
        let connection = try connect { $0.statementTimeout = .milliseconds(30) }
        let error = try failure { try connection.execute(Self.sleep) }
        #expect(error.kind == .timedOut && error.state == "57014")
        #expect(try connection.execute("SELECT 1").int32(0, 0) == 1)
    }

    @Test
    func `Another thread cancels a statement, and the next one runs`() throws {
        let connection = try connect(), end = DispatchSemaphore(value: 0)
        connection.cancel()
        let errors = Heard<PostgreSQLError>()
        Thread.detachNewThread {
            do throws(PostgreSQLError) { try connection.execute(Self.sleep) } catch { errors.add(error) }
            end.signal()
        }
        // The thread may not have begun its statement yet.
        while end.wait(timeout: .now() + .milliseconds(2)) == .timedOut { connection.cancel() }
        #expect(errors.all.map(\.kind) == [.cancelled])
        for number in 0..<20 {
            connection.cancel()
            #expect(try connection.execute(PostgreSQLStatement("SELECT \(number)")).int32(0, 0) == Int32(number))
        }
    }

    @Test
    func `A task's cancellation meets its statement, and the pool's connection serves on`() async throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        let (begun, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await pool.withConnection(task: { connection in
                signal.finish()
                try connection.execute(Self.sleep)
            })
        }
        for await _ in begun {}
        task.cancel()
        let outcome = await task.result
        #expect(throws: PostgreSQLError.self) { try outcome.get() }
        let answer = try await pool.withConnection(task: { try $0.execute("SELECT 5").int32(0, 0) })
        #expect(answer == 5)
        #expect(pool.counts.open == 1)
    }

    @Test
    func `A task that is cancelled while it waits for a connection gets none`() async throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        let held = try pool.take()
        let task = Task { try await pool.withConnection(task: { try $0.execute("SELECT 1").count }) }
        while pool.counts.waiting == 0 { await Task.yield() }
        task.cancel()
        let outcome = await task.result
        #expect(throws: CancellationError.self) { try outcome.get() }
        pool.giveBack(held)
        #expect(pool.counts.idle == 1)
    }
}

@Suite(.withPrivateServer)
struct SilenceTests {
    @Test
    func `A server that does not answer at all ends the opening at its limit`() throws {
        let proxy = try makeProxy()
        proxy.setFault(PostgreSQLProxy.Fault(.hold, after: 1, .toServer))
        // libpq takes no shorter limit than two seconds.
        let error = try failure { _ = try connect(proxy.connectionString) { $0.connectTimeout = 1 } }
        #expect(error.kind == .cannotConnect && error.message.contains("timeout"))
        proxy.setFault(nil)
    }

    @Test
    func `A server that falls silent loses its connection after the limit and the patience`() throws {
        let proxy = try makeProxy()
        let connection = try connect(proxy.connectionString) {
            $0.statementTimeout = .milliseconds(30)
            $0.cancelPatience = .milliseconds(30)
        }
        // The request for a cancellation has no answer that would count.
        proxy.setFault(PostgreSQLProxy.Fault(.hold, after: 1, .toClient))
        let error = try failure { try connection.execute("SELECT 1") }
        #expect(error.isConnectionLost)
        #expect(!connection.isOpen)
        proxy.setFault(nil)
    }
}
