import Foundation
import HeartwoodTestSupport
import Testing

/// The stores of Core Data beside the repository, as a second reader in Python reads their models.
enum SharedStores {
    struct Store: Decodable {
        let folder: String
        let cache: Data?
        let metadata: Data?
        let model: [String: ModelDescription]?
    }

    static let folder = ModelTests.root.deletingLastPathComponent().appendingPathComponent("shared/stores")
    static let areThere = FileManager.default.fileExists(atPath: folder.path) && python != nil
    static let absence = "../shared/stores or python3 is absent"

    private static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    static func all() throws -> [Store] {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: try #require(python))
        process.arguments = ["-B", ModelTests.root.appendingPathComponent("Tests/FormatReader/model_cache.py").path, folder.path]
        process.standardOutput = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return try text.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Store.self, from: Data($0)) }
    }

    /// The lines of a store's EXPECTED.jsonl: the first tells of the store, each other one of an object.
    static func expected(_ store: String) throws -> [[String: Any]] {
        let text = try String(contentsOf: folder.appendingPathComponent("\(store)/EXPECTED.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
    }

    /// The files with an ending in a store's folder.
    static func files(_ ending: String, of store: String) -> [URL] {
        let place = folder.appendingPathComponent(store)
        let names = FileManager.default.enumerator(atPath: place.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(ending) }.sorted().map { place.appendingPathComponent($0) }
    }

    /// Calls `body` with each store that has an EXPECTED.jsonl, and its model's file; records an error with the store's folder.
    static func forEachExpected(_ body: (ExpectedObjects, _ source: URL?) throws -> Void) throws {
        for store in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let place = folder.appendingPathComponent(store)
            guard FileManager.default.fileExists(atPath: place.appendingPathComponent("EXPECTED.jsonl").path) else { continue }
            let lines = try expected(store)
            let file = place.appendingPathComponent(try #require(lines.first?["store"] as? String))
            do {
                try body(
                    ExpectedObjects(name: store, file: file, lines: lines),
                    files(".xcdatamodeld", of: store).first ?? files(".xcdatamodel", of: store).first)
            } catch {
                Issue.record("\(store): \(error)")
            }
        }
    }
}
