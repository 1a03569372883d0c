import Foundation
import Testing

@testable import Heartwood

/// Stores of Core Data's that become a record log and then a file in Core Data's layout again.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct WrittenStoreTests {
    /// The differences that a round trip may make, by the beginnings of the script's lines.
    private static let allowed: [(line: String, reason: String)] = [
        ("version: ", "a migration through objects inserts them anew"),
        ("maximum: ", "the greatest key is that of the rows that are there"),
        ("external: ", "values of external files come into the rows, so that the file is all that there is"),
        ("table is not there: A", "history is not written"),
        ("table is not there: sqlite_", "SQLite's own statistics"),
        ("index is not there: A", "an index of the history"), ("index is not there: Z_TRANSACTION", "an index of the history"),
        ("table is not there: ZT_", "a table of the app's own"),
        ("metadata: NSStoreModelVersionHashesDigest", "only Core Data computes it"),
        ("metadata: NSStoreModelVersionChecksumKey", "only Core Data computes it"),
        ("metadata: NSPersistence", "a migration knows no framework's version; an export has that of the store that --model names"),
        ("metadata: _NSAutoVacuumLevel", "the new file has no pointer maps"),
        ("metadata: NSStoreModelVersionIdentifiers [''] became []", "an empty identifier is none"),
        ("table is not there: Z_RT_", "indexes in several dimensions are not made"),
        ("trigger is not there: Z_RT_", "indexes in several dimensions are not made"),
        ("trigger is not there: ZT_", "a trigger of the app's own"), ("trigger is not there: Z_DA_", "only counts have triggers"),
    ]

    /// Differences of single stores.
    private static let allowedOf: [String: [(line: String, reason: String)]] = [
        "attributes-text": [("values: ZWORD.ZAURL2", "Foundation has no URL without text, so it is nil")],
        "attributes-types": [("values: ZTHING.ZLINK", "Foundation has no URL without text, so it is nil")],
        "dangling": [
            ("values: ZPERSON.", "references that lead nowhere are dropped"), ("pairs: ", "references that lead nowhere are dropped"),
            ("order: ", "references that lead nowhere are dropped"), ("order count: ", "references that lead nowhere are dropped"),
        ],
        "external": [("values: ZPHOTO.", "a value whose file is missing is nil")],
        "inheritance-numbers": [
            ("entities: ", "the maker sorts an underscore behind letters, and Foundation sorts it before them; nobody has seen either"),
            ("values: ", "the entities have other numbers"), ("version: ", "the entities have other numbers"),
        ],
        "many-to-many-case": [
            ("table has another statement: Z_1LINKS", "its maker names the table after the other side"), ("index is", "as above"),
        ],
        "many-to-many-itself": namedAfterOtherSide, "many-to-many-other-name": namedAfterOtherSide,
        "subentities-duplicate-many": namedAfterOtherSide,
        "many-to-many-reflexive": [("pairs: ", "pairs of a relationship that is its own inverse are written in both directions")],
        "migrated-renamed": [("entities: ", "the renamed entity has its new name")],
        "migrated-short-rows": [("table has another statement: ZPERSON", "columns that a migration added stand in their places")],
        "migrated-sibling-defaults": [("values: ZITEM.", "values in columns of other entities are no values")],
        "other-tables": [("table is not there: the app's own", "a table of the app's own")],
        "quoted-names": [("table has another statement: ", "quotes"), ("index has another statement: ", "quotes")],
        "to-one": [("values: ", "the two sides of a one-to-one relationship agree")],
        "moody-1": ofOldFramework, "moody-3": ofOldFramework,
        "photos-13.5.1": [
            ("index is not there: RADAR", "an index of the app's own"),
            ("index is not there: Z_", "an index with a condition, or over the objects' keys or entities"),
        ],
        "photos-vuindex-15.4": [("index is not there: Z_VUIndex", "an index with a condition")],
        "surfjournal": [
            ("metadata: NSStoreModelVersionHash", "a model's source has no hashes"),
            ("table is new: Z_MODELCACHE", "stores of its time have none"),
        ],
    ]

    private static let namedAfterOtherSide = [
        (line: "table is not there: Z_", reason: "its maker names the table after the other side"),
        (line: "table is new: Z_", reason: "as above"), (line: "index is not there: Z_", reason: "as above"),
        (line: "index is new: Z_", reason: "as above"),
    ]

    private static let ofOldFramework = [
        (line: "index is", reason: "frameworks of its time named indexes after columns"),
        (line: "table has another statement: ", reason: "frameworks of its time stated constraints in the table"),
    ]

    static func problems(_ lines: [String], _ name: String) -> [String] {
        let list = allowed + (allowedOf[name] ?? [])
        return lines.filter { line in !list.contains { line.hasPrefix($0.line) } }
    }

    @Test
    func `A made store that goes through a record log has the same objects, and its tables have the same rows`() throws {
        try CoreDataStoreFiles.withMadeStores { stores in
            var count = 0
            for made in stores where !made.name.hasPrefix("hostile-") && !Self.withoutModel.contains(made.name) && made.name != Self.withGreatKeys {
                do {
                    let store = WrittenStore(try ExpectedObjects(made))
                    guard !store.lacksFiles else { continue }
                    try store.check(Self.problems)
                    count += 1
                } catch {
                    Issue.record("\(made): \(error)")
                }
            }
            #expect(count > 40)
        }
    }

    /// Its keys add up to more than a record log can state.
    private static let withGreatKeys = "pages-65536"

    /// Stores whose models only their makers know.
    private static let withoutModel: Set = ["old-without-cache", "cache-empty", "old-constraints"]
}

@Suite(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)")) struct WrittenSharedStoreTests {
    @Test
    func `A real store that goes through a record log has the same objects, and its tables have the same rows`() throws {
        try SharedStores.forEachExpected { expected, source in
            let store = WrittenStore(expected)
            if !store.lacksFiles { try store.check(source: source, WrittenStoreTests.problems) }
        }
    }
}
