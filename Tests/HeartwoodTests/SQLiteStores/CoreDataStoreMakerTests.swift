import Foundation
import Testing

/// Examines the stores that other tests read.
@Suite struct CoreDataStoreMakerTests {
    @Test
    func `Each golden is a database with a line for each of its objects`() throws {
        let goldens = try CoreDataStoreFiles.goldens()
        #expect(goldens.count == 15)
        for golden in goldens {
            let bytes = try Data(contentsOf: golden.store), summary = try golden.summary(), objects = try golden.objects()
            #expect(bytes.starts(with: Data("SQLite format 3\0".utf8)), "\(golden)")
            #expect(summary["objects"] as? Int == objects.count, "\(golden)")
            #expect(Dictionary(grouping: objects) { $0["entity"] as? String }.count == (summary["counts"] as? [String: Int])?.count, "\(golden)")
        }
        #expect(goldens.filter(\.hasLog).map(\.name) == ["log-beside"])
        let withHistory = try goldens.filter { try $0.transactions() != nil }
        #expect(withHistory.map(\.name) == ["history", "swiftdata"])
    }

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `SQLite finds each made store sound, and a second reader finds the expected objects in it`() throws {
        let text = try CoreDataStoreFiles.run([CoreDataStoreFiles.script("make.py"), "check"])
        #expect(text.contains("stores are as expected"), "\(text)")
        try CoreDataStoreFiles.withMadeStores { stores in
            #expect(stores.count >= 80)
            for store in stores where try store.refusal() != nil {
                #expect(try store.objects().isEmpty, "\(store)")
            }
        }
    }

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade && SharedStores.areThere, "\(SharedStores.absence)"))
    func `The layout that the maker predicts from the models of real stores is theirs`() throws {
        let text = try CoreDataStoreFiles.run([CoreDataStoreFiles.script("real_stores.py"), SharedStores.folder.path])
        #expect(text.split(separator: "\n").count >= 17, "\(text)")
    }
}
