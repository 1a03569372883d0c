import struct Foundation.Data

/// One operation of S3 on the bucket or on a key in it, before it is signed.
struct S3Call: Sendable {
    /// S3's name of the operation.
    let operation: String
    /// The URL of the object or the folder, for errors.
    let subject: String
    /// The actions that a policy has to permit.
    let permission: String
    let method: String
    /// nil for the bucket.
    let key: String?
    var query: [(name: String, value: String)] = []
    /// Names in lower case.
    var headers: [String: String] = [:]
    var body: Data?
    var answerMax = S3Call.smallAnswerMax
    var patience: Double = 1

    /// Errors and short answers are far smaller.
    static let smallAnswerMax = 1 << 20
}

extension S3Location {
    /// A call on an object.
    func call(_ operation: String, _ method: String, _ name: String, permission: String) -> S3Call {
        S3Call(operation: operation, subject: "\(self)/\(name)", permission: permission, method: method, key: key(name))
    }
}
