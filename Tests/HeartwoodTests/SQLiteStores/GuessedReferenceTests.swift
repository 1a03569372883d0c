import Foundation
@testable import HeartwoodSQLite
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Relationships of stores without a model, guessed from names, keys and pairs.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct GuessedReferenceTests {
    // MARK: Real stores

    /// Columns and values of to-one relationships.
    private struct Count {
        var columns = 0, values = 0
        mutating func add(_ values: Int) { (columns, self.values) = (columns + 1, self.values + values) }
    }

    private struct Result {
        var all = Count(), wrong = Count(), wrongAndSure = Count(), asIntegers = Count(), before = Count()
    }

    @Test(.enabled(if: SharedStores.areThere, "\(SharedStores.absence)"))
    func `In real stores without their caches no reference is wrong and sure`() throws {
        var result = Result(), stores = 0
        for folder in try FileManager.default.contentsOfDirectory(atPath: SharedStores.folder.path).sorted() {
            let place = SharedStores.folder.appendingPathComponent(folder)
            guard FileManager.default.fileExists(atPath: place.appendingPathComponent("EXPECTED.jsonl").path),
                let name = try SharedStores.expected(folder).first?["store"] as? String
            else { continue }
            let original = place.appendingPathComponent(name), known = try CoreDataStoreModel.find(storeAt: original.path)
            guard known.origin == .cache else { continue }
            try CoreDataStoreFiles.withFolder { folder in
                let copy = folder.appendingPathComponent("Copy.sqlite")
                try Self.copyWithoutCache(original, to: copy)
                try Self.compare(known.model, with: copy, &result)
            }
            stores += 1
        }
        print(
            "guessed references of \(stores) stores: \(result.wrong.values) of \(result.all.values) values wrong, \(result.wrongAndSure.values) of them "
                + "sure, \(result.asIntegers.values) integers (columns: \(result.wrong.columns) of \(result.all.columns), "
                + "\(result.wrongAndSure.columns), \(result.asIntegers.columns)); by the longest name \(result.before.values) values and "
                + "\(result.before.columns) columns wrong")
        #expect(stores > 15 && result.all.values > 1000 && result.all.columns > 120)
        #expect(result.wrongAndSure.columns == 0 && result.wrong.columns == 0)
        #expect(result.asIntegers.values * 20 < result.all.values && result.before.values > 0)
    }

    private static func copyWithoutCache(_ original: URL, to copy: URL) throws {
        let program = """
            import os, shutil, sqlite3, sys
            for end in ('', '-wal'):
                if os.path.exists(sys.argv[1] + end):
                    shutil.copy(sys.argv[1] + end, sys.argv[2] + end)
                    os.chmod(sys.argv[2] + end, 0o600)
            c = sqlite3.connect(sys.argv[2])
            c.execute('DELETE FROM Z_MODELCACHE')
            c.commit()
            c.close()
            """
        try CoreDataStoreFiles.run(["-c", program, original.path, copy.path])
    }

    private static func compare(_ known: NSManagedObjectModel, with copy: URL, _ result: inout Result) throws {
        let found = try CoreDataStoreModel.find(storeAt: copy.path)
        #expect(found.origin == .schema)
        let contents = try CoreDataContents.open(copy.path).contents
        func layout(_ model: NSManagedObjectModel) throws -> CoreDataLayout {
            try CoreDataLayout(CoreDataStoreModel.entities(of: model, in: contents), contents.numbers, contents.schema, path: copy.path)
        }
        let real = try layout(known), guessed = try layout(found.model)
        var seen: Set<String> = []
        for entity in real.entities.values.sorted(by: { $0.number < $1.number }) {
            for (index, place) in entity.places.enumerated() {
                guard case .toOne(let column, _)? = place, seen.insert("\(entity.table).\(column)").inserted,
                    let relationship = entity.entity.propertiesByIndex[index] as? NSRelationshipDescription,
                    let root = guessed.entities.values.first(where: { $0.table == entity.table && $0.entity.superentity == nil })
                else { continue }
                let values = try count(column, of: entity.table, in: copy)
                result.all.add(values)
                let name = String(column.dropFirst().lowercased()), isDoubted = found.doubts.contains { $0.hasPrefix("\(root.entity.name ?? "").\(name) ") }
                let destination = root.entity.relationshipsByName[name]?.destinationEntity?.name
                if destination == nil { result.asIntegers.add(values) }
                if let destination, destination != relationship.destinationEntity?.name { result.wrong.add(values) }
                if destination != relationship.destinationEntity?.name, !isDoubted { result.wrongAndSure.add(values) }
                let longest = longestName(in: column.dropFirst(), contents)
                if let longest, longest != relationship.destinationEntity?.name { result.before.add(values) }
            }
        }
    }

    private static func count(_ column: String, of table: String, in store: URL) throws -> Int {
        let program = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])"
        let text = try CoreDataStoreFiles.run(["-c", program, store.path, "SELECT COUNT(\"\(column)\") FROM \"\(table)\""])
        return try #require(Int(text.filter(\.isNumber)))
    }

    /// The rule of before: the longest name that is a part of the column's, or has it as a part.
    private static func longestName(in column: Substring, _ contents: CoreDataContents) -> String? {
        contents.numbers.objectEntities.filter { column.contains($0.uppercased()) || $0.uppercased().contains(column) }
            .max { ($0.count, $1) < ($1.count, $0) }
    }

    // MARK: One sign after the other

    /// A store of entities with keys from 1 on, and one entity `Step` whose columns are given.
    private static func guess(
        _ entities: [String: Int], columns: [String], indexed: [String], rows: [String], entity: String = "Step", then more: String = "",
        _ body: (NSEntityDescription, [String]) throws -> Void
    ) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let store = folder.appendingPathComponent("S.sqlite"), names = (entities.keys + [entity]).sorted()
            var sql = """
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                INSERT INTO Z_METADATA VALUES (1, 'S', NULL);
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);

                """
            for (number, name) in names.enumerated() {
                let count = entities[name] ?? rows.count, own = name == entity ? columns.map { ", \($0)" }.joined() : ", ZTITLE VARCHAR"
                sql += "INSERT INTO Z_PRIMARYKEY VALUES (\(number + 1), '\(name)', 0, \(count));\n"
                sql += "CREATE TABLE Z\(name.uppercased()) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(own));\n"
                for key in 1..<(count + 1) {
                    let values = name == entity ? rows[key - 1] : "'\(name)'"
                    sql += "INSERT INTO Z\(name.uppercased()) VALUES (\(key), \(number + 1), 1, \(values));\n"
                }
            }
            let table = "Z" + entity.uppercased()
            for column in indexed { sql += "CREATE INDEX \(table)_\(column)_INDEX ON \(table) (\(column));\n" }
            try CoreDataStoreFiles.execute(sql + more, at: store)
            let found = try CoreDataStoreModel.find(storeAt: store.path)
            try body(try #require(found.model.entitiesByName[entity]), found.doubts)
        }
    }

    private static func destination(_ entity: NSEntityDescription, _ name: String) -> String? {
        entity.relationshipsByName[name]?.destinationEntity?.name
    }

    @Test
    func `The entity with the column's name is the destination, and not one with a longer name`() throws {
        try Self.guess(
            ["Recipe": 3, "RecipeCollection": 3, "Dessert": 3], columns: ["ZRECIPE INTEGER"], indexed: ["ZRECIPE"], rows: ["1", "3", "NULL"]
        ) { entity, doubts in
            #expect(Self.destination(entity, "recipe") == "Recipe" && doubts.isEmpty, "\(doubts)")
        }
    }

    @Test
    func `A part that all names begin with does not count`() throws {
        try Self.guess(
            ["CDTask": 3, "CDContact": 3], columns: ["ZTASK INTEGER"], indexed: ["ZTASK"], rows: ["1", "3"], entity: "CDStep"
        ) { entity, doubts in
            #expect(Self.destination(entity, "task") == "CDTask" && doubts.isEmpty, "\(doubts)")
        }
    }

    @Test
    func `Where two entities have the keys, the column is an integer and the doubt is listed`() throws {
        try Self.guess(["Cat": 3, "Dog": 3], columns: ["ZPET INTEGER"], indexed: ["ZPET"], rows: ["1", "3"]) { entity, doubts in
            #expect(entity.attributesByName["pet"]?.attributeType == .integer64AttributeType)
            #expect(doubts == ["Step.pet is an integer here: its values are keys of Cat, Dog."])
        }
    }

    @Test
    func `An entity without the keys is no destination, whatever its name`() throws {
        try Self.guess(["Cat": 2, "Dog": 9], columns: ["ZCAT INTEGER"], indexed: ["ZCAT"], rows: ["7", "8", "9"]) { entity, doubts in
            #expect(Self.destination(entity, "cat") == "Dog" && doubts.count == 1, "\(doubts)")
        }
        try Self.guess(["Cat": 2, "Dog": 3], columns: ["ZSCORE INTEGER"], indexed: ["ZSCORE"], rows: ["0", "-8", "500"]) { entity, doubts in
            #expect(entity.attributesByName["score"] != nil && doubts == ["Step.score is an integer here: its values are keys of no entity."])
        }
    }

    @Test
    func `A text, a date and data that have an index are attributes, without a doubt`() throws {
        try Self.guess(
            ["Cat": 3], columns: ["ZCAT VARCHAR", "ZDAY TIMESTAMP", "ZBYTES BLOB"], indexed: ["ZCAT", "ZDAY", "ZBYTES"],
            rows: ["'1'", "'2'"].map { "\($0), 1.5, x'01'" }
        ) { entity, doubts in
            #expect(entity.relationshipsByName.isEmpty && doubts.isEmpty, "\(doubts)")
            #expect(entity.attributesByName["cat"]?.attributeType == .stringAttributeType)
        }
    }

    @Test
    func `A column before an attribute's is an attribute, though it has an index: Core Data writes keys behind integers`() throws {
        try Self.guess(
            ["Cat": 3], columns: ["ZAGE INTEGER", "ZYEAR INTEGER", "ZCAT INTEGER"], indexed: ["ZAGE", "ZCAT"], rows: ["1, 5, 2", "2, 6, 3"]
        ) { entity, doubts in
            #expect(entity.attributesByName["age"] != nil && Self.destination(entity, "cat") == "Cat" && doubts.isEmpty, "\(doubts)")
        }
    }

    @Test
    func `One value in twenty may lead nowhere, with a doubt, but none that was never given`() throws {
        let rows = (1...20).map { $0 == 20 ? "25" : "\($0)" }
        try Self.guess(
            ["Cat": 30, "Dog": 2], columns: ["ZCAT INTEGER"], indexed: ["ZCAT"], rows: rows, then: "DELETE FROM ZCAT WHERE Z_PK = 25;"
        ) { entity, doubts in
            #expect(Self.destination(entity, "cat") == "Cat" && doubts == ["Step.cat leads to Cat: 1 of its 20 values lead nowhere."], "\(doubts)")
        }
        try Self.guess(["Cat": 19, "Dog": 2], columns: ["ZCAT INTEGER"], indexed: ["ZCAT"], rows: rows) { entity, doubts in
            #expect(Self.destination(entity, "cat") == nil && doubts.count == 1, "\(doubts)")
        }
    }

    @Test
    func `A column of the destination with the same pairs tells the inverse`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let store = folder.appendingPathComponent("S.sqlite")
            let tables = ["A", "B", "C"].enumerated().map { number, name in
                let values = ["A": [2, 3, 1], "B": [3, 1, 2], "C": [1, 2, 3]][name] ?? []
                return "INSERT INTO Z_PRIMARYKEY VALUES (\(number + 1), '\(name)x', 0, 3);"
                    + "CREATE TABLE Z\(name)X (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZOTHER INTEGER);"
                    + "CREATE INDEX Z\(name)X_ZOTHER_INDEX ON Z\(name)X (ZOTHER);"
                    + values.enumerated().map { "INSERT INTO Z\(name)X VALUES (\($0 + 1), \(number + 1), 1, \($1));" }.joined()
            }
            try CoreDataStoreFiles.execute(
                """
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                INSERT INTO Z_METADATA VALUES (1, 'S', NULL);
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                """ + tables.joined(), at: store)
            let found = try CoreDataStoreModel.find(storeAt: store.path), entities = found.model.entitiesByName
            #expect(try Self.destination(#require(entities["Ax"]), "other") == "Bx")
            #expect(try Self.destination(#require(entities["Bx"]), "other") == "Ax")
            #expect(try Self.destination(#require(entities["Cx"]), "other") == nil && found.doubts.count == 3, "\(found.doubts)")
        }
    }

    // MARK: What is kept

    @Test
    func `A converted store keeps the doubts, through other metadata, a compaction and an export`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let store = folder.appendingPathComponent("S.sqlite"), new = folder.appendingPathComponent("S.heartwood")
            try CoreDataStoreFiles.execute(
                """
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                INSERT INTO Z_METADATA VALUES (1, '6F315F5C-6321-58BE-AD08-5ECFF5526A53', NULL);
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                INSERT INTO Z_PRIMARYKEY VALUES (1, 'Cat', 0, 1), (2, 'Dog', 0, 1);
                CREATE TABLE ZCAT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFRIEND INTEGER);
                CREATE TABLE ZDOG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
                CREATE INDEX ZCAT_ZFRIEND_INDEX ON ZCAT (ZFRIEND);
                INSERT INTO ZCAT VALUES (1, 1, 1, 1);
                INSERT INTO ZDOG VALUES (1, 2, 1);
                """, at: store)
            let report = try SQLiteConversion(store, model: nil, keepsHistory: false).run(to: new)
            #expect(report.references.count == 1)
            #expect(try StoredModel.doubts(at: new) == report.references)
            let model = try StoredModel.read(at: new)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let made = try coordinator.addPersistentStore(type: .recordLog, configuration: nil, at: new)
            coordinator.setMetadata(["mine": 1], for: made)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                _ = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
                try context.save()
            }
            let exported = folder.appendingPathComponent("Exported.sqlite")
            try SQLiteStoreExport(made, .coreData(version: nil)).write(to: exported)
            try coordinator.remove(made)
            #expect(try StoredModel.doubts(at: new) == report.references)
            let again = try CoreDataStoreModel.find(storeAt: exported.path)
            #expect(again.origin == .written && again.guesses.isEmpty && again.doubts == report.references)
        }
    }
}
