import Foundation
import HeartwoodPlatform
import RecordLog
import Synchronization

/// The commands' policy for backups in buckets of S3-compatible stores, which URLs name.
///
/// The networking costs a program libcurl and 30 libraries behind it, and each start the time to load them. So the program `heartwood` is without
/// it, and gives a command line with such a URL to the program `heartwood-s3`, which is the same tool with the networking.
enum BucketBackup {
    static let help = """
        DESTINATION may be a bucket: s3://BUCKET/PREFIX, for another server than Amazon's with ?endpoint=https://HOST. Credentials, region and \
        endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. \
        The program heartwood-s3 has to be beside heartwood, or in a folder of PATH.
        """

    /// The program with the networking.
    static let program = "heartwood-s3"

    typealias Maker = @Sendable (String) throws -> any BackupDestination

    private static let maker = Mutex<Maker?>(nil)

    static func isOne(_ word: String) -> Bool { word.hasPrefix("s3://") }

    /// Gives this program the networking.
    static func take(_ maker: @escaping Maker) { Self.maker.withLock { $0 = maker } }

    /// - Throws: an error of usage in a program without the networking.
    static func destination(_ url: String) throws -> any BackupDestination {
        guard let maker = maker.withLock({ $0 }) else { throw missing }
        return try maker(url)
    }

    /// Gives the process to the program with the networking, if one of the words needs it.
    /// - Throws: an error of usage, if there is no such program.
    static func handOver(_ words: [String]) throws {
        guard words.contains(where: isOne), maker.withLock({ $0 == nil }) else { return }
        let own = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        let beside = own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(program).path
        // Each returns where there is no such program.
        _ = execv(beside, CommandLine.unsafeArgv)
        _ = execvp(program, CommandLine.unsafeArgv)
        throw missing
    }

    private static let missing = ToolError.usage(
        "a bucket is reached by the program \(program), which is neither beside heartwood nor in a folder of PATH; "
            + "`swift build -c release --product \(program)` makes it")
}
