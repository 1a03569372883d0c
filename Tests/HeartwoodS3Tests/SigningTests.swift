@testable import HeartwoodS3
import Testing

/// Amazon's published examples: "Authenticating Requests: Using the Authorization Header", section "Examples: Signature Calculations".
struct SigningTests {
    private let signer = RequestSigner(
        credentials: S3Credentials(accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    /// 2013-05-24, midnight.
    private let seconds: Int64 = 1_369_353_600
    private let nothing = RequestSigner.Payload.hashed([
        0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93,
        0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
    ])
    private let host = "examplebucket.s3.amazonaws.com"

    private func signature(
        _ method: String, _ path: String, query: [(name: String, value: String)] = [], headers: [String: String] = [:],
        payload: RequestSigner.Payload? = nil
    ) -> String {
        let headers = headers.merging(["host": host]) { given, _ in given }
        let signed = signer.headers(
            method: method, path: path, query: query, headers: headers, payload: payload ?? nothing, seconds: seconds)
        return signed["authorization"] ?? ""
    }

    @Test
    func `A get of a range has Amazon's signature`() {
        #expect(
            signature("GET", "/test.txt", headers: ["range": "bytes=0-9"])
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test
    func `A put has Amazon's signature`() {
        let hash: [UInt8] = [
            0x44, 0xce, 0x7d, 0xd6, 0x7c, 0x95, 0x9e, 0x0d, 0x35, 0x24, 0xff, 0xac, 0x17, 0x71, 0xdf, 0xbb, 0xa8, 0x7d, 0x2b, 0x6b, 0x4b, 0x4e,
            0x99, 0xe4, 0x20, 0x34, 0xa8, 0xb8, 0x03, 0xf8, 0xb0, 0x72,
        ]
        let headers = ["date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"]
        let path = "/" + PercentEncoding.encoded("test$file.text", keepsSlashes: true)
        #expect(
            signature("PUT", path, headers: headers, payload: .hashed(hash)).hasSuffix(
                "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
    }

    @Test
    func `A query without a value has Amazon's signature`() {
        #expect(
            signature("GET", "/", query: [("lifecycle", "")]).hasSuffix(
                "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"))
    }

    @Test
    func `A listing has Amazon's signature, in any order of its fields`() {
        let expected = "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        #expect(signature("GET", "/", query: [("max-keys", "2"), ("prefix", "J")]).hasSuffix(expected))
        #expect(signature("GET", "/", query: [("prefix", "J"), ("max-keys", "2")]).hasSuffix(expected))
    }

    @Test
    func `A session token is sent and signed`() {
        let signer = RequestSigner(credentials: S3Credentials(accessKeyID: "A", secretAccessKey: "S", sessionToken: "T"), region: "r")
        let headers = signer.headers(method: "GET", path: "/", query: [], headers: ["host": "h"], payload: .unsigned, seconds: 0)
        #expect(headers["x-amz-security-token"] == "T")
        #expect(headers["authorization"]?.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,") == true)
        #expect(headers["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD")
        #expect(headers["x-amz-date"] == "19700101T000000Z")
    }

    @Test
    func `Paths and queries are encoded byte by byte`() {
        #expect(PercentEncoding.encoded("a b/c+d~e.é", keepsSlashes: true) == "a%20b/c%2Bd~e.%C3%A9")
        #expect(RequestSigner.canonical([("b", "x/y"), ("a", "2"), ("a", "1 ")]) == "a=1%20&a=2&b=x%2Fy")
        #expect(PercentEncoding.decoded("a%20b+c%C3%A9") == "a b+cé")
        #expect(PercentEncoding.decoded("a+b%2B", plusIsSpace: true) == "a b+")
        for text in ["%", "%4", "%G0", "a%zz", "%FF"] { #expect(PercentEncoding.decoded(text) == nil, "\(text)") }
    }

    @Test(
        arguments: [
            (0, "19700101T000000Z", "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "20000229T000000Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
            (784_111_777, "19941106T084937Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_369_353_600, "20130524T000000Z", "Fri, 24 May 2013 00:00:00 GMT"),
            (4_107_542_399, "21000228T235959Z", "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "21000301T000000Z", "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] as [(Int64, String, String)])
    func `Times are written and read`(seconds: Int64, stamp: String, header: String)
    {
        #expect(HTTPDate.stamp(seconds) == stamp)
        #expect(HTTPDate.seconds(header) == seconds)
    }

    @Test(arguments: ["", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 99999999999999999999 Nov 1994 08:49:37 GMT"])
    func `Other texts are no times`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
