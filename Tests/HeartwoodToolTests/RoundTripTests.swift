import Foundation
import HeartwoodTestSupport
import Testing

/// An export that is imported again gives the same values.
@Suite struct RoundTripTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-round-trip-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("All.xcdatamodel"), withIntermediateDirectories: true)
        let types = [
            "text": "String", "i16": "Integer 16", "i64": "Integer 64", "dbl": "Double", "flt": "Float", "dec": "Decimal", "date": "Date",
            "data": "Binary",
        ]
        let attributes = types.sorted { $0.key < $1.key }.map {
            "<attribute name=\"\($0.key)\" optional=\"YES\" attributeType=\"\($0.value)\"/>"
        }
        func entity(_ name: String, _ content: String) -> String {
            """
            <entity name="\(name)"><attribute name="key" optional="YES" attributeType="String"/>\(content)
            <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint></uniquenessConstraints></entity>
            """
        }
        let model = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model>
            \(entity("Item", attributes.joined() + """
                <relationship name="one" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Tag"/>
                <relationship name="tags" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" destinationEntity="Tag"/>
                """))
            \(entity("Tag", ""))
            </model>
            """
        try model.write(to: folder.appendingPathComponent("All.xcdatamodel/contents"), atomically: true, encoding: .utf8)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func imported(_ text: String, _ format: String, into store: String) throws -> ToolProcess.Result {
        let file = path("\(UUID().uuidString).\(format)")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return try ToolProcess.run("import", path(store), "--model", path("All.xcdatamodel"), "--entity", "Item", "--key", "key", file)
    }

    private func exported(_ store: String, _ format: String = "jsonl") throws -> String {
        try ToolProcess.run("export", path(store), "--entity", "Item", "--sort", "key", "--format", format).output
    }

    /// Sends one line of JSON through a store and back.
    private func through(_ line: String) throws -> String {
        let store = "\(UUID().uuidString).heartwood"
        let result = try imported(line + "\n", "jsonl", into: store)
        #expect(result.status == 0, "\(line): \(result.error)")
        return try exported(store).trimmingCharacters(in: .newlines)
    }

    @Test
    func `Dates come back as they were`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let dates = [
            "2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.999Z", "2024-01-02T03:04:05.123456Z", "1969-12-31T23:59:59.999Z",
            "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "2001-01-01T00:00:00.1234567890123Z",
            "1582-10-04T00:00:00.000Z", "1582-10-10T12:00:00.000Z", "1582-12-31T23:59:59.500Z", "1583-01-01T00:00:00.000Z",
            "0004-02-29T00:00:00.000Z",
        ]
        let lines = dates.enumerated().map { "{\"date\":\"\($1)\",\"key\":\"\($0 + 10)\"}\n" }.joined()
        #expect(try imported(lines, "jsonl", into: "dates").status == 0)
        #expect(try exported("dates") == lines)
        // ISO 8601 has the Gregorian calendar before 1582, too.
        #expect(try through(#"{"date":-12219292800,"key":"a"}"#) == #"{"date":"1582-10-15T00:00:00.000Z","key":"a"}"#)
        #expect(try through(#"{"date":-12219379200,"key":"a"}"#) == #"{"date":"1582-10-14T00:00:00.000Z","key":"a"}"#)
        #expect(try through(#"{"date":-62135596800,"key":"a"}"#) == #"{"date":"0001-01-01T00:00:00.000Z","key":"a"}"#)
        // Dates without a year of four digits are written as seconds.
        #expect(try through(#"{"date":-1e11,"key":"a"}"#) == #"{"date":-100000000000,"key":"a"}"#)
        #expect(try through(#"{"date":1e300,"key":"a"}"#) == #"{"date":1e+300,"key":"a"}"#)
        #expect(try through(#"{"date":"2024-01-02T03:04:05.5+02:00","key":"a"}"#) == #"{"date":"2024-01-02T01:04:05.500Z","key":"a"}"#)
    }

    @Test
    func `Any date comes back`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var generator = SeededGenerator(seed: 7)
        let seconds = (0..<200).map { _ in
            Double.random(in: -1e11...3e11, using: &generator) * pow(2, Double.random(in: -60...4, using: &generator))
        }
        let lines = seconds.enumerated().map { "{\"date\":\($1),\"key\":\"\($0)\"}\n" }.joined()
        #expect(try imported(lines, "jsonl", into: "first").status == 0)
        for format in ["jsonl", "csv"] {
            #expect(try imported(try exported("first", format), format, into: "second \(format)").status == 0)
            for store in ["first", "second \(format)"] {
                let count = try ToolProcess.run("query", path(store), "Item", "--count").output
                #expect(count == "200\n")
            }
            #expect(try exported("second \(format)") == exported("first"))
        }
    }

    @Test
    func `Unusual numbers come back or are refused`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for line in [
            #"{"dbl":-0,"flt":-0,"key":"a"}"#, #"{"dbl":-0,"key":"a-0\"-0","text":"\\-0"}"#, #"{"dbl":"nan","flt":"-inf","key":"a"}"#,
            #"{"dec":"NaN","key":"a"}"#,
            #"{"dec":"-123456789012345678901234567890.12345678","key":"a"}"#, #"{"i64":9223372036854775807,"key":"a"}"#,
        ] {
            #expect(try through(line) == line)
        }
        #expect(try through(#"{"dbl":-0.0,"flt": "-0","i16":-0,"dec":-0,"key":"a"}"#) == #"{"dbl":-0,"dec":"0","flt":-0,"i16":0,"key":"a"}"#)
        #expect(try through(#"{"dbl":-25e-05,"flt":-0.5,"key":"a","i64":-0}"#) == #"{"dbl":-0.00025,"flt":-0.5,"i64":0,"key":"a"}"#)
        #expect(try through(#"{"dec":1.5e3,"key":"a"}"#) == #"{"dec":"1500","key":"a"}"#)
        for value in [
            #""dec":"12abc""#, #""dec":"1,5""#, #""dec":1e200"#, #""dec":"1e200""#, #""flt":1e300"#, #""flt":"1e300""#, #""dbl":"1e400""#,
            #""date":"tomorrow""#, #""date":"2024-01-02T03:04:05.Z""#,
        ] {
            let result = try imported("{\"key\":\"a\",\(value)}\n", "jsonl", into: "refused")
            #expect(
                result.status == 1 && result.error.contains("does not fit") && result.error.contains("Nothing is saved"),
                "\(value): \(result.error)")
        }
    }

    @Test
    func `Texts of delimited files come back`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = ["a\r\nb", "\r", "\n", "\r\n", "ends\r", "\u{FEFF}mark", "\"", "a,b", "", " ", "x\n\u{FEFF}y"]
        let lines = try texts.enumerated().map { number, text in
            let object = ["key": "\u{FEFF}\(number)", "text": text]
            return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self) + "\n"
        }.joined()
        #expect(try imported(lines, "jsonl", into: "first").status == 0)
        let result = try imported(try exported("first", "csv"), "csv", into: "second")
        #expect(result.status == 0, "\(result.error)")
        #expect(try exported("second") == exported("first"))
        // A byte order mark at the file's start is not part of its text.
        #expect(try imported("\u{FEFF}key,text\r\na,\"b\r\nc\"\r\n", "csv", into: "third").status == 0)
        #expect(try exported("third") == "{\"key\":\"a\",\"text\":\"b\\r\\nc\"}\n")
        let old = try imported("key,text\ra,x\rb,y\r", "csv", into: "fourth")
        #expect(old.status == 1 && old.error.contains("carriage return"))
    }

    @Test
    func `Keys with semicolons stay whole`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = #"{"key":"a;b","one":"x;y\\","tags":["t;1","\\","t2","c:\\d"]}"#
        #expect(try through(line) == line)
        #expect(try through(#"{"key":"a","tags":"t;1"}"#) == #"{"key":"a","tags":["t;1"]}"#)
        #expect(try imported(line + "\n", "jsonl", into: "first").status == 0)
        #expect(try imported(try exported("first", "csv"), "csv", into: "second").status == 0)
        #expect(try exported("second") == line + "\n")
        #expect(try imported("key,tags,one\na,c:\\d;e,f;g\n", "csv", into: "third").status == 0)
        #expect(try exported("third") == #"{"key":"a","one":"f;g","tags":["c:\\d","e"]}"# + "\n")
    }

    @Test
    func `An import that fails leaves no store`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = path("a.csv")
        for (text, entity, key) in [("", "Item", "key"), ("key\na\n", "Nobody", "key"), ("key\na\n", "Item", "nothing")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let result = try ToolProcess.run(
                "import", path("none"), "--model", path("All.xcdatamodel"), "--entity", entity, "--key", key, file)
            #expect(result.status != 0 && !FileManager.default.fileExists(atPath: path("none")), "\(result.error)")
        }
    }
}
