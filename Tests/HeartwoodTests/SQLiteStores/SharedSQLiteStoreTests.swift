import Foundation
import Testing

@testable import Heartwood

/// The objects of real stores, as a script of another author reads them.
@Suite(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)")) struct SharedSQLiteStoreTests {
    /// The folder, the store's file, and the expected lines.
    private static func stores() throws -> [(folder: String, file: URL, lines: [[String: Any]])] {
        try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted().compactMap { folder in
            let place = SharedStores.folder.appendingPathComponent(folder)
            guard FileManager.default.fileExists(atPath: place.appendingPathComponent("EXPECTED.jsonl").path) else { return nil }
            let lines = try SharedStores.expected(folder)
            return (folder, place.appendingPathComponent(try #require(lines.first?["store"] as? String)), lines)
        }
    }

    @Test
    func `Each store has the objects, values and relationships that are expected of it`() throws {
        var objects = 0
        for (folder, file, lines) in try Self.stores() {
            let source = SharedStores.files(".xcdatamodeld", of: folder).first ?? SharedStores.files(".xcdatamodel", of: folder).first
            objects += try ExpectedObjects(name: folder, file: file, lines: lines).check(source: source)
        }
        #expect(objects > 12_000)
    }
}
