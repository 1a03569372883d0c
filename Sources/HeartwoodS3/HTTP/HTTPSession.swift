import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests by Foundation's networking, without cookies, caches, stored passwords or redirections.
final class HTTPSession: Sendable {
    /// A transfer must move this many bytes a second on average.
    private static let bytesPerSecondMin = 8192.0

    /// A session of Foundation's, which keeps connections open for its later requests.
    private struct Link {
        let delegate = HTTPSessionDelegate()
        let session: URLSession

        init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
            configuration.urlCredentialStorage = nil
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }
    }

    private let shared = Link()
    /// Seconds without a byte after which a transfer ends.
    private let silenceMax: Double

    /// - Parameter silence: seconds, from a millisecond to a day.
    init(silenceMax silence: Double) { silenceMax = silence.isFinite ? min(max(silence, 0.001), 86_400) : 30 }

    deinit { shared.session.finishTasksAndInvalidate() }

    func send(_ request: HTTPRequest) async -> HTTPOutcome {
        #if canImport(FoundationNetworking)
            // If a server closes a kept connection just as a request with a body begins there, libcurl repeats the request on a new one, and
            // Foundation has no second copy of the body: it waits for ever. A session without a kept connection avoids that.
            guard request.body?.isEmpty != false else {
                let link = Link()
                defer { link.session.finishTasksAndInvalidate() }
                return await send(request, link)
            }
        #endif
        return await send(request, shared)
    }

    private func send(_ request: HTTPRequest, _ link: Link) async -> HTTPOutcome {
        guard var foundationRequest = Self.foundationRequest(request) else { return HTTPOutcome(fault: .address(request.url)) }
        let silence = silenceMax * request.patience
        // The transfer's watch comes first. Off Apple's platforms Foundation takes whole seconds.
        foundationRequest.timeoutInterval = max(60, silence * 2)
        let task = link.session.dataTask(with: foundationRequest)
        let transfer = HTTPTransfer(answerMax: request.answerMax)
        link.delegate.add(transfer, of: task)
        let bytes = Double(request.body?.count ?? 0) + Double(request.answerMax)
        let total = silence * 2 + bytes / Self.bytesPerSecondMin
        let watch = Task { await transfer.watch(silence: silence, total: total) }
        let outcome = await withTaskCancellationHandler {
            await transfer.outcome { task.resume() }
        } onCancel: {
            transfer.end(.cancelled)
        }
        watch.cancel()
        link.delegate.remove(task)
        if outcome.fault != nil { task.cancel() }
        return outcome
    }

    private static func foundationRequest(_ request: HTTPRequest) -> URLRequest? {
        guard let url = URL(string: request.url) else { return nil }
        var result = URLRequest(url: url)
        result.httpMethod = request.method
        result.httpBody = request.body
        // Foundation makes the Host header from the URL.
        for (name, value) in request.headers where name != "host" { result.setValue(value, forHTTPHeaderField: name) }
        // A compressed answer would not have the length that a range has.
        result.setValue("identity", forHTTPHeaderField: "accept-encoding")
        result.setValue("heartwood", forHTTPHeaderField: "user-agent")
        return result
    }
}
