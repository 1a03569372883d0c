import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.withServer)
struct ValueTests {
    @Test
    func `Each type comes back as it was sent`() throws {
        let connection = try connect(), uuid = UUID(), bytes = Data([0, 1, 255, 0])
        let parameters = try PostgreSQLParameters {
            $0.addInt16(.min)
            $0.addInt32(.max)
            $0.addInt64(.min)
            $0.addFloat(-0.0)
            $0.addDouble(.greatestFiniteMagnitude)
            $0.addBool(true)
            $0.addUUID(uuid)
            try $0.addText("ß 𝄞 \u{1} e\u{301}")
            $0.addNumeric(PostgreSQLNumeric(digits: 12345, exponent: -3, isNegative: true))
            try $0.addBytes(bytes)
        }
        let answer = try connection.execute("SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10", parameters)
        #expect(try answer.int16(0, 0) == .min)
        #expect(try answer.int32(0, 1) == .max)
        #expect(try answer.int64(0, 2) == .min)
        #expect(try answer.float(0, 3).bitPattern == Float(-0.0).bitPattern)
        #expect(try answer.double(0, 4) == .greatestFiniteMagnitude)
        #expect(try answer.bool(0, 5))
        #expect(try answer.uuid(0, 6) == uuid)
        #expect(try answer.text(0, 7).utf8.elementsEqual("ß 𝄞 \u{1} e\u{301}".utf8))
        #expect(try answer.numeric(0, 8) == PostgreSQLNumeric(digits: 12345, exponent: -3, isNegative: true))
        #expect(try answer.bytes(0, 9) == bytes)
        #expect(try (0..<3).map { try answer.integer(0, $0) } == [Int64(Int16.min), Int64(Int32.max), .min])
        #expect(try answer.withBytes(0, 9) { $0.map { Data($0) } } == bytes)
    }

    @Test
    func `A null of each type is a null`() throws {
        let connection = try connect()
        let types: [PostgreSQLType] = [.int2, .int4, .int8, .float4, .float8, .bool, .uuid, .text, .numeric, .bytea]
        let answer = try connection.execute(
            "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10", PostgreSQLParameters { for type in types { $0.addNull(type) } })
        for column in types.indices {
            #expect(try answer.isNull(0, column))
            #expect(answer.type(of: column) == types[column])
            #expect(try answer.withBytes(0, column) { $0 == nil })
        }
        #expect(try failure { _ = try answer.int64(0, 2) }.kind == .badAnswer)
        #expect(try failure { _ = try answer.text(0, 7) }.message.contains("null"))
    }

    @Test
    func `An empty text and empty bytes are no nulls`() throws {
        let parameters = try PostgreSQLParameters {
            try $0.addText("")
            try $0.addBytes(Data())
        }
        let answer = try connect().execute("SELECT $1, $2", parameters)
        #expect(try answer.text(0, 0) == "")
        #expect(try answer.bytes(0, 1).isEmpty)
        #expect(try !answer.isNull(0, 0))
    }

