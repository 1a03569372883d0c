import struct Foundation.Data

/// A request whose body, if any, is in memory: Foundation then knows its length and can send it again on a new connection.
struct HTTPRequest: Sendable {
    var method: String
    var url: String
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: Data?
    /// The most bytes of an answer's body. A longer answer ends the transfer.
    var answerMax: Int
    /// The factor by which the server may be silent for longer than usual.
    var patience: Double = 1
}

/// The first part of an answer.
struct HTTPHead: Sendable, Equatable {
    let status: Int
    /// Names in lower case.
    let headers: [String: String]
}

/// The reason why a transfer ended without a whole answer.
enum HTTPFault: Error, Sendable, Equatable {
    /// The connection was not made, or ended early.
    case connection(String)
    /// No byte moved for so many seconds.
    case silence(seconds: Double)
    /// The bytes moved, but too slowly.
    case slowness(seconds: Double)
    /// The server's certificate was not accepted.
    case certificate(String)
    /// The answer has more bytes than the request allows.
    case tooLong(bytes: Int)
    /// The address is none that Foundation takes.
    case address(String)
    case cancelled
}

/// The result of a transfer: as much of the answer as arrived, and the fault if that is not all.
struct HTTPOutcome: Sendable {
    var head: HTTPHead?
    var body: [UInt8] = []
    var fault: HTTPFault?
}
