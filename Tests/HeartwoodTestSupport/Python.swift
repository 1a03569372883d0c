import Foundation
import RecordLog
import Synchronization

/// Runs programs of Python.
///
/// A start of Python costs more than most of the tests' programs. So a process that has loaded the modules stays, and runs each program in a fork
/// of itself. Programs that run at once have a process each.
public enum Python {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The path of `python3`; nil if PATH has none.
    public static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    /// True if there is a Python with its module sqlite3.
    public static let hasSQLite = (try? run(["-c", "import sqlite3"])) != nil

    /// Runs `python3` with arguments: `-c` and a program, or a script's path; then the program's own.
    /// - Returns: the text that the program prints.
    @discardableResult
    public static func run(_ arguments: [String], input: String = "") throws -> String {
        guard let path else { throw Failure(description: "there is no python3 in PATH") }
        let server = try idle.withLock { $0.popLast() } ?? PythonServer(path)
        let answer = try server.answer(to: PythonServer.Request(arguments: arguments, input: input))
        idle.withLock { $0.append(server) }
        guard answer.status == 0 else { throw Failure(description: answer.output + answer.errors) }
        return answer.output
    }

    /// Runs statements of SQL on a database, which is made if it is not there.
    public static func execute(_ sql: String, at path: String) throws {
        let program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); c.close()"
        try run(["-c", program, path, sql])
    }

    /// The processes that run nothing now.
    private static let idle = Mutex<[PythonServer]>([])
}

/// A process that answers one request at a time. It ends with this process, which ends its input.
private final class PythonServer: @unchecked Sendable {
    // Unchecked: only the caller that has taken it from `Python.idle` uses it.

    struct Request: Codable {
        let arguments: [String]
        let input: String
    }

    struct Answer: Codable {
        let status: Int
        let output: String
        let errors: String
    }

    private let process = ChildProcess()
    private let requests = Pipe(), answers = Pipe()

    init(_ path: String) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-c", Self.program]
        // Byte code of the scripts' modules goes here and not beside them.
        let cache = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-tests-python").path
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPYCACHEPREFIX": cache]) { $1 }
        process.standardInput = requests
        process.standardOutput = answers
        try process.run()
    }

    /// Requests and answers are lines of JSON, which has no line break in itself.
    func answer(to request: Request) throws -> Answer {
        try requests.fileHandleForWriting.write(contentsOf: try JSONEncoder().encode(request) + Data("\n".utf8))
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let part = answers.fileHandleForReading.availableData
            guard !part.isEmpty else { throw Python.Failure(description: "python3 has ended") }
            line += part
        }
        return try JSONDecoder().decode(Answer.self, from: line)
    }

    private static let program = """
        import gc, json, os, runpy, sys, tempfile, traceback
        try: import sqlite3
        except ImportError: pass

        def run(arguments):
            if arguments[0] == "-c":
                sys.argv = ["-c"] + arguments[2:]
                exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
            else:
                sys.argv = arguments
                sys.path[0] = os.path.dirname(arguments[0])
                runpy.run_path(arguments[0], run_name="__main__")

        def status(arguments):
            try:
                run(arguments)
            except SystemExit as end:
                if isinstance(end.code, str): print(end.code, file=sys.stderr)
                return end.code if isinstance(end.code, int) else int(end.code is not None)
            except BaseException:
                traceback.print_exc()
                return 1
            return 0

        while line := sys.stdin.readline():
            request = json.loads(line)
            files = [tempfile.TemporaryFile() for _ in range(3)]
            files[0].write(request["input"].encode())
            files[0].seek(0)
            child = os.fork()
            if child == 0:
                for number, file in enumerate(files): os.dup2(file.fileno(), number)
                code = status(request["arguments"])
                # Closes what the program left open, as the end of a process of its own does.
                gc.collect()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code & 255)
            end = os.waitpid(child, 0)[1]
            texts = []
            for file in files[1:]:
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            code = os.WEXITSTATUS(end) if os.WIFEXITED(end) else 128 + os.WTERMSIG(end)
            print(json.dumps({"status": code, "output": texts[0], "errors": texts[1]}), flush=True)
        """
}
