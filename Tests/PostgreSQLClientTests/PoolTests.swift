import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Synchronization
import Testing

@Suite(.withServer)
struct PoolTests {
    private func terminate(_ connection: PostgreSQLConnection) throws {
        try connect().execute("SELECT pg_terminate_backend($1, 5000)", PostgreSQLParameters { $0.addInt32(connection.serverProcess) })
    }

    @Test
    func `Many threads share so many connections at most`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 3)
        let lent = Mutex((now: 0, most: 0)), errors = Heard<String>()
        DispatchQueue.concurrentPerform(iterations: 60) { _ in
            do {
                try pool.withConnection { connection in
                    lent.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    defer { lent.withLock { $0.now -= 1 } }
                    _ = try connection.execute("SELECT 1").int32(0, 0)
                }
            } catch { errors.add("\(error)") }
        }
        #expect(errors.all.isEmpty)
        #expect(lent.withLock { $0.most } <= 3)
        #expect(pool.counts.open <= 3 && pool.counts.open == pool.counts.idle)
    }

    @Test
    func `Threads get a connection in the order in which they ask`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        let held = try pool.take(), order = Heard<Int>(), end = DispatchGroup()
        for number in 0..<6 {
            end.enter()
            Thread.detachNewThread {
                try? pool.withConnection { _ in order.add(number) }
                end.leave()
            }
            while pool.counts.waiting <= number { sched_yield() }
        }
        pool.giveBack(held)
        end.wait()
        #expect(order.all == Array(0..<6))
    }

    @Test
    func `A thread that waits too long is refused, and takes no place`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1, takeTimeout: .milliseconds(5))
        let held = try pool.take()
        let error = try failure { _ = try pool.take() }
        #expect(error.kind == .unavailable)
        #expect(pool.counts.waiting == 0)
        pool.giveBack(held)
        #expect(try pool.withConnection { try $0.execute("SELECT 1").count } == 1)
    }

    @Test
    func `A connection that ended while it was idle is not lent again`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 2)
        let first = try pool.take()
        try terminate(first)
        pool.giveBack(first)
        #expect(try pool.withConnection { try $0.execute("SELECT 1").count } == 1)
        #expect(pool.counts.open == 1)
    }

    @Test
    func `After its time of idleness a connection is asked before it is lent`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1, checkAfter: .zero)
        let trips = try pool.withConnection { $0.roundTrips }
        #expect(try pool.withConnection { $0.roundTrips } == trips + 1)
    }

    @Test
    func `A broken connection is thrown away, and the one who waits gets a new one`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        let held = try pool.take(), end = DispatchSemaphore(value: 0), answers = Heard<Int32>()
        Thread.detachNewThread {
            if let answer = try? pool.withConnection({ try $0.execute("SELECT 3").int32(0, 0) }) { answers.add(answer) }
            end.signal()
        }
        while pool.counts.waiting == 0 { sched_yield() }
        held.close()
        pool.giveBack(held)
        end.wait()
        #expect(answers.all == [3])
        #expect(pool.counts.open == 1)
    }

    @Test
    func `A transaction that its user left open is rolled back`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        try pool.withConnection { connection in
            try connection.begin()
            try connection.execute("CREATE TABLE left_open (id int4)")
        }
        let (state, error) = try pool.withConnection { connection in
            (connection.transactionState, try failure { try connection.execute("SELECT * FROM left_open") })
        }
        #expect(state == .idle)
        #expect(error.state == "42P01")
    }

    @Test
    func `An error of connecting frees the place`() throws {
        let pool = PostgreSQLPool(try configuration("host=/nowhere/at/all"), size: 1)
        for _ in 0..<3 { #expect(try failure { _ = try pool.take() }.kind == .cannotConnect) }
        #expect(pool.counts.open == 0)
    }

    @Test
    func `A closed pool refuses, wakes those who wait, and waits for those who have a connection`() throws {
        let pool = PostgreSQLPool(try configuration(), size: 1)
        let held = try pool.take(), end = DispatchSemaphore(value: 0), errors = Heard<PostgreSQLError.Kind>()
        Thread.detachNewThread {
            do throws(PostgreSQLError) { _ = try pool.take() } catch { errors.add(error.kind) }
            end.signal()
        }
        while pool.counts.waiting == 0 { sched_yield() }
        #expect(!pool.close())
        end.wait()
        #expect(errors.all == [.unavailable])
        #expect(try failure { _ = try pool.take() }.kind == .unavailable)
        #expect(try held.execute("SELECT 1").count == 1)
        let closed = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            if pool.close(timeout: nil) { closed.signal() }
        }
        pool.giveBack(held)
        closed.wait()
        #expect(!held.isOpen)
        #expect(pool.counts.open == 0)
        #expect(pool.close(timeout: nil))
    }
}
