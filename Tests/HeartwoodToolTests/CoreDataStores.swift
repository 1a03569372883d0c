import Foundation
import HeartwoodTestSupport
import Testing

/// Stores of Core Data's for tests of the tool: the goldens of Tests/CoreDataStores, those that its script makes, and real ones beside the
/// repository.
enum CoreDataStores {
    static let folder = ToolProcess.root.appendingPathComponent("Tests/CoreDataStores")
    static let shared = ToolProcess.root.deletingLastPathComponent().appendingPathComponent("shared/stores")
    static let needPython: Comment = "needs python3 with its module sqlite3"
    static let sharedAbsence: Comment = "../shared/stores is absent"
    static let hasShared = FileManager.default.fileExists(atPath: shared.path)

    static let canBeMade = Python.hasSQLite

    static func golden(_ name: String) -> String { folder.appendingPathComponent("Goldens/\(name).sqlite").path }

    static func goldens() throws -> [String] { try names(in: folder.appendingPathComponent("Goldens")) }

    static let goldensWithCache = ((try? goldens()) ?? []).filter { $0 != "old-without-cache" }

    /// The paths of the real stores.
    static func sharedStores() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: shared.path).sorted().map { shared.appendingPathComponent($0).path }.filter { path in
            try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeRegular
                && FileHandle(forReadingAtPath: path)?.read(upToCount: 15) == Data("SQLite format 3".utf8)
        }
    }

    static func names(in directory: URL) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        return files.filter { $0.hasSuffix(".sqlite") }.map { String($0.dropLast(7)) }.sorted()
    }

    /// The lines of JSON beside a store.
    static func lines(_ name: String, in directory: URL, _ suffix: String = "") throws -> [[String: Any]] {
        let text = try String(contentsOf: directory.appendingPathComponent("\(name)\(suffix).jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }

    /// Calls `body` with a folder that has a store of each description, and removes it afterwards.
    static func withMade(_ body: (URL) throws -> Void) throws {
        try withFolder { folder in
            try Python.run([self.folder.appendingPathComponent("make.py").path, "all", folder.path])
            try body(folder)
        }
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = URL(fileURLWithPath: ToolProcess.temporaryPath("stores"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    /// Runs Python.
    static func run(_ arguments: [String]) throws { try Python.run(arguments) }

    /// Runs statements of SQL on a database, which is made if it is not there.
    static func execute(_ sql: String, at path: String) throws { try Python.execute(sql, at: path) }
}
