import Foundation
import Glibc

/// A PostgreSQL server of its own on the disk of the stores, and pgbench as its clients.
final class PostgresBench {
    static let name = "PostgreSQL by pgbench"

    private let directory: String
    /// The folder of the server's programs.
    private let programs: String

    /// - Returns: nil, with a message, where PostgreSQL is not installed or does not start.
    static func start(rows: Int) -> PostgresBench? {
        do {
            return try PostgresBench(rows: rows)
        } catch {
            FileHandle.standardError.write(Data("  PostgreSQL is left out: \(error)\n".utf8))
            return nil
        }
    }

    private init(rows: Int) throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let version = versions.compactMap(Int.init).max(),
            FileManager.default.isExecutableFile(atPath: "/usr/lib/postgresql/\(version)/bin/pgbench")
        else { throw PeerError(description: "it is not installed") }
        programs = "/usr/lib/postgresql/\(version)/bin"
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("hw-pg-\(getpid())").path
        try shell("mkdir -p \(directory)")
        // The server refuses to run as root.
        if geteuid() == 0 { try shell("chown postgres \(directory)") }
        try server("\(programs)/initdb -D \(directory)/data -A trust -U postgres")
        try server("\(programs)/pg_ctl -w -D \(directory)/data -l \(directory)/log -o '-k \(directory) -h \"\" -c fsync=on' start")
        let table = """
            CREATE TABLE person (id bigint PRIMARY KEY, name text, email text UNIQUE, age int, score float8, birthday float8, note text, grp bigint);
            INSERT INTO person SELECT n, 'name ' || n, n || '@example.org', 30, 0, n, 'a note about person ' || n, n % 100
            FROM generate_series(1, \(rows)) n; CREATE INDEX ON person (birthday); CREATE INDEX ON person (grp); VACUUM ANALYZE person;
            """
        try table.write(toFile: directory + "/table.sql", atomically: true, encoding: .utf8)
        try """
            \\set person random(1, \(min(rows, 800)))
            UPDATE person SET score = score + 1 WHERE id = :person;
            """.write(toFile: directory + "/save.sql", atomically: true, encoding: .utf8)
        try shell("\(programs)/psql -q -h \(directory) -U postgres -f \(directory)/table.sql")
    }

    func stop() {
        try? server("\(programs)/pg_ctl -D \(directory)/data -m fast stop")
        try? FileManager.default.removeItem(atPath: directory)
    }

    func run(clients: Int, seconds: Double) throws -> ContextSaves.Run {
        let logs = directory + "/times-\(clients)"
        try shell("rm -rf \(logs) && mkdir -p \(logs)")
        let time = max(1, Int(seconds))
        try shell(
            "cd \(logs) && \(programs)/pgbench -n -M prepared -h \(directory) -U postgres -c \(clients) -j \(min(clients, 2)) -T \(time) -l "
                + "-f \(directory)/save.sql postgres")
        var times: [Double] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: logs) {
            // The third column is the time of a transaction in microseconds.
            for line in try String(contentsOfFile: logs + "/" + file, encoding: .utf8).split(separator: "\n") {
                if let text = line.split(separator: " ").dropFirst(2).first, let time = Double(text) { times.append(time) }
            }
        }
        return ContextSaves.Run(seconds: Double(time), times: times)
    }

    private func server(_ command: String) throws {
        try shell(geteuid() == 0 ? "cd / && runuser -u postgres -- bash -c '\(command.replacingOccurrences(of: "'", with: "'\\''"))'" : command)
    }

    private func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        // Foundation waits until every process has closed a descriptor that it has given to the first, and a server would keep it.
        let closing = "for n in /proc/$$/fd/*; do n=${n##*/}; if [ $n -gt 2 ] && [ $n -lt 200 ]; then eval \"exec $n>&-\"; fi; done"
        process.arguments = ["-c", "\(closing); (\(command)) > /dev/null 2>&1 < /dev/null"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw PeerError(description: "this failed: \(command)") }
    }
}
