import Foundation
import HeartwoodTestSupport
import Synchronization

/// A cluster in a temporary folder, and the shell that runs its server. The shell reads commands; at their end, which the end of this process is
/// as well, it stops the server and removes the folder.
final class ServerCluster: Sendable {
    typealias Failure = PostgreSQLTestServer.Failure

    let folder: String
    private let commands: FileHandle
    private let lines: ServerLines

    static let stopped = "heartwood: stopped"
    private static let ready = "database system is ready to accept connections"

    /// No sync: the cluster need not outlive the machine.
    private static let script = """
        start() {
            "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=120 -c "max_prepared_transactions=$3" \
                -c shared_buffers=32MB -c log_min_messages=warning -c autovacuum_naptime=1h < /dev/null &
            server=$!
        }
        stop() {
            if [ -n "$server" ]; then kill "-$1" "$server"; wait "$server"; fi
            server=
        }
        "$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions > "$2/initdb.log" 2>&1 || {
            cat "$2/initdb.log"
            echo "heartwood: stopped"
            exit 1
        }
        { echo "local all $3 scram-sha-256"; cat "$2/data/pg_hba.conf"; } > "$2/hba" && mv "$2/hba" "$2/data/pg_hba.conf"
        while read -r word; do
            case $word in
                start) start "$1" "$2" "$4" ;;
                stop) stop INT; echo "heartwood: stopped" ;;
                crash) stop QUIT; echo "heartwood: stopped" ;;
            esac
        done
        # Nobody reads any more what the shell or the server writes.
        exec > /dev/null 2>&1
        # A shell's background process ignores QUIT until it has a handler of its own. TERM ends it earlier, and QUIT what waits for clients.
        if [ -n "$server" ]; then kill -TERM "$server"; fi
        stop QUIT
        cd / && rm -rf "$2"
        """

    /// - Parameter preparedMax: the most prepared transactions at once.
    init(preparedMax: Int) throws(Failure) {
        guard let programs = ServerPrograms.folder else { throw Failure(description: "there is no server of PostgreSQL") }
        folder = try Self.makeFolder()
        let input = Pipe(), output = Pipe(), process = ChildProcess()
        commands = input.fileHandleForWriting
        lines = ServerLines(output.fileHandleForReading)
        let command = Self.unprivileged + ["/bin/sh", "-c", Self.script, "heartwood", programs, folder, PostgreSQLTestServer.userWithPassword]
            + ["\(preparedMax)"]
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ["LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch { throw Failure(description: "\(command[0]) does not run: \(error)") }
    }

    var log: String { lines.text }

    func start() throws(Failure) { try perform("start", until: Self.ready) }

    /// Gives the shell a command, and waits for a line of its output.
    func perform(_ word: String, until line: String) throws(Failure) {
        let wait = lines.wait(for: [line, Self.stopped])
        do { try commands.write(contentsOf: Data("\(word)\n".utf8)) } catch { throw Failure(description: "the server's shell ended:\n\(log)") }
        guard wait().contains(line) else { throw Failure(description: "the server did not \(word):\n\(log)") }
    }

    // MARK: Who runs it

    /// The server refuses to run as root, so root hands it to a user without privileges.
    private static let user = (getpwnam("postgres") ?? getpwnam("nobody")).map { ($0.pointee.pw_uid, $0.pointee.pw_gid) }

    private static var unprivileged: [String] {
        guard getuid() == 0, let (user, group) = user else { return [] }
        return ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups"]
    }

    /// A short name: a socket's path has at most 103 bytes.
    private static func makeFolder() throws(Failure) -> String {
        let path = NSTemporaryDirectory() + "hw-pg-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        guard mkdir(path, 0o700) == 0 else { throw Failure(description: "\(path) cannot be made: errno \(errno)") }
        if getuid() == 0, let (user, group) = user, chown(path, user, group) != 0 {
            throw Failure(description: "\(path) cannot be given to another user: errno \(errno)")
        }
        return path
    }
}
