import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands what a session reports to the transfer that it is about.
final class HTTPSessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: HTTPTransfer]>([:])

    func add(_ transfer: HTTPTransfer, of task: URLSessionTask) { transfers.withLock { $0[task.taskIdentifier] = transfer } }
    func remove(_ task: URLSessionTask) { transfers.withLock { $0[task.taskIdentifier] = nil } }
    private func transfer(of task: URLSessionTask) -> HTTPTransfer? { transfers.withLock { $0[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(Self.head(response))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if transfer(of: dataTask)?.receive(data) == false { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.noteSent()
    }

    /// A signature holds for one host and path, so the redirection itself is the answer.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Turns a server's wish for a password into an ordinary answer, 401. Off Apple's platforms Foundation waits for ever for a challenge that its
    /// delegate does not take.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let passwords = [NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest]
        let isPassword = passwords.contains(challenge.protectionSpace.authenticationMethod)
        completionHandler(isPassword ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // Off Apple's platforms no call tells of a redirection without an address. The task has its head; its body is lost.
        transfer(of: task)?.end(error.map(Self.fault), head: task.response.map(Self.head))
    }

    private static func head(_ response: URLResponse) -> HTTPHead {
        guard let response = response as? HTTPURLResponse else { return HTTPHead(status: 0, headers: [:]) }
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { headers[name.lowercased()] = value }
        return HTTPHead(status: response.statusCode, headers: headers)
    }

    private static func fault(_ error: any Error) -> HTTPFault {
        let text = error.localizedDescription
        guard let error = error as? URLError else { return .connection(text) }
        switch error.code {
        case .cancelled: return .cancelled
        case .timedOut: return .connection("the connection timed out")
        case .badURL: return .address(text)
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired:
            return .certificate(text)
        default:
            // Off Apple's platforms libcurl's errors have the code `unknown`; its words for a bad certificate are these.
            return text.hasPrefix("SSL") && text.contains("certificate") ? .certificate(text) : .connection(text)
        }
    }
}
