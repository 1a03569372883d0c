@testable import HeartwoodS3
import RecordLog

/// Bytes that a formula gives, so that an object in the wrong order shows.
func patternBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: (UInt64($0) &+ seed) &* 0x9E37_79B9_7F4A_7C15 >> 56) }
}

/// An upload in pieces of a given size, which can fail at its end.
struct PieceUpload: BackupUpload {
    struct Failure: Error {}

    private var rest: ArraySlice<UInt8>
    private let piece: Int
    private let fails: Bool

    init(_ bytes: [UInt8], piece: Int = 700, fails: Bool = false) {
        rest = bytes[...]
        self.piece = piece
        self.fails = fails
    }

    mutating func next() async throws -> [UInt8]? {
        guard !rest.isEmpty else {
            if fails { throw Failure() }
            return nil
        }
        defer { rest = rest.dropFirst(piece) }
        return Array(rest.prefix(piece))
    }
}

extension S3Destination {
    static let testSecret = "testing-secret-key-0123456789", testKeyID = "TESTKEYID0123456789"

    /// A destination with small parts, short pauses and no patience.
    static func testing(
        _ endpoint: String, prefix: String = "backups", attempts: Int = 6, timeout: Double = 10, partBytes: Int = 1000, timeLimit: Double = 60,
        longestPause: Double = 0.02, poorPagesMax: Int = 1000, token: String? = nil
    ) throws -> S3Destination {
        let location = try S3Location(bucket: "bucket", prefix: prefix, endpoint: endpoint)
        let credentials = S3Credentials(accessKeyID: testKeyID, secretAccessKey: testSecret, sessionToken: token)
        let retries = S3Retries(attempts: attempts, firstPause: 0.001, longestPause: longestPause, timeLimit: timeLimit)
        return S3Destination(location, retries: retries, timeout: timeout, partBytes: partBytes, poorPagesMax: poorPagesMax) { credentials }
    }
}

/// The `BackupError` of an operation; nil if it succeeds or throws another error.
func backupError(_ operation: () async throws -> Void) async -> BackupError? {
    do {
        try await operation()
        return nil
    } catch {
        return error as? BackupError
    }
}
