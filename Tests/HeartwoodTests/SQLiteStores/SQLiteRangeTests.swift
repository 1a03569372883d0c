import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Fetches by ranges and in the order of columns that indexes of an SQLite store begin with.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteRangeTests {
    private static let indexes = "CREATE INDEX bigs ON ZKEEPER (ZBIG COLLATE BINARY ASC); CREATE INDEX scores ON ZKEEPER (ZSCORE, ZBIG);"
        + "CREATE INDEX times ON ZKEEPER (ZSINCE COLLATE BINARY ASC);"

    /// Keepers from the number 100 on, with few different values: null, ends, whole and broken ones.
    private static func keepers(_ count: Int, _ random: inout SeededGenerator) -> String {
        let bigs = ["NULL", "0", "1", "-1", "5", "6", "9223372036854775807", "-9223372036854775808", "9007199254740993", "2.5", "-2.5"]
        let reals = ["NULL", "0", "1", "-1", "0.5", "1e300", "-1e300", "5e-324", "9e999", "-9e999", "100.25"]
        return (0..<count).map { number in
            let values = [bigs, reals, reals].map { $0.randomElement(using: &random) ?? "NULL" }.joined(separator: ", ")
            return "INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZBIG, ZSCORE, ZSINCE, ZAGE) VALUES (\(100 + number), 4, 1, \(values), \(number % 7));"
        }.joined()
    }

    /// - Returns: a request, the key it is sorted by, if there is one, and the request in words.
    private static func request(_ random: inout SeededGenerator) -> (NSFetchRequest<NSManagedObject>, key: String?, String) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
        let numbers: [Double] = [0, 1, -1, 2, 2.5, 5, 1e300, -1e300, .infinity, 100.25, Double(Int64.max), Double(Int64.min)]
        let conditions = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            let key = ["big", "score", "since"].randomElement(using: &random) ?? "big"
            let comparison = ["<", "<=", ">", ">=", "==", "!="].randomElement(using: &random) ?? "<"
            let number = numbers.randomElement(using: &random) ?? 0
            if key == "since" { return NSPredicate(format: "since \(comparison) %@", NSDate(timeIntervalSinceReferenceDate: number)) }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return NSPredicate(format: "%lf \(comparison) %K", number, key)
            case 1: return NSPredicate(format: "%K BETWEEN {%lf, %lf}", key, min(number, 1), max(number, 1))
            case 2: return NSPredicate(format: "%K \(comparison) %@", key, NSNull())
            case 3: return NSPredicate(format: "%K \(comparison) %lld AND age < 5", key, Int64.random(in: -2...6, using: &random))
            default: return NSPredicate(format: "%K \(comparison) %lf", key, number)
            }
        }
        if !conditions.isEmpty { request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions) }
        let key = ["big", "score", "since", "age"].randomElement(using: &random) ?? "big"
        let isSorted = Bool.random(using: &random), isAscending = Int.random(in: 0..<4, using: &random) > 0
        if isSorted { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: isAscending)] }
        if Bool.random(using: &random) { request.fetchLimit = Int.random(in: 1...20, using: &random) }
        if Bool.random(using: &random) { request.fetchOffset = Int.random(in: 0...5, using: &random) }
        let order = isSorted ? "by \(key) \(isAscending)" : "in any order"
        return (request, isSorted ? key : nil, "\(conditions) \(order) \(request.fetchLimit) \(request.fetchOffset)")
    }

    @Test
    func `Ranges and orders give the same with indexes as without`() throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        try CoreDataStoreFiles.withFolder { folder in
            let rows = Self.keepers(400, &random)
            let plain = try Zoo(in: folder, rows, name: "Plain.sqlite").context()
            let indexed = try Zoo(in: folder, rows + Self.indexes, name: "Indexed.sqlite").context()
            var byIndex = 0
            for round in 0..<400 {
                let (request, key, text) = Self.request(&random)
                let isWhole = request.fetchLimit == 0 && request.fetchOffset == 0
                func answer(_ context: NSManagedObjectContext) throws -> [String] {
                    let found = try context.fetch(request)
                    defer { context.reset() }
                    if let key {
                        // Equal values may come in any order, so only a whole answer is compared by object.
                        let values = found.map { String(describing: $0.value(forKey: key)) }
                        return values + (isWhole ? found.map { "\($0.objectID.key.row)" }.sorted() : [])
                    }
                    return isWhole ? found.map { "\($0.objectID.key.row)" }.sorted() : ["\(found.count)"]
                }
                let expected = try answer(plain), found = try answer(indexed)
                #expect(expected == found, "seed \(seed), round \(round): \(text)")
                if case .index? = indexed.lastQuery.access.first { byIndex += 1 }
                #expect(try plain.count(for: request) == indexed.count(for: request), "seed \(seed), round \(round): \(text)")
            }
            #expect(byIndex > 50, "seed \(seed)")
        }
    }

    @Test
    func `An equality finds by an index what it finds without one, also where reading changes a value`() throws {
        let numbers = ["NULL", "0", "1", "2", "2.5", "1.5", "-1.5", "65538", "-65534", "65537.5", "4294967298", "-4294967294", "9223372036854775807"]
        let uuid = UUID()
        let bytes = withUnsafeBytes(of: uuid.uuid) { $0.map { String(format: "%02x", $0) }.joined() }
        let tokens = ["NULL", "X'\(bytes)'", "'\(uuid.uuidString)'", "'\(uuid.uuidString.lowercased())'"]
        let names = ["NULL", "''", "'a'", "CAST(X'FF' AS TEXT)", "'\u{FFFD}'", "CAST(X'61FF' AS TEXT)", "'a\u{FFFD}'"]
        let rows = numbers.enumerated().map { index, number in
            let values = [number, number, number, tokens[index % tokens.count], names[index % names.count]].joined(separator: ", ")
            return "INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZSHORT, ZAGE, ZBIG, ZTOKEN, ZNAME) VALUES (\(100 + index), 4, 1, \(values));"
        }.joined()
        let indexes = ["SHORT", "AGE", "BIG", "TOKEN", "NAME"].map { "CREATE INDEX \($0)S ON ZKEEPER (Z\($0));" }.joined()
        let integers = ["short", "age", "big"].flatMap { key in
            [Int64.min, -2, -1, 0, 1, 2, 3, 65538, 4_294_967_298, .max].map { NSPredicate(format: "%K == %lld", key, $0) }
                + [NSPredicate(format: "%K IN %@", key, [1, 2]), NSPredicate(format: "%K IN {}", key)]
        }
        let others = [NSPredicate(format: "token == %@", uuid as NSUUID), NSPredicate(format: "token == %@", UUID() as NSUUID)]
            + ["", "a", "\u{FFFD}", "a\u{FFFD}"].map { NSPredicate(format: "name == %@", $0) }
            + [NSPredicate(format: "name IN %@", ["a", "\u{FFFD}"])]
        try CoreDataStoreFiles.withFolder { folder in
            let plain = try Zoo(in: folder, rows, name: "Plain.sqlite").context()
            let indexed = try Zoo(in: folder, rows + indexes, name: "Indexed.sqlite").context()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
            var byIndex = 0
            for predicate in integers + others {
                request.predicate = predicate
                let expected = try plain.fetch(request).map(\.objectID.key.row).sorted()
                let found = try indexed.fetch(request).map(\.objectID.key.row).sorted()
                if case .index? = indexed.lastQuery.access.first { byIndex += 1 }
                #expect(expected == found, "\(predicate)")
            }
            // All but those for U+FFFD.
            #expect(byIndex == integers.count + others.count - 3)
        }
    }

    @Test
    func `The first rows of an order are read in the order of an index, and a short range by its rows; a long range is a scan`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let rows = """
                WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5099)
                INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZBIG, ZSCORE, ZSINCE) SELECT i, 4, 1, 10000 - i, i / 2.0, i FROM n;
                """
            let context = try Zoo(in: folder, rows + Self.indexes).context()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
            request.predicate = NSPredicate(format: "since >= %@", NSDate(timeIntervalSinceReferenceDate: 1000))
            request.sortDescriptors = [NSSortDescriptor(key: "since", ascending: true)]
            request.fetchLimit = 10
            #expect(try context.fetch(request).map(\.objectID.key.row) == Array(1000..<1010))
            #expect(context.lastQuery.access == [.index("times")] && context.lastQuery.rowsVisited == 10)
            request.fetchOffset = 3
            #expect(try context.fetch(request).map(\.objectID.key.row) == Array(1003..<1013))
            // An order without a condition.
            (request.predicate, request.fetchOffset) = (NSPredicate(format: "big > -10"), 0)
            request.sortDescriptors = [NSSortDescriptor(key: "big", ascending: true)]
            #expect(try context.fetch(request).first?.value(forKey: "big") as? Int == 0)
            #expect(context.lastQuery.access == [.index("bigs")] && context.lastQuery.rowsVisited < 20)
            // Few of the rows that the index leads to match.
            request.predicate = NSPredicate(format: "big > -10 AND score == 2549.5")
            request.fetchLimit = 2
            #expect(try context.fetch(request).map(\.objectID.key.row) == [5099])
            (request.sortDescriptors, request.fetchLimit) = ([], 0)
            request.predicate = NSPredicate(format: "score > 1000 AND score <= 1005")
            #expect(try context.fetch(request).count == 10)
            #expect(context.lastQuery.access == [.index("scores")] && context.lastQuery.rowsVisited == 11)
            request.predicate = NSPredicate(format: "score > 100")
            #expect(try context.count(for: request) == 4900)
            #expect(context.lastQuery.access == [.scan])
        }
    }
}
