import Foundation
import HeartwoodTestSupport

/// An HTTP server on this machine. A test decides what each of its clients meets.
final class LoopbackServer: Sendable {
    struct Request: Sendable {
        var method = ""
        /// Percent-encoded, without the query.
        var path = ""
        var query: [String: String] = [:]
        /// Names in lower case.
        var headers: [String: String] = [:]
        var body: [UInt8] = []
        /// Counts all requests, from 0.
        var number = 0
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body: [UInt8] = []

        init(_ status: Int = 200, _ headers: [String: String] = [:], _ body: [UInt8] = []) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        init(_ status: Int, _ headers: [String: String] = [:], text: String) { self.init(status, headers, Array(text.utf8)) }

        /// An error as S3 writes it.
        static func error(_ status: Int, _ code: String, _ message: String = "", _ headers: [String: String] = [:], more: String = "") -> Answer {
            let text =
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>\(code)</Code><Message>\(message)</Message>\(more)"
                + "<RequestId>REQ1</RequestId></Error>"
            return Answer(status, headers, text: text)
        }
    }

    /// The end of one request.
    enum Reaction: Sendable {
        case answer(Answer)
        /// The head promises the whole body; the connection ends after so many bytes of it.
        case cut(Answer, after: Int)
        /// As `cut`, but the connection stays open and silent.
        case stall(Answer, after: Int)
        /// The connection ends without an answer.
        case close
        /// No byte is ever sent.
        case silence
        /// Bytes that need not be HTTP; then the connection ends.
        case raw([UInt8])
    }

    /// The reaction to a request before its body is read.
    enum Early: Sendable {
        case read
        /// The connection ends after so many bytes of the body.
        case cutUpload(after: Int)
        /// The answer is sent before the body is read, and the connection ends.
        case answer(Answer)
    }

    private let listener: LoopbackListener
    private let count = Watched(0)
    private let early: @Sendable (Request) -> Early
    private let react: @Sendable (Request) -> Reaction

    /// - Parameters:
    ///   - early: sees a request without its body.
    ///   - react: sees the whole request, on a thread of the connection.
    init(early: @escaping @Sendable (Request) -> Early = { _ in .read }, react: @escaping @Sendable (Request) -> Reaction) throws {
        listener = try LoopbackListener()
        self.early = early
        self.react = react
        listener.start { [weak self] in self?.serve($0) }
    }

    var port: UInt16 { listener.port }
    var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The number of requests so far, those that were cut short among them.
    var requests: Int { count.withLock { $0 } }

    func wait(forRequests number: Int) async -> Bool { await count.wait { $0 >= number } }

    /// Ends all connections. Later ones are not accepted.
    func stop() { listener.stop() }

    private func serve(_ connection: LoopbackSocket) {
        var buffer: [UInt8] = []
        while let request = read(connection, &buffer), perform(react(request), request, on: connection) {}
    }

    /// nil at the connection's end, or where it is to end.
    private func read(_ connection: LoopbackSocket, _ buffer: inout [UInt8]) -> Request? {
        var end: Range<Int>?
        while true {
            end = buffer.firstRange(of: Array("\r\n\r\n".utf8))
            guard end == nil else { break }
            guard let more = connection.receive() else { return nil }
            buffer += more
        }
        guard let end else { return nil }
        var request = Self.head(String(decoding: buffer[..<end.lowerBound], as: UTF8.self))
        request.number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        buffer.removeSubrange(..<end.upperBound)
        var length = Int(request.headers["content-length"] ?? "") ?? 0, isCut = false
        switch early(request) {
        case .read: break
        case .cutUpload(let after): (length, isCut) = (min(after, length), true)
        case .answer(let answer):
            _ = perform(.answer(answer), request, on: connection)
            return nil
        }
        while buffer.count < length {
            guard let more = connection.receive() else { return nil }
            buffer += more
        }
        request.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return isCut ? nil : request
    }

    private static func head(_ text: String) -> Request {
        let lines = text.components(separatedBy: "\r\n")
        let first = lines[0].split(separator: " ").map(String.init)
        let target = first.count > 1 ? first[1].split(separator: "?", maxSplits: 1).map(String.init) : []
        var request = Request(method: first.first ?? "", path: target.first ?? "")
        for field in target.count > 1 ? target[1].split(separator: "&") : [] {
            let pair = field.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? String($0) }
            request.query[pair[0]] = pair.count > 1 ? pair[1] : ""
        }
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { request.headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        return request
    }

    /// - Returns: whether the connection goes on.
    private func perform(_ reaction: Reaction, _ request: Request, on connection: LoopbackSocket) -> Bool {
        switch reaction {
        // The answer to HEAD has the length of a body, and no body.
        case .answer(let answer): return connection.send(Self.head(answer) + (request.method == "HEAD" ? [] : answer.body))
        case .cut(let answer, let after): connection.send(Self.head(answer) + answer.body.prefix(after))
        case .stall(let answer, let after):
            connection.send(Self.head(answer) + answer.body.prefix(after))
            while connection.receive() != nil {}
        case .close: break
        case .silence: while connection.receive() != nil {}
        case .raw(let bytes): connection.send(bytes)
        }
        return false
    }

    private static func head(_ answer: Answer) -> [UInt8] {
        var headers = answer.headers
        if headers["Content-Length"] == nil, answer.status != 204 { headers["Content-Length"] = String(answer.body.count) }
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(answer.status) Said\r\n\(lines)\r\n".utf8)
    }
}
