import Foundation
import Synchronization

/// The part of S3 that a destination uses, in memory: one bucket behind `LoopbackServer`, with paths that begin with `/bucket`.
final class FakeBucket: Sendable {
    struct Object: Sendable, Equatable {
        var bytes: [UInt8]
        /// The headers `x-amz-meta-…`.
        var meta: [String: String]
    }

    private struct State {
        var objects: [String: Object] = [:]
        var uploads: [String: (key: String, meta: [String: String], parts: [Int: [UInt8]])] = [:]
        var uploadsBegun = 0
    }

    private let state = Mutex(State())
    /// Objects of a listing's page.
    let pageSize: Int
    /// Whether puts look at `If-None-Match`.
    let isConditional: Bool

    init(pageSize: Int = 1000, isConditional: Bool = true) {
        self.pageSize = pageSize
        self.isConditional = isConditional
    }

    var objects: [String: [UInt8]] { state.withLock { $0.objects.mapValues(\.bytes) } }
    /// Uploads in parts that are neither complete nor aborted.
    var openUploads: Int { state.withLock { $0.uploads.count } }
    func remove(_ key: String) { state.withLock { $0.objects[key] = nil } }
    func set(_ key: String, _ bytes: [UInt8]) { state.withLock { $0.objects[key] = Object(bytes: bytes, meta: [:]) } }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard request.headers["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=") == true else { return .error(403, "AccessDenied") }
        guard request.path == "/bucket" || request.path.hasPrefix("/bucket/") else { return .error(404, "NoSuchBucket") }
        let key = (String(request.path.dropFirst(8)).removingPercentEncoding ?? "")
        return state.withLock { state in
            switch (request.method, request.query["uploadId"], request.query["uploads"]) {
            case ("GET", _, _) where key.isEmpty: list(request, state)
            case ("GET", _, _), ("HEAD", _, _): get(key, request, state)
            case ("PUT", nil, _): put(key, request, &state)
            case ("POST", nil, .some): begin(key, request, &state)
            case ("PUT", .some(let id), _): part(id, request, &state)
            case ("POST", .some(let id), _): complete(id, request, &state)
            case ("DELETE", .some(let id), _): abort(id, &state)
            case ("DELETE", nil, _): delete(key, &state)
            default: .error(405, "MethodNotAllowed")
            }
        }
    }

    private static func meta(_ request: LoopbackServer.Request) -> [String: String] {
        request.headers.filter { $0.key.hasPrefix("x-amz-meta-") }
    }

    private func list(_ request: LoopbackServer.Request, _ state: borrowing State) -> LoopbackServer.Answer {
        let prefix = request.query["prefix"] ?? "", after = request.query["continuation-token"].map { String($0.dropFirst(2)) } ?? ""
        let keys = state.objects.keys.filter { $0.hasPrefix(prefix) && $0 > after }.sorted()
        let page = keys.prefix(pageSize), isCut = keys.count > page.count
        let entries = page.map { key in
            "<Contents><Key>\(key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")</Key>"
                + "<Size>\(state.objects[key]?.bytes.count ?? 0)</Size></Contents>"
        }
        let next = isCut ? "<NextContinuationToken>t/\(page.last ?? "")</NextContinuationToken>" : ""
        return LoopbackServer.Answer(
            200,
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<EncodingType>url</EncodingType><IsTruncated>\(isCut)</IsTruncated>\(next)\(entries.joined())</ListBucketResult>")
    }

    private func get(_ key: String, _ request: LoopbackServer.Request, _ state: borrowing State) -> LoopbackServer.Answer {
        guard let object = state.objects[key] else { return request.method == "HEAD" ? .init(404) : .error(404, "NoSuchKey") }
        var headers = object.meta
        headers["ETag"] = "\"\(object.bytes.count)\""
        if let match = request.headers["if-match"], match != headers["ETag"] { return .error(412, "PreconditionFailed") }
        if request.method == "HEAD" {
            headers["Content-Length"] = String(object.bytes.count)
            return .init(200, headers)
        }
        let bounds = (request.headers["range"] ?? "").dropFirst(6).split(separator: "-").compactMap { Int($0) }
        guard bounds.count == 2 else { return .init(200, headers, object.bytes) }
        guard bounds[0] < object.bytes.count else { return .error(416, "InvalidRange") }
        let last = min(bounds[1], object.bytes.count - 1)
        headers["Content-Range"] = "bytes \(bounds[0])-\(last)/\(object.bytes.count)"
        return .init(206, headers, Array(object.bytes[bounds[0]...last]))
    }

    private func put(_ key: String, _ request: LoopbackServer.Request, _ state: inout State) -> LoopbackServer.Answer {
        if isConditional, request.headers["if-none-match"] == "*", state.objects[key] != nil { return .error(412, "PreconditionFailed") }
        state.objects[key] = Object(bytes: request.body, meta: Self.meta(request))
        return .init(200, ["ETag": "\"\(request.body.count)\""])
    }

    private func begin(_ key: String, _ request: LoopbackServer.Request, _ state: inout State) -> LoopbackServer.Answer {
        state.uploadsBegun += 1
        let id = "up&\(state.uploadsBegun)"
        state.uploads[id] = (key, Self.meta(request), [:])
        return .init(200, text: "<InitiateMultipartUploadResult><UploadId>up&amp;\(state.uploadsBegun)</UploadId></InitiateMultipartUploadResult>")
    }

    private func part(_ id: String, _ request: LoopbackServer.Request, _ state: inout State) -> LoopbackServer.Answer {
        guard state.uploads[id] != nil, let number = Int(request.query["partNumber"] ?? "") else { return .error(404, "NoSuchUpload") }
        state.uploads[id]?.parts[number] = request.body
        return .init(200, ["ETag": "\"part<\(number)>\""])
    }

    private func complete(_ id: String, _ request: LoopbackServer.Request, _ state: inout State) -> LoopbackServer.Answer {
        guard let upload = state.uploads[id] else { return .error(404, "NoSuchUpload") }
        if isConditional, request.headers["if-none-match"] == "*", state.objects[upload.key] != nil { return .error(412, "PreconditionFailed") }
        let text = String(decoding: request.body, as: UTF8.self)
        let numbers = upload.parts.keys.sorted()
        guard numbers.allSatisfy({ text.contains("<PartNumber>\($0)</PartNumber><ETag>\"part&lt;\($0)&gt;\"</ETag>") }) else {
            return .error(400, "InvalidPart")
        }
        state.uploads[id] = nil
        state.objects[upload.key] = Object(bytes: numbers.flatMap { upload.parts[$0] ?? [] }, meta: upload.meta)
        return .init(200, text: "\n\n<CompleteMultipartUploadResult><Key>x</Key></CompleteMultipartUploadResult>")
    }

    private func abort(_ id: String, _ state: inout State) -> LoopbackServer.Answer {
        guard state.uploads.removeValue(forKey: id) != nil else { return .error(404, "NoSuchUpload") }
        return .init(204)
    }

    private func delete(_ key: String, _ state: inout State) -> LoopbackServer.Answer {
        state.objects[key] = nil
        return .init(204)
    }
}
