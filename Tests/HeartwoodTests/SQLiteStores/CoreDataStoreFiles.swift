import Foundation
import HeartwoodTestSupport
import Testing

/// Small stores in Core Data's layout, with the objects that are in them. Tests/CoreDataStores makes them.
enum CoreDataStoreFiles {
    static let folder = ModelTests.root.appendingPathComponent("Tests/CoreDataStores")
    static let needPython: Comment = "needs python3 with its module sqlite3"

    /// True if Python can make stores here. The goldens need no Python.
    static let canBeMade = Python.hasSQLite

    /// The stores that are kept in the repository.
    static func goldens() throws -> [CoreDataStoreFile] {
        try files(in: folder.appendingPathComponent("Goldens"))
    }

    /// Calls `body` with a store of each description, and removes them afterwards. They are made once, and each caller gets a copy.
    static func withMadeStores<Result>(_ body: ([CoreDataStoreFile]) throws -> Result) throws -> Result {
        let made = try allMade.get()
        return try withFolder { directory in
            let copy = directory.appendingPathComponent("stores")
            try FileManager.default.copyItem(at: made, to: copy)
            return try body(try files(in: copy))
        }
    }

    private static let madeFolder = FileManager.default.temporaryDirectory.appendingPathComponent("core-data-stores-\(UUID().uuidString)")

    private static let allMade: Result<URL, any Error> = Result {
        try FileManager.default.createDirectory(at: madeFolder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: CoreDataStoreFiles.madeFolder) }
        try run([script("make.py"), "all", madeFolder.path])
        return madeFolder
    }

    /// Calls `body` with the store of one description, and removes it afterwards.
    static func withMadeStore<Result>(_ name: String, _ body: (CoreDataStoreFile) throws -> Result) throws -> Result {
        try withFolder { directory in
            try run([script("make.py"), "one", name, directory.path])
            return try body(CoreDataStoreFile(name: name, folder: directory))
        }
    }

    /// Runs statements of SQL on a database, which is made if it is not there.
    static func execute(_ sql: String, at file: URL) throws { try Python.execute(sql, at: file.path) }

    static func script(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs Python.
    /// - Returns: what it prints.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String { try Python.run(arguments) }

    private static func files(in directory: URL) throws -> [CoreDataStoreFile] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".sqlite") }.sorted()
            .map { CoreDataStoreFile(name: String($0.dropLast(".sqlite".count)), folder: directory) }
    }

    /// Calls `body` with an empty folder, and removes it afterwards.
    static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("core-data-stores-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body(directory)
    }
}

/// A store and the lines beside it. Tests/CoreDataStores/README.md says what the lines have.
struct CoreDataStoreFile: CustomStringConvertible {
    let name: String
    let folder: URL

    var description: String { name }
    var store: URL { folder.appendingPathComponent("\(name).sqlite") }
    var hasLog: Bool { FileManager.default.fileExists(atPath: store.path + "-wal") }

    /// The first line, which tells of the store.
    func summary() throws -> [String: Any] { try #require(try lines("\(name).jsonl").first) }

    /// The fault for which a reader has to refuse the store, or values in it; nil for a store that it has to read.
    func refusal() throws -> String? { try summary()["refused"] as? String }

    /// The fault for which a reader may refuse the store. A reader that does not refuse it has to find the objects.
    func doubt() throws -> String? { try summary()["mayRefuse"] as? String }

    /// The objects that a reader has to find, by entity and key.
    func objects() throws -> [[String: Any]] { Array(try lines("\(name).jsonl").dropFirst()) }

    /// The transactions that a reader has to find; nil if the store has no history.
    func transactions() throws -> [[String: Any]]? {
        let name = "\(name)-history.jsonl"
        guard FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path) else { return nil }
        return try lines(name)
    }

    private func lines(_ file: String) throws -> [[String: Any]] {
        let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        return try text.split(separator: "\n").map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }
}
