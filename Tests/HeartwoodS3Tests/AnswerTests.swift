import HeartwoodFileReading
import Testing

@testable import HeartwoodS3

struct AnswerTests {
    private func read(_ text: String) throws -> XMLNode { try XMLNode.read(Array(text.utf8)) }

    @Test
    func `Elements, text, references, CDATA, comments and attributes are read`() throws {
        let root = try read(
            "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- <x> --><a:R xmlns:a='u>\"'><K>a &amp;&lt;&gt;&quot;&apos;&#65;&#x42;é</K><E/>"
                + "<E b=\"/>\" /><K><![CDATA[<&]]>c<!-- n -->d</K></a:R >\n"
        )
        #expect(root.name == "R")
        #expect(root["K"] == "a &<>\"'ABé")
        #expect(root.all("E").count == 2)
        #expect(root.all("K").last?.text == "<&cd")
    }

    @Test
    func `Characters that XML does not have are taken, as servers write them`() throws {
        #expect(try read("<a>\u{7}&#1;\u{FFFF}</a>").text == "\u{7}\u{1}\u{FFFF}")
    }

    @Test(
        arguments: [
            "", "  ", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a/>text", "</a>", "<a", "<a b='", "<>", "<a>&unknown;</a>",
            "<a>&#xD800;</a>",
            "<a>&#x110000;</a>", "<a>&amp</a>", "<!DOCTYPE a><a/>", "<a><!DOCTYPE b></a>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<a><![CDATA[x</a>",
            "<a><!-- x</a>", "<?x", "<![CDATA[x]]><a/>", "<a <b/></a>",
        ])
    func `A damaged document is refused`(text: String)
    {
        #expect(throws: XMLReader.Fault.self) { try read(text) }
    }

    @Test
    func `Bytes that are not UTF-8 are refused`() {
        #expect(throws: XMLReader.Fault.self) { try XMLNode.read(Array("<a>".utf8) + [0xFF] + Array("</a>".utf8)) }
        #expect(throws: XMLReader.Fault.self) { try XMLNode.read([0x3C, 0xFF, 0x2F, 0x3E]) }
    }

