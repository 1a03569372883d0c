import Foundation
@testable import HeartwoodSQLite
import RecordLog
import Testing

@testable import Heartwood

/// Converted stores have the objects, keys, members and orders that they have in place.
@Suite struct ConvertedStoreTests {
    /// Stores whose models only their makers know: they have no cache.
    private static let withoutModel: Set = ["old-without-cache", "cache-empty", "old-constraints"]

    @Test
    func `The kept stores of each feature are converted with all objects`() throws {
        var count = 0
        for store in try CoreDataStoreFiles.goldens() where !Self.withoutModel.contains(store.name) {
            try ConversionCheck(expected: ExpectedObjects(store)).run()
            count += 1
        }
        #expect(count > 12)
    }

    /// Its keys add up to more than a record log can state: error 134110.
    private static let withGreatKeys = "pages-65536"

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `Made stores of each feature are converted with all objects`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            var count = 0
            for store in stores where !store.name.hasPrefix("hostile-") && !Self.withoutModel.contains(store.name) && store.name != Self.withGreatKeys {
                do {
                    try ConversionCheck(expected: ExpectedObjects(store)).run()
                    count += 1
                } catch {
                    Issue.record("\(store): \(error)")
                }
            }
            #expect(count > 40)
        }
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `Real stores are converted with all objects`() throws {
        var objects = 0
        try SharedStores.forEachExpected { objects += try Self.convert($0, $1) }
        #expect(objects > 12_000)
    }

    /// A store with a cache is converted with that; one without it with the model's file, and then it is brought to the file's current version, so
    /// the version that it was made with is given.
    private static func convert(_ expected: ExpectedObjects, _ source: URL?) throws -> Int {
        let found = try CoreDataStoreModel.find(storeAt: expected.file.path, given: source)
        var check = ConversionCheck(expected: expected)
        if case .source(let version) = found.origin { check.source = version }
        return try check.run().objects
    }

    @Test(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython))
    func `A store whose bytes break a rule is refused with a typed error and leaves no file, or it is converted as far as it can be read`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            for made in stores where made.name.hasPrefix("hostile-") {
                let new = made.folder.appendingPathComponent("new-\(made.name).heartwood")
                do {
                    try SQLiteConversion(made.store, model: nil, keepsHistory: true).run(to: new)
                    #expect(try StoreVerification.verify(path: new.path).isSound, "\(made)")
                } catch let error as NSError {
                    #expect(error.domain == NSCocoaErrorDomain && error.localizedDescription.contains(made.store.path), "\(made): \(error)")
                    #expect(!FileManager.default.fileExists(atPath: new.path), "\(made)")
                }
                #expect(!FileManager.default.fileExists(atPath: new.path + ".migrating"), "\(made)")
            }
        }
    }
}
