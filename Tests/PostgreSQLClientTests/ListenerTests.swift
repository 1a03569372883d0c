import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withServer)
struct ListenerTests {
    private func notify(_ connection: PostgreSQLConnection, _ channel: String, _ payload: String) throws {
        let parameters = try PostgreSQLParameters {
            try $0.addText(channel)
            try $0.addText(payload)
        }
        try connection.execute("SELECT pg_notify($1, $2)", parameters)
    }

    @Test
    func `A listener gets what another connection tells, in the order of commits`() throws {
        let channel = "told \"quoted\" ü"
        let listener = try PostgreSQLListener(configuration(), channels: [channel]), teller = try connect()
        try notify(teller, "another channel", "not heard")
        for number in 1...3 { try notify(teller, channel, "number \(number)") }
        var heard: [PostgreSQLNotification] = []
        while heard.count < 3 { heard += try listener.wait() }
        #expect(heard.map(\.payload) == ["number 1", "number 2", "number 3"])
        #expect(heard.allSatisfy { $0.channel == channel && $0.process == teller.serverProcess })
    }

    @Test
    func `A wait ends at its timeout with nothing`() throws {
        let listener = try PostgreSQLListener(configuration(), channels: ["quiet"])
        #expect(try listener.wait(timeout: .milliseconds(5)).isEmpty)
        #expect(try listener.wait(timeout: .zero).isEmpty)
    }

    @Test
    func `Closing wakes the thread that waits, and all later waits are refused`() throws {
        let listener = try PostgreSQLListener(configuration(), channels: ["closing"])
        let end = DispatchSemaphore(value: 0), errors = Heard<PostgreSQLError>()
        Thread.detachNewThread {
            do throws(PostgreSQLError) { _ = try listener.wait() } catch { errors.add(error) }
            end.signal()
        }
        listener.close()
        listener.close()
        end.wait()
        #expect(errors.all.map(\.kind) == [.unavailable])
        #expect(try failure { _ = try listener.wait() }.kind == .unavailable)
    }

    @Test
    func `A listener whose connection ends is told so`() throws {
        let listener = try PostgreSQLListener(configuration(), channels: ["ending"]), other = try connect()
        try other.execute(
            PostgreSQLStatement("SELECT pg_terminate_backend($1, 5000)"), PostgreSQLParameters { $0.addInt32(listener.serverProcess) })
        #expect(try failure { while try listener.wait().isEmpty {} }.isConnectionLost)
        #expect(try failure { _ = try listener.wait() }.isConnectionLost)
    }

    @Test
    func `A connection hears notifications while it runs statements`() throws {
        let connection = try connect(), teller = try connect()
        try connection.execute(PostgreSQLStatement("LISTEN meanwhile", isPrepared: false))
        try notify(teller, "meanwhile", "")
        var heard: [PostgreSQLNotification] = []
        while heard.isEmpty {
            #expect(try connection.execute("SELECT 1").count == 1)
            heard = try connection.notifications()
        }
        #expect(heard.map(\.channel) == ["meanwhile"])
    }
}
