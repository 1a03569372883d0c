internal import RecordLog

extension S3Fault {
    private static let quotaCodes: Set<String> = [
        "QuotaExceeded", "QuotaExceededException", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "StorageFull", "EntityTooLarge",
        "InsufficientStorage", "TooManyBuckets",
    ]
    private static let credentialCodes: Set<String> = [
        "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "AuthFailure", "InvalidSecurity",
        "MissingSecurityHeader", "AuthorizationHeaderMalformed",
    ]

    /// - Parameters:
    ///   - call: the request that failed.
    ///   - attempts: how often it was sent.
    ///   - seconds: since the first attempt.
    func backupError(_ call: S3Call, _ location: S3Location, attempts: Int, seconds: Double) -> BackupError {
        let (code, remedy) = codeAndRemedy(call, location)
        let tries = attempts == 1 ? "" : ", \(attempts) times within \(Int(seconds.rounded(.up))) seconds"
        return BackupError(code, call.subject, "\(call.operation) failed\(tries): \(text)", remedy: remedy)
    }

    /// The server's answer, or the transfer's failure.
    private var text: String {
        guard let status else { return message }
        let name = code.isEmpty ? "\(status)" : "\(status) \(code)"
        let words = message.isEmpty ? "" : ", “\(message)”"
        return "the server answered \(name)\(words)" + (requestID.map { " (request ID \($0))" } ?? "")
    }

    private func codeAndRemedy(_ call: S3Call, _ location: S3Location) -> (BackupError.Code, String) {
        switch kind {
        case .skewed:
            return (.refused, "Set this machine's clock. The server refused the time of its own `Date` header too.")
        case .temporary:
            return (.unreachable, "Try again later. Check that \(location.endpoint) is the server's address and that the network reaches it.")
        case .permanent where status == nil:
            return message.hasSuffix("is no address")
                ? (.invalidArgument, "Correct the endpoint.")
                : (.refused, "Check that \(location.endpoint) is the server's address and that this system knows the issuer of its certificate.")
        case .permanent:
            return answered(call, location)
        }
    }

    private func answered(_ call: S3Call, _ location: S3Location) -> (BackupError.Code, String) {
        if let region, region != location.region { return (.refused, "Give the bucket's region, \(region), in place of \(location.region).") }
        if code == "NoSuchBucket" { return (.refused, "Create the bucket \(location.bucket), or correct its name or the endpoint.") }
        if code == "NoSuchUpload" { return (.unreachable, "Try again. Another program, or a rule of the bucket, ended the upload.") }
        if Self.quotaCodes.contains(code) || status == 507 || status == 413 {
            return (.full, "Make room at the destination, by `heartwood backup prune` for example, or raise its quota.")
        }
        if Self.credentialCodes.contains(code) || status == 401 {
            let names = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, for temporary credentials AWS_SESSION_TOKEN"
            return (.refused, "Check \(names), and the region \(location.region).")
        }
        switch status ?? 0 {
        case 404: return (.notFound, "List the objects at the destination; this one was deleted, or its name is another.")
        case 403: return (.refused, "Permit these credentials \(call.permission) on the bucket \(location.bucket).")
        case 300..<400: return (.refused, "Give the address of the server that has the bucket: the endpoint and the region.")
        default: return (.refused, "Check the endpoint and the bucket. If both are right, the server lacks something that Heartwood uses.")
        }
    }
}
