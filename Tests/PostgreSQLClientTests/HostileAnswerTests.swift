import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Synchronization
import Testing

/// What a server sends that is none, or that has another mind.
@Suite(.withPrivateServer)
struct HostileAnswerTests {
    private static let row = UInt8(ascii: "D")

    /// Changes the rows' messages behind their type and length.
    private func answer<Value>(
        _ sql: String, _ change: @escaping @Sendable (inout [UInt8]) -> Void, _ read: (PostgreSQLResult) throws -> Value
    ) throws -> Value {
        let proxy = try makeProxy()
        let connection = try connect(proxy.connectionString) {
            $0.statementTimeout = .milliseconds(300)
            $0.cancelPatience = .milliseconds(30)
        }
        proxy.setRewriting { direction, message in
            guard direction == .toClient, message.first == Self.row else { return message }
            var body = Array(message[5...])
            change(&body)
            return [Self.row] + withUnsafeBytes(of: UInt32(body.count + 4).bigEndian) { Array($0) } + body
        }
        return try read(connection.execute(PostgreSQLStatement(sql)))
    }

    @Test
    func `A value of another width is refused`() throws {
        // One column of four bytes in place of eight.
        let error = try failure {
            try answer("SELECT 1::int8", { $0 = [0, 1, 0, 0, 0, 4, 0, 0, 0, 1] }) { _ = try $0.int64(0, 0) }
        }
        #expect(error.kind == .badAnswer && error.message.contains("4 bytes"))
        #expect(try failure { try answer("SELECT gen_random_uuid()", { $0 = [0, 1, 0, 0, 0, 1, 7] }) { _ = try $0.uuid(0, 0) } }.kind == .badAnswer)
        #expect(try failure { try answer("SELECT 1::numeric", { $0 = [0, 1, 0, 0, 0, 1, 7] }) { _ = try $0.numeric(0, 0) } }.kind == .badAnswer)
        #expect(try failure { try answer("SELECT true", { $0 = [0, 1, 0, 0, 0, 0] }) { _ = try $0.bool(0, 0) } }.kind == .badAnswer)
    }

    @Test
    func `A text that is no UTF-8 is refused, and its bytes can be read`() throws {
        let answer = try answer("SELECT 'ab'::text", { $0 = [0, 1, 0, 0, 0, 2, 0xC3, 0x28] }) { $0 }
        #expect(try failure { _ = try answer.text(0, 0) }.message.contains("UTF-8"))
        #expect(try answer.withBytes(0, 0) { $0.map(Array.init) } == [0xC3, 0x28])
    }

    @Test
    func `A message that lies about its length is a lost connection or the library's error`() throws {
        for body in [[0, 1, 0x7F, 0xFF, 0xFF, 0xFF, 1], [0, 9, 0, 0, 0, 1, 7], [], [0, 1], [0xFF, 0xFF]] as [[UInt8]] {
            let error = try failure { try answer("SELECT 1::int8", { $0 = body }) { _ = try $0.int64(0, 0) } }
            #expect([.badAnswer, .connectionLost, .server].contains(error.kind), "\(body): \(error)")
        }
    }

    @Test
    func `Whatever bytes an answer has, a statement ends with a value or a typed error`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let random = Mutex(SplitMix(seed)), proxy = try makeProxy()
        for round in 0..<40 {
            proxy.setRewriting(nil)
            let connection = try connect(proxy.connectionString) {
                $0.statementTimeout = .milliseconds(20)
                $0.cancelPatience = .milliseconds(10)
            }
            proxy.setRewriting { direction, message in
                guard direction == .toClient else { return message }
                return random.withLock { random in
                    guard random.next() % 3 == 0 else { return message }
                    var changed = message
                    // Seldom a type or a length: the client waits for the rest of a message that does not come.
                    let first = random.next() % 8 == 0 || message.count < 6 ? 0 : 5
                    changed[Int.random(in: first..<message.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                    return changed
                }
            }
            do throws(PostgreSQLError) {
                let answer = try connection.execute("SELECT g, 'text ' || g, g::numeric / 7, ARRAY[g] FROM generate_series(1, 3) AS g")
                for row in 0..<answer.count {
                    for column in 0..<answer.columnCount {
                        _ = try? answer.integer(row, column)
                        _ = try? answer.text(row, column)
                        _ = try? answer.numeric(row, column)
                        _ = try? answer.withBytes(row, column) { $0?.count }
                        _ = answer.name(of: column)
                    }
                }
            } catch {
                #expect(!error.description.isEmpty, "seed \(seed), round \(round)")
            }
        }
    }
}