    @Test
    func `Every prefix of a document is refused, and no change of a byte ends the process`() throws {
        let text = Array("<?xml version=\"1.0\"?><R a='b'><K>x&amp;y</K><!--c--><E/><![CDATA[z]]></R>".utf8)
        for count in 0..<text.count { #expect(throws: XMLReader.Fault.self) { try XMLNode.read(Array(text.prefix(count))) } }
        for index in text.indices {
            for byte: UInt8 in [0, 0x26, 0x3C, 0x3E, 0x2F, 0x21, 0x3F, 0xC3] {
                var changed = text
                changed[index] = byte
                _ = try? XMLNode.read(changed)
            }
        }
    }

    @Test
    func `Deep and long documents are refused in bounded time`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: XMLReader.Fault.self) { try read(deep) }
        #expect(throws: XMLReader.Fault.self) { try read("<a>" + String(repeating: "<b/>", count: XMLNode.nodesMax) + "</a>") }
    }

    private func page(_ inner: String) throws -> S3ListPage? { S3ListPage(try read("<ListBucketResult>\(inner)</ListBucketResult>")) }

    @Test
    func `A listing's keys are decoded only where the server says that they are encoded`() throws {
        let entry = "<Contents><Key>a%20b+c</Key><LastModified>x</LastModified><Size>12</Size></Contents>"
        #expect(try page(entry)?.objects.map(\.key) == ["a%20b+c"])
        #expect(try page("<EncodingType>url</EncodingType>" + entry)?.objects.map(\.key) == ["a b c"])
        #expect(try page(entry)?.objects.map(\.size) == [12])
        #expect(try page("<IsTruncated>true</IsTruncated><NextContinuationToken>t+/=</NextContinuationToken>")?.next == "t+/=")
        #expect(try page("<IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken>")?.next == nil)
    }

    @Test(
        arguments: [
            "<Contents><Size>1</Size></Contents>", "<Contents><Key>a</Key></Contents>", "<Contents><Key>a</Key><Size>-1</Size></Contents>",
            "<Contents><Key>a</Key><Size>99999999999999999999</Size></Contents>", "<IsTruncated>true</IsTruncated>",
            "<IsTruncated>true</IsTruncated><NextContinuationToken/>",
            "<EncodingType>url</EncodingType><Contents><Key>%F</Key><Size>1</Size></Contents>",
        ])
    func `A listing that lacks something is none`(inner: String) throws
    {
        #expect(try page(inner) == nil)
        #expect(S3ListPage(try read("<Other/>")) == nil)
    }

    @Test
    func `An error's code, words and request are read, also from within another element`() {
        let text = "<Error><Code>SlowDown</Code><Message>Reduce</Message><RequestId>R</RequestId><Region>eu</Region></Error>"
        for document in [text, "<ErrorResponse>\(text)</ErrorResponse>"] {
            let answer = S3ErrorAnswer(Array(document.utf8))
            #expect(answer?.code == "SlowDown")
            #expect(answer?.message == "Reduce")
            #expect(answer?.requestID == "R")
            #expect(answer?.region == "eu")
        }
        for text in ["", "slow", "<html><body>502</body></html>", "<Error/>"] { #expect(S3ErrorAnswer(Array(text.utf8)) == nil) }
    }

    @Test
    func `Ranges of an answer are read`() {
        #expect(ContentRange("bytes 0-99/1234")?.range == 0..<100)
        #expect(ContentRange("bytes 5-5/*")?.size == nil)
        #expect(ContentRange("bytes 5-5/*")?.range == 5..<6)
        for text in ["", "bytes */100", "bytes 9-5/100", "items 0-1/2", "bytes 0-18446744073709551615/*", "bytes 0-1/x", "bytes 0-1"] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }

    @Test
    func `Pauses double up to the longest, and are at least what the server asks for`() {
        let retries = S3Retries(attempts: 8, firstPause: 0.5, longestPause: 4)
        #expect((1...6).map { retries.pause(after: $0, asked: nil, random: 1) } == [0.5, 1, 2, 4, 4, 4])
        #expect(retries.pause(after: 3, asked: nil, random: 0.25) == 0.5)
        #expect(retries.pause(after: 1, asked: 3, random: 0.5) == 3)
        #expect(retries.pause(after: 1, asked: 1e9, random: 0.5) == 4)
        for odd in [Double.nan, .infinity, -1] {
            let retries = S3Retries(firstPause: odd, longestPause: odd)
            #expect((0...86_400).contains(retries.pause(after: 3, asked: odd, random: 0.5)))
        }
        #expect(S3Retries(firstPause: 0).pause(after: 1000, asked: nil, random: 1) == 0)
    }

    @Test
    func `Statuses and codes that may pass are tried again, others are not`() {
        for status in [408, 429, 500, 502, 503, 504, 520, 599] { #expect(S3Fault.isTemporary(status: status, code: ""), "\(status)") }
        for status in [301, 400, 401, 403, 404, 405, 409, 411, 412, 416, 501, 505, 507] {
            #expect(!S3Fault.isTemporary(status: status, code: ""), "\(status)")
        }
        #expect(S3Fault.isTemporary(status: 400, code: "RequestTimeout"))
        #expect(S3Fault.isTemporary(status: 409, code: "ConditionalRequestConflict"))
        #expect(!S3Fault.isTemporary(status: 403, code: "AccessDenied"))
    }

    @Test
    func `Parts have one size where the upload's size is known, and stay within 10,000`() {
        let known = PartSizes(least: 8 << 20, size: 200 << 30)
        #expect(known.size(of: 1) == known.size(of: 9999))
        #expect(UInt64(known.size(of: 1)) * 10_000 >= 200 << 30)
        #expect(PartSizes(least: 8 << 20, size: 9 << 20).size(of: 1) == 8 << 20)
        let unknown = PartSizes(least: 8 << 20, size: nil)
        #expect([1, 2500, 2501, 10_000].map { unknown.size(of: $0) >> 20 } == [8, 8, 16, 64])
    }
}
