import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withServer)
struct CopyTests {
    private static let into: String = "COPY t (id, name) FROM STDIN (FORMAT binary)"

    private func connected() throws -> PostgreSQLConnection {
        let connection = try connect()
        try connection.execute("CREATE TEMPORARY TABLE t (id int8 PRIMARY KEY, name text)")
        return connection
    }

    private func add(_ numbers: Range<Int>, to rows: inout PostgreSQLRows) throws {
        for number in numbers {
            rows.beginRow(columns: 2)
            rows.addInt64(Int64(number))
            if number % 3 == 0 { rows.addNull(.text) } else { try rows.addText("name \(number)") }
        }
    }

    @Test
    func `Rows go in and come out, in two round trips and one`() throws {
        let connection = try connected()
        let trips = connection.roundTrips
        var next = 0
        let count = try connection.copyIn(Self.into) { rows in
            try add(next..<next + 1000, to: &rows)
            next += 1000
            return next < 10_000
        }
        #expect(count == 10_000)
        #expect(connection.roundTrips == trips + 2)
        var found = 0
        try connection.copyOut("COPY (SELECT id, name FROM t ORDER BY id) TO STDOUT (FORMAT binary)") { row in
            let id = try #require(try row.bytes(0)).loadUnaligned(as: Int64.self).bigEndian
            #expect(id == Int64(found) && row.count == 2)
            let name = try row.bytes(1).map { String(decoding: $0, as: UTF8.self) }
            #expect(name == (found % 3 == 0 ? nil : "name \(found)"))
            found += 1
        }
        #expect(found == 10_000)
        #expect(connection.roundTrips == trips + 3)
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 10_000)
    }

    @Test
    func `No rows go in and come out`() throws {
        let connection = try connected()
        #expect(try connection.copyIn(Self.into) { _ in false } == 0)
        try connection.copyOut("COPY t TO STDOUT (FORMAT binary)") { _ in Issue.record("there is no row") }
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 0)
    }

    @Test
    func `A caller that gives up leaves no row and a usable connection`() throws {
        struct GivenUp: Error {}
        let connection = try connected()
        #expect(throws: GivenUp.self) {
            try connection.copyIn(Self.into) { rows in
                try add(0..<10, to: &rows)
                throw GivenUp()
            }
        }
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 0)
        try connection.copyIn(Self.into) { rows in
            try add(0..<50_000, to: &rows)
            return false
        }
        var seen = 0
        #expect(throws: GivenUp.self) {
            try connection.copyOut("COPY t TO STDOUT (FORMAT binary)") { _ in
                seen += 1
                throw GivenUp()
            }
        }
        #expect(seen == 1)
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 50_000)
    }

    @Test
    func `A row that breaks a constraint is the server's error, and no row stays`() throws {
        let connection = try connected()
        let error = try failure {
            try connection.copyIn(Self.into) { rows in
                try add(0..<5, to: &rows)
                try add(0..<1, to: &rows)
                return false
            }
        }
        #expect(error.state == "23505" && error.constraint == "t_pkey")
        #expect(try connection.execute("SELECT count(*) FROM t").int64(0, 0) == 0)
    }

    @Test
    func `A row of another shape is the server's error`() throws {
        let connection = try connected()
        let error = try failure {
            try connection.copyIn(Self.into) { rows in
                rows.beginRow(columns: 1)
                rows.addInt64(1)
                return false
            }
        }
        #expect(error.kind == .server && error.state == "22P04")
        #expect(connection.isOpen)
    }

    @Test
    func `A COPY that is none, or of the other direction, is an error`() throws {
        let connection = try connected()
        #expect(try failure { try connection.copyIn("COPY no_such_table FROM STDIN (FORMAT binary)") { _ in false } }.state == "42P01")
        #expect(try failure { try connection.copyIn("SELECT 1") { _ in false } }.kind == .badAnswer)
        #expect(try connection.execute("SELECT 1").count == 1)
        #expect(try failure { try connection.copyOut("COPY t FROM STDIN (FORMAT binary)") { _ in } }.kind == .badAnswer)
        #expect(!connection.isOpen, "the server waits for rows that do not come")
    }

    @Test
    func `A COPY in the server's text form cannot be read`() throws {
        let connection = try connect()
        #expect(try failure { try connection.copyOut("COPY (SELECT 'a text that is long enough') TO STDOUT") { _ in } }.kind == .badAnswer)
        #expect(try connection.execute("SELECT 1").count == 1)
    }

    @Test
    func `Large rows come through`() throws {
        let connection = try connected(), text = String(repeating: "ü", count: 3_000_000)
        var rest = 3
        let count = try connection.copyIn(Self.into) { rows in
            rows.beginRow(columns: 2)
            rows.addInt64(Int64(rest))
            try rows.addText(text)
            rest -= 1
            return rest > 0
        }
        #expect(count == 3)
        var lengths: [Int] = []
        try connection.copyOut("COPY t TO STDOUT (FORMAT binary)") { lengths.append(try $0.bytes(1)?.count ?? -1) }
        #expect(lengths == [6_000_000, 6_000_000, 6_000_000])
    }
}
