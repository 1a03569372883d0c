@testable import HeartwoodS3
import RecordLog
import Testing

struct LocationTests {
    private func location(_ url: String, _ environment: [String: String] = [:]) throws(BackupError) -> S3Location {
        try S3Location(url: url, environment: environment)
    }

    @Test(arguments: [
            ("s3://shop", "https", "shop.s3.us-east-1.amazonaws.com", "/a/b", "s3://shop"),
            ("s3://shop/", "https", "shop.s3.us-east-1.amazonaws.com", "/a/b", "s3://shop"),
            ("s3://shop/back/ups/", "https", "shop.s3.us-east-1.amazonaws.com", "/back/ups/a/b", "s3://shop/back/ups"),
            ("s3://shop/back%20ups?region=eu-north-1", "https", "shop.s3.eu-north-1.amazonaws.com", "/back%20ups/a/b", "s3://shop/back ups"),
            ("s3://shop?region=cn-north-1", "https", "shop.s3.cn-north-1.amazonaws.com.cn", "/a/b", "s3://shop"),
            ("s3://shop?path-style=true", "https", "s3.us-east-1.amazonaws.com", "/shop/a/b", "s3://shop"),
            ("s3://shop.example", "https", "s3.us-east-1.amazonaws.com", "/shop.example/a/b", "s3://shop.example"),
            ("s3://shop?endpoint=http://127.0.0.1:9000", "http", "127.0.0.1:9000", "/shop/a/b", "s3://shop"),
            ("s3://shop?endpoint=http%3A%2F%2Flocalhost%3A9000", "http", "localhost:9000", "/shop/a/b", "s3://shop"),
            ("s3://shop?endpoint=https://S3.Example.com:443/", "https", "s3.example.com", "/shop/a/b", "s3://shop"),
            ("s3://shop?endpoint=http://s3.example.com:80", "http", "s3.example.com", "/shop/a/b", "s3://shop"),
            ("s3://shop?endpoint=https://example.com/storage/v1/s3", "https", "example.com", "/storage/v1/s3/shop/a/b", "s3://shop"),
            ("s3://shop?endpoint=https://example.com&path-style=false", "https", "shop.example.com", "/a/b", "s3://shop"),
            ("s3://shop?endpoint=http://[::1]:9000", "http", "[::1]:9000", "/shop/a/b", "s3://shop"),
        ])
    func `A URL names the host and the path of a key`(url: String, scheme: String, host: String, path: String, description: String) throws
    {
        let location = try location(url)
        #expect(location.isSecure == (scheme == "https"))
        #expect(location.host == host)
        #expect(location.path(key: location.key("a/b")) == path)
        #expect(location.description == description)
    }

    @Test
    func `The bucket itself has a path too`() throws {
        #expect(try location("s3://shop").path(key: nil) == "/")
        #expect(try location("s3://shop?path-style=true").path(key: nil) == "/shop")
        #expect(try location("s3://shop?endpoint=https://h/base&path-style=false").path(key: nil) == "/base")
    }

    @Test
    func `The environment gives what the URL leaves out, and the URL goes first`() throws {
        let environment = [
            "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2", "AWS_ENDPOINT_URL": "http://one", "AWS_ENDPOINT_URL_S3": "http://two",
        ]
        let fromEnvironment = try location("s3://b", environment)
        #expect(fromEnvironment.region == "eu-west-1")
        #expect(fromEnvironment.endpoint == "http://two")
        let fromURL = try location("s3://b?region=auto&endpoint=http://three", environment)
        #expect(fromURL.region == "auto")
        #expect(fromURL.endpoint == "http://three")
        let general = try location("s3://b", ["AWS_DEFAULT_REGION": "eu-west-2", "AWS_ENDPOINT_URL": "http://one", "AWS_REGION": ""])
        #expect(general.region == "eu-west-2")
        #expect(general.endpoint == "http://one")
    }

    @Test(arguments: [
            "", "shop", "https://shop", "s3://", "s3:///prefix", "s3://sh op", "s3://shop/a//b", "s3://shop/a/../b", "s3://shop/./b", "s3://shop/%",
            "s3://shop/%FF", "s3://shop/a%0Ab", "s3://shop?endpoint=", "s3://shop?endpoint=example.com", "s3://shop?endpoint=ftp://e.com",
            "s3://shop?endpoint=https://", "s3://shop?endpoint=https://u:hunter2@e.com", "s3://shop?endpoint=https://e.com/%3Fhunter2",
            "s3://shop?endpoint=https://e.com?hunter2=1", "s3://shop?endpoint=https://e.com/../x", "s3://shop?region=EU", "s3://shop?region=",
            "s3://shop?path-style=yes", "s3://shop?secret=hunter2", "s3://shop?region=a&region=b", "s3://key:hunter2@shop/x", "s3://shop#hunter2",
            "s3://shop?endpoint=https://e.com:99999", "s3://../x",
        ])
    func `A URL with a mistake is refused, and its text is not repeated`(url: String)
    {
        let error = #expect(throws: BackupError.self) { try location(url) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test
    func `A prefix has at most 511 bytes, so that every key is one`() throws {
        #expect(try S3Location(bucket: "b", prefix: String(repeating: "p", count: 511)).prefix.count == 511)
        #expect(throws: BackupError.self) { try S3Location(bucket: "b", prefix: String(repeating: "p", count: 512)) }
    }

    @Test
    func `Credentials come from the environment, and show nowhere`() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "hunter1", "AWS_SECRET_ACCESS_KEY": "hunter2\n", "AWS_SESSION_TOKEN": "hunter3"]
        let credentials = try S3Credentials(environment: environment)
        #expect(credentials.accessKeyID == "hunter1")
        #expect(credentials.secretAccessKey == "hunter2")
        #expect(credentials.sessionToken == "hunter3")
        var dumped = ""
        dump(credentials, to: &dumped)
        dump([credentials], to: &dumped)
        dumped += "\(credentials)" + String(reflecting: credentials) + "\([Optional(credentials)])"
        #expect(!dumped.contains("hunter"))
        #expect(credentials.redacted("a hunter1 b hunter2 c hunter3") == "a … b … c …")
    }

    @Test
    func `Missing credentials are named`() {
        let both = #expect(throws: BackupError.self) { try S3Credentials(environment: [:]) }
        #expect(both?.message.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") == true)
        let one = #expect(throws: BackupError.self) { try S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": ""]) }
        #expect(one?.message.contains("no AWS_SECRET_ACCESS_KEY") == true)
        #expect(throws: BackupError.self) { try S3Destination(url: "s3://bucket", environment: [:]) }
    }
}
