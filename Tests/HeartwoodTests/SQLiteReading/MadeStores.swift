import Foundation
import Testing

/// The small stores that `Tests/CoreDataStores/make.py` makes, one for each feature.
enum MadeStores {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))
    static let areThere = python != nil
    static let absence: Comment = "needs python3 with its module sqlite3"

    /// Runs `body` with a folder that has every store, and removes it.
    static func withAll(_ body: (URL) throws -> Void) throws {
        try withFolder { folder in
            try run([root.appendingPathComponent("Tests/CoreDataStores/make.py").path, "all", folder.path])
            try body(folder)
        }
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// Runs statements of SQL on a database, which is made if it is not there.
    static func execute(_ sql: String, at file: URL) throws {
        let program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); c.close()"
        try run(["-c", program, file.path, sql])
    }

    private static func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(python))
        process.arguments = ["-B"] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    static func lines(_ name: String, in folder: URL) throws -> [[String: Any]] {
        let text = try String(contentsOf: folder.appendingPathComponent("\(name).jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
    }

    static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".jsonl") && !$0.hasSuffix("-history.jsonl") }.map { String($0.dropLast(6)) }.sorted()
    }
}