    @Test
    func `Arrays become rows, with nulls where they were`() throws {
        var numbers = PostgreSQLArray(of: .int8), texts = PostgreSQLArray(of: .text), amounts = PostgreSQLArray(of: .numeric)
        for number in 0..<1000 {
            if number % 7 == 0 { numbers.addNull() } else { numbers.addInt64(Int64(number)) }
            if number % 5 == 0 { texts.addNull() } else { try texts.addText("text \(number)") }
            amounts.addNumeric(PostgreSQLNumeric(digits: UInt128(number), exponent: -2))
        }
        let parameters = try PostgreSQLParameters {
            try $0.add(numbers)
            try $0.add(texts)
            try $0.add(amounts)
        }
        let answer = try connect().execute("SELECT a, b, c::text FROM unnest($1, $2, $3) WITH ORDINALITY AS u (a, b, c, n) ORDER BY n", parameters)
        #expect(answer.count == 1000)
        for row in 0..<answer.count {
            if row % 7 == 0 { #expect(try answer.isNull(row, 0)) } else { #expect(try answer.int64(row, 0) == Int64(row)) }
            if row % 5 == 0 { #expect(try answer.isNull(row, 1)) } else { #expect(try answer.text(row, 1) == "text \(row)") }
        }
        #expect(try answer.text(307, 2) == "3.07")
    }

    @Test
    func `An empty array makes no row`() throws {
        let answer = try connect().execute("SELECT * FROM unnest($1)", PostgreSQLParameters { try $0.add(PostgreSQLArray(of: .uuid)) })
        #expect(answer.count == 0)
        #expect(answer.columnCount == 1)
    }

    @Test
    func `Numbers of many digits agree with the server's text`() throws {
        let connection = try connect(), seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(seed)
        var numbers = PostgreSQLArray(of: .numeric), wanted: [PostgreSQLNumeric] = []
        for _ in 0..<500 {
            let digits = UInt128(random.next()) << 64 | UInt128(random.next())
            let number = PostgreSQLNumeric(
                digits: digits >> UInt128(random.next() % 128), exponent: Int(random.next() % 80) - 40, isNegative: random.next() % 2 == 0)
            wanted.append(number)
            numbers.addNumeric(number)
        }
        let answer = try connection.execute("SELECT u, u::text FROM unnest($1) AS u", PostgreSQLParameters { try $0.add(numbers) })
        for (row, number) in wanted.enumerated() {
            #expect(try answer.text(row, 1) == number.plainText, "seed \(seed), row \(row)")
            #expect(try answer.numeric(row, 0).plainText.trimmedZeros == number.plainText.trimmedZeros, "seed \(seed), row \(row)")
        }
    }

    @Test
    func `NaN is a number of the server, and an infinity or too many digits are none of ours`() throws {
        let connection = try connect()
        let answer = try connection.execute("SELECT $1, $1 = 'NaN'", PostgreSQLParameters { $0.addNumeric(.nan) })
        #expect(try answer.numeric(0, 0).isNaN)
        #expect(try answer.bool(0, 1))
        let others = try connection.execute("SELECT 'Infinity'::numeric, repeat('9', 40)::numeric, 10::numeric ^ 60")
        #expect(try failure { _ = try others.numeric(0, 0) }.kind == .badAnswer)
        #expect(try failure { _ = try others.numeric(0, 1) }.kind == .badAnswer)
        #expect(try others.numeric(0, 2).plainText.hasPrefix("1000"))
    }

    @Test
    func `A text with U+0000 is refused before anything is sent`() throws {
        var parameters = PostgreSQLParameters()
        #expect(try failure { try parameters.addText("a\0b") }.kind == .badValue)
        #expect(parameters.count == 0 && parameters.bytes.isEmpty)
        let connection = try connect(), trips = connection.roundTrips
        #expect(try failure { try connection.execute(PostgreSQLStatement("SELECT '\0'")) }.kind == .badValue)
        #expect(connection.roundTrips == trips)
        #expect(try failure { _ = try PostgreSQLName.quoted("a\0") }.kind == .badValue)
    }

    @Test
    func `Too many parameters and too many bytes are refused before anything is sent`() throws {
        let connection = try connect(), trips = connection.roundTrips
        let many = PostgreSQLParameters { for _ in 0...PostgreSQLParameters.countMax { $0.addBool(true) } }
        #expect(try failure { try connection.execute("SELECT 1", many) }.kind == .badValue)
        // Memory that nobody reads takes no place.
        let large = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: 8), count: 1 << 30)
        var parameters = PostgreSQLParameters()
        #expect(try failure { try parameters.addBytes(large) }.kind == .badValue)
        #expect(parameters.count == 0)
        #expect(connection.roundTrips == trips)
        #expect(try connection.execute("SELECT 1").count == 1)
    }

    @Test
    func `A wrong column, row or type is an error that names it`() throws {
        let answer = try connect().execute("SELECT 1::int4 AS number, 'a'::text AS word")
        #expect(try failure { _ = try answer.int64(0, 0) }.message.contains("number"))
        #expect(try failure { _ = try answer.int32(1, 0) }.kind == .badAnswer)
        #expect(try failure { _ = try answer.int32(-1, 0) }.kind == .badAnswer)
        #expect(try failure { _ = try answer.int32(0, 2) }.kind == .badAnswer)
        #expect(try failure { _ = try answer.isNull(0, -1) }.kind == .badAnswer)
        #expect(try failure { _ = try answer.uuid(0, 1) }.kind == .badAnswer)
        #expect(answer.name(of: 1) == "word")
        #expect(answer.name(of: 2) == nil)
        #expect(answer.type(of: 5) == nil)
    }

    @Test
    func `A name is quoted whatever it has`() throws {
        let connection = try connect(), name = "a \"b\" 'c' \\ $1; DROP -- ü"
        let quoted = try PostgreSQLName.quoted(name)
        try connection.execute(PostgreSQLStatement("CREATE TEMPORARY TABLE \(quoted) (\(quoted) int4)"))
        let answer = try connection.execute("SELECT relname FROM pg_class WHERE relname = $1", PostgreSQLParameters { try $0.addText(name) })
        #expect(try answer.text(0, 0) == name)
    }
}

extension PostgreSQLNumeric {
    /// As the server writes it: all digits, and no exponent.
    fileprivate var plainText: String {
        var text = String(digits)
        if exponent >= 0 {
            if digits != 0 { text += String(repeating: "0", count: exponent) }
        } else {
            text = String(repeating: "0", count: max(0, 1 - exponent - text.count)) + text
            text.insert(".", at: text.index(text.endIndex, offsetBy: exponent))
        }
        return isNegative && digits != 0 ? "-" + text : text
    }
}

extension String {
    fileprivate var trimmedZeros: Substring {
        guard contains(".") else { return self[...] }
        let kept = self[...].reversed().drop { $0 == "0" }.drop { $0 == "." }
        return Substring(String(kept.reversed()))
    }
}
