import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Files that are no store, or not the store that they seem to be.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteBadInputTests {
    private static func refusal(
        _ file: URL, model: NSManagedObjectModel = Zoo.model(), sourceLocation: SourceLocation = #_sourceLocation
    ) -> NSError? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
            try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
        } as NSError?
        #expect(coordinator.persistentStores.isEmpty, sourceLocation: sourceLocation)
        #expect(error?.domain == NSCocoaErrorDomain && error?.localizedDescription.contains(file.path) == true, sourceLocation: sourceLocation)
        return error
    }

    private static func fetch(_ entity: String, _ format: String? = nil, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return try context.fetch(request)
    }

    // MARK: Other files

    @Test
    func `A browser's database is said to be no Core Data store, with its tables`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("places.sqlite")
            try CoreDataStoreFiles.execute(
                "PRAGMA user_version = 53; PRAGMA journal_mode = WAL;"
                    + "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, guid TEXT);"
                    + "CREATE UNIQUE INDEX moz_places_guid ON moz_places (guid); CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY);"
                    + "CREATE VIEW recent AS SELECT * FROM moz_places; CREATE VIRTUAL TABLE search USING fts4(body);"
                    + "INSERT INTO moz_places VALUES (1, 'https://a.b', 'x')", at: file)
            let error = Self.refusal(file)
            #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
            #expect(error?.localizedDescription.contains("moz_places, moz_historyvisits") == true, "\(String(describing: error))")
            let found = #expect(throws: (any Error).self) { try CoreDataStoreModel.find(storeAt: file.path) } as NSError?
            #expect(found?.code == NSPersistentStoreIncompatibleSchemaError)
            let metadata = #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)
            }
            #expect((metadata as NSError?)?.code == NSPersistentStoreIncompatibleSchemaError)
        }
    }

    @Test
    func `Each other kind of file has its own error`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            func error(_ name: String, _ bytes: [UInt8]) throws -> NSError? {
                let file = folder.appendingPathComponent(name)
                try Data(bytes).write(to: file)
                return Self.refusal(file)
            }
            let corrupt = CocoaError.Code.fileReadCorruptFile.rawValue
            #expect(try error("nothing", [])?.code == NSPersistentStoreIncompatibleSchemaError)
            #expect(try error("text.sqlite", Array("name,age\nAnn,30\n".utf8))?.code == corrupt)
            #expect(try error("half.sqlite", Array("SQLite format 3\0".utf8))?.code == corrupt)
            #expect(try error("zeros.sqlite", [UInt8](repeating: 0, count: 8192))?.code == corrupt)
            var state: UInt64 = 35
            let random = (0..<8192).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            let encrypted = try error("encrypted.sqlite", random)
            #expect(encrypted?.code == corrupt && encrypted?.localizedDescription.contains("encrypted") == true)
            var newer = [UInt8](try Data(contentsOf: try Zoo(in: folder, name: "newer.sqlite").file))
            newer[19] = 3
            #expect(try error("newer.sqlite", newer)?.code == CocoaError.Code.fileReadUnknown.rawValue)
            #expect(Self.refusal(folder)?.code == corrupt)
            let file = folder.appendingPathComponent("log.heartwood")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Zoo.model())
            try coordinator.addPersistentStore(type: .recordLog, configuration: nil, at: file)
            #expect(Self.refusal(file)?.code == corrupt, "a record log")
        }
    }

    // MARK: Logs

    @Test
    func `A store whose tables are only in a log that is not there says which file is missing`() throws {
        try CoreDataStoreFiles.withMadeStore("log-alone") { made in
            let model = try CoreDataStoreModel.find(storeAt: made.store.path).model
            #expect(StoreExercise.errors(at: made.store, model: model).isEmpty)
            try FileManager.default.removeItem(atPath: made.store.path + "-wal")
            let error = Self.refusal(made.store, model: model)
            #expect(error?.localizedDescription.contains("log-alone.sqlite-wal") == true, "\(String(describing: error))")
        }
        // A checkpoint has cut off pages that the header still counts.
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, "PRAGMA journal_mode = WAL;")
            try Data(try Data(contentsOf: zoo.file).dropLast(4096)).write(to: zoo.file)
            let error = Self.refusal(zoo.file)
            #expect(error?.localizedDescription.contains("log") == true, "\(String(describing: error))")
        }
    }

    /// A store in log mode, closed, and the log that a commit of `sql` makes.
    private static func logged(_ name: String, _ setup: String, _ sql: String, in folder: URL) throws -> (zoo: Zoo, log: Data) {
        let zoo = try Zoo(in: folder, setup + "PRAGMA journal_mode = WAL;", name: name)
        let program = """
            import shutil, sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('PRAGMA wal_autocheckpoint = 0')
            c.executescript(sys.argv[2])
            shutil.copy(sys.argv[1] + '-wal', sys.argv[1] + '.kept')
            shutil.copy(sys.argv[1], sys.argv[1] + '.main')
            c.close()
            """
        try CoreDataStoreFiles.run(["-c", program, zoo.file.path, sql])
        let log = try Data(contentsOf: URL(fileURLWithPath: zoo.file.path + ".kept"))
        try Data(contentsOf: URL(fileURLWithPath: zoo.file.path + ".main")).write(to: zoo.file)
        return (zoo, log)
    }

    @Test
    func `The log of another store is refused with both stores' identifiers`() throws {
        let other = "UPDATE Z_METADATA SET Z_UUID = 'OTHER-STORE'; "
        try CoreDataStoreFiles.withFolder { folder in
            let touch = "UPDATE Z_METADATA SET Z_VERSION = 1; UPDATE ZKEEPER SET ZAGE = 5;"
            let (zoo, own) = try Self.logged("a.sqlite", "", touch, in: folder)
            let (_, foreign) = try Self.logged("b.sqlite", other, touch, in: folder)
            let log = URL(fileURLWithPath: zoo.file.path + "-wal")
            try own.write(to: log)
            #expect(try Self.fetch("Keeper", "age == 5", in: try zoo.context()).count == 4)
            try foreign.write(to: log)
            let error = Self.refusal(zoo.file)
            #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
            for name in [Zoo.identifier, "OTHER-STORE", "-wal"] { #expect(error?.localizedDescription.contains(name) == true, "\(name)") }
            let conversion = SQLiteConversion(zoo.file, for: zoo.model, configuration: nil, keepsHistory: false)
            let refused = #expect(throws: (any Error).self) { try conversion.check() } as NSError?
            #expect(refused?.localizedDescription.contains("OTHER-STORE") == true, "a conversion refuses it too")
            // Of other pages it cannot be told; of another page size it is.
            try FileManager.default.removeItem(at: log)
            #expect(try Self.fetch("Keeper", "age == 5", in: try zoo.context()).isEmpty)
        }
    }

    @Test
    func `A log that replaces the whole store is its own`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let replacement = try Zoo(in: folder, "UPDATE Z_METADATA SET Z_UUID = 'NEW'; DELETE FROM ZNOTE;", name: "new.sqlite")
            let zoo = try Zoo(in: folder, "PRAGMA journal_mode = WAL;")
            let program = """
                import shutil, sqlite3, sys
                c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA wal_autocheckpoint = 0')
                old = open(sys.argv[1], 'rb').read()
                sqlite3.connect(sys.argv[2]).backup(c)
                shutil.copy(sys.argv[1] + '-wal', sys.argv[1] + '.kept')
                c.close()
                open(sys.argv[1], 'wb').write(old); shutil.move(sys.argv[1] + '.kept', sys.argv[1] + '-wal')
                """
            try CoreDataStoreFiles.run(["-c", program, zoo.file.path, replacement.file.path])
            let context = try zoo.context()
            #expect(context.persistentStoreCoordinator?.persistentStores.first?.identifier == "NEW")
            #expect(try Self.fetch("Note", in: context).isEmpty && Self.fetch("Keeper", in: context).count == 4)
        }
    }

    @Test
    func `A store behind a symbolic link is read with its log and its external data`() throws {
        try CoreDataStoreFiles.withMadeStore("log-beside") { made in
            let link = made.folder.appendingPathComponent("links"), store = link.appendingPathComponent("link.sqlite")
            try FileManager.default.createDirectory(at: link, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: store, withDestinationURL: made.store)
            let lines = [try made.summary()] + (try made.objects())
            #expect(try ExpectedObjects(name: "link", file: store, lines: lines).check() == 4)
        }
    }

    // MARK: Pages

    /// Changes bytes of the page where a table begins. `body` gets the file's bytes and the page's range.
    private static func damage(_ zoo: Zoo, _ table: String, _ body: (inout [UInt8], Range<Int>) -> Void) throws {
        let program = """
            import sqlite3, sys
            print(sqlite3.connect(sys.argv[1]).execute('SELECT rootpage FROM sqlite_master WHERE name = ?', [sys.argv[2]]).fetchone()[0])
            """
        let output = try CoreDataStoreFiles.run(["-c", program, zoo.file.path, table])
        let page = try #require(Int(output.filter(\.isNumber)))
        var bytes = [UInt8](try Data(contentsOf: zoo.file))
        body(&bytes, (page - 1) * 4096..<page * 4096)
        try Data(bytes).write(to: zoo.file)
    }

    @Test(.timeLimit(.minutes(1)))
    func `Cycles of pages and lengths beyond the page are typed errors, and other tables stay readable`() throws {
        let many = "WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO ZNOTE SELECT i, 5, 1, NULL, NULL, "
            + "'a text that is long enough for more than one page ' || i FROM n;"
        let damages: [(String, (inout [UInt8], Range<Int>) -> Void)] = [
            ("the last child is the page itself", { bytes, page in
                let number = UInt32(page.lowerBound / 4096 + 1)
                for index in 0..<4 { bytes[page.lowerBound + 8 + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32(index))) }
            }),
            ("the first child is the page itself", { bytes, page in
                let number = UInt32(page.lowerBound / 4096 + 1), cell = Int(bytes[page.lowerBound + 12]) << 8 | Int(bytes[page.lowerBound + 13])
                for index in 0..<4 { bytes[page.lowerBound + cell + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32(index))) }
            }),
            ("the child is far away", { bytes, page in bytes[page.lowerBound + 8] = 0x7F }),
            ("the count of cells is too large", { bytes, page in bytes[page.lowerBound + 3] = 0xFF }),
            ("a cell is behind the page", { bytes, page in bytes[page.lowerBound + 12] = 0xFF }),
            ("the kind of page is unknown", { bytes, page in bytes[page.lowerBound] = 7 }),
        ]
        for (what, damage) in damages {
            try CoreDataStoreFiles.withFolder { folder in
                let zoo = try Zoo(in: folder, many)
                try Self.damage(zoo, "ZNOTE", damage)
                let context = try zoo.context()
                let error = #expect(throws: (any Error).self, "\(what)") { try Self.fetch("Note", in: context) } as NSError?
                let text = error?.localizedDescription ?? ""
                #expect(error?.code == NSSQLiteError && text.contains("page") && text.contains(zoo.file.path), "\(what): \(text)")
                #expect(try Self.fetch("Keeper", in: context).count == 4, "\(what)")
            }
        }
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder)
            try Self.damage(zoo, "ZKEEPER") { bytes, page in
                // The payload's length of the first cell.
                let cell = Int(bytes[page.lowerBound + 8]) << 8 | Int(bytes[page.lowerBound + 9])
                for index in 0..<8 { bytes[page.lowerBound + cell + index] = 0xFF }
            }
            let context = try zoo.context()
            let error = #expect(throws: (any Error).self) { try Self.fetch("Keeper", in: context) } as NSError?
            #expect(error?.code == NSSQLiteError)
            #expect(try Self.fetch("Note", in: context).count == 4)
        }
    }

    // MARK: Core Data's tables

    private static let caches: [(String, String)] = [
        ("no DEFLATE", "X'FFFFFFFF'"), ("text", "'a model'"), ("an archive without compression", "X'62706C6973743030D4'"), ("nothing", "X''"),
        ("null", "NULL"), ("a number", "5"), ("stored bytes that are no archive", "X'010300FCFF616263'"),
    ]

    @Test
    func `A cache that is no model does not keep the right model from opening the store; without one it is guessed, and that is said`() throws {
        for (what, value) in Self.caches {
            try CoreDataStoreFiles.withFolder { folder in
                let zoo = try Zoo(in: folder, "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(value));")
                #expect(try Self.fetch("Keeper", in: try zoo.context()).count == 4, "\(what)")
                let found = try CoreDataStoreModel.find(storeAt: zoo.file.path)
                #expect(found.origin == .schema && found.guessReason?.contains("cache") == true, "\(what): \(found.guessReason ?? "")")
                #expect(StoreExercise.errors(at: zoo.file, model: nil).isEmpty, "\(what)")
            }
        }
    }

    @Test
    func `A newer framework's store is read if its tables fit the model`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder)
            let program = """
                import plistlib, sqlite3, sys
                versions = {'NSPersistenceFrameworkVersion': 99999, 'NSPersistenceMaximumFrameworkVersion': 99999}
                hashes = {'NSStoreModelVersionHashesVersion': 9, 'NSStoreModelVersionHashesDigest': 'x'}
                others = {'NSStoreType': 'SQLite', 'key': {'of': ['an', 'app', 1]}}
                plist = plistlib.dumps({**versions, **hashes, **others}, fmt=plistlib.FMT_BINARY)
                c = sqlite3.connect(sys.argv[1])
                c.execute('UPDATE Z_METADATA SET Z_VERSION = 2, Z_PLIST = ?', [plist])
                c.executescript("CREATE TABLE ANSCKDATABASEMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); CREATE TABLE NEWTABLE (X BLOB);"
                    "CREATE TABLE Z_FUTURE (A INTEGER PRIMARY KEY) WITHOUT ROWID; ALTER TABLE ZKEEPER ADD COLUMN ZFUTURE")
                c.commit()
                """
            try CoreDataStoreFiles.run(["-c", program, zoo.file.path])
            let context = try zoo.context()
            let metadata = context.persistentStoreCoordinator?.persistentStores[0].metadata
            #expect(metadata?["NSPersistenceFrameworkVersion"] as? Int == 99999 && metadata?["key"] != nil)
            #expect(try Self.fetch("Keeper", in: context).count == 4)
        }
    }

    @Test
    func `Rows of entity numbers that nothing names are left out, and references to them lead nowhere`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, """
                INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZKEEPER, Z_FOK_KEEPER, ZNAME) VALUES (50, 99, 1, 1, 5, 'Odd'), (51, NULL, 1, 1, 6, 'None'),
                    (52, 4, 1, 1, 7, 'Keeper');
                UPDATE ZKEEPER SET ZBEST = 50, Z1_BEST = 99 WHERE Z_PK = 1; UPDATE ZKEEPER SET ZBEST = 2, Z1_BEST = NULL WHERE Z_PK = 2;
                UPDATE ZKEEPER SET ZBEST = -5, Z1_BEST = 2 WHERE Z_PK = 3; INSERT INTO Z_1HELPERS VALUES (50, 1, 1), (NULL, 1, 2), (2, NULL, 3);
                """)
            let context = try zoo.context()
            #expect(try Self.fetch("Animal", in: context).count == 5)
            let keepers = try Self.fetch("Keeper", in: context)
            func name(_ key: String, _ row: Int) -> [String] {
                guard let keeper = keepers.first(where: { $0.objectID.key.row == row }) else { return ["no keeper"] }
                let value = keeper.value(forKey: key)
                let members = (value as? NSOrderedSet)?.array ?? [value].compactMap { $0 }
                return members.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "nil" }
            }
            #expect(name("animals", 1) == ["Tom", "Rex", "Ant"] && name("helped", 1) == ["Rex", "Ida", "Tom"])
            #expect(name("best", 1) == [] && name("best", 2) == ["Tom"] && name("best", 3) == [])
            #expect(context.readingFailure == nil)
        }
    }

    @Test
    func `Properties whose names differ only in case have their own columns`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("a.sqlite"), model = NSManagedObjectModel(), entity = NSEntityDescription()
            entity.name = "Item"
            let home = NSCompositeAttributeDescription()
            home.name = "home"
            home.elements = [TestStack.attribute("Name", .stringAttributeType)]
            entity.properties = [TestStack.attribute("name", .stringAttributeType), TestStack.attribute("NAME", .stringAttributeType), home]
            model.entities = [entity]
            try CoreDataStoreFiles.execute("""
                CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
                INSERT INTO Z_METADATA VALUES (1, 'U', NULL);
                CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
                INSERT INTO Z_PRIMARYKEY VALUES (1, 'Item', 0, 1);
                CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZNAME1 VARCHAR, ZNAME2 VARCHAR);
                INSERT INTO ZITEM VALUES (1, 1, 1, 'first', 'second', 'third');
                """, at: file)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: file)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let item = try #require(try Self.fetch("Item", in: context).first)
            // By name with regard to case: NAME, home.Name, name.
            #expect(item.value(forKey: "NAME") as? String == "first" && item.value(forKey: "name") as? String == "third")
            #expect((item.value(forKey: "home") as? [String: Any])?["Name"] as? String == "second")
            #expect(try Self.fetch("Item", "NAME == 'first' AND name == 'third' AND home.Name == 'second'", in: context).count == 1)
        }
    }

    @Test
    func `Numbers at the ends of their types are read, and keys beyond those of Core Data are errors`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, """
                UPDATE ZKEEPER SET ZPRICE = 9e999, ZSCORE = -9e999, ZSINCE = 9e999, ZRATIO = 1e300 WHERE Z_PK = 1;
                UPDATE ZKEEPER SET ZPRICE = 1e300, ZSINCE = -1e300, ZAGE = 9223372036854775807, ZSHORT = 70000 WHERE Z_PK = 3;
                UPDATE ZKEEPER SET ZPRICE = 1e-300, ZSINCE = 1e18, ZDONE = 77 WHERE Z_PK = 7; UPDATE ZNOTE SET Z_OPT = 0 WHERE Z_PK = 1;
                UPDATE ZNOTE SET Z_OPT = 9223372036854775807 WHERE Z_PK = 2; UPDATE ZNOTE SET Z_OPT = NULL WHERE Z_PK = 3;
                """)
            let context = try zoo.context()
            #expect(try Self.fetch("Keeper", "price != nil AND since != nil AND score != 0", in: context).count >= 2)
            for format in ["price > 0", "since > 0", "since < %@", "ratio > 1", "age == -1", "short == 4464", "done == YES", "price == 3.25"] {
                _ = try Self.fetch("Keeper", format.replacingOccurrences(of: "%@", with: "CAST(5, 'NSDate')"), in: context)
            }
            #expect(StoreExercise.errors(at: zoo.file, model: zoo.model).isEmpty)
            for key in [0, -1, 140_737_488_355_328, Int64.max, Int64.min] {
                let odd = try Zoo(in: folder, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), 5, 1);", name: "\(key).sqlite")
                let error = #expect(throws: (any Error).self) { try Self.fetch("Note", in: try odd.context()) } as NSError?
                #expect(error?.localizedDescription.contains("\(key)") == true, "\(key)")
            }
        }
    }

    @Test
    func `A history with numbers at the ends of their type is read, and its tokens work`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let tables = """
                CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZTIMESTAMP TIMESTAMP);
                CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
                    ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB);
                """
            for numbers in [[Int64.max], [1, Int64.max], [Int64.min, -1], [Int64.min, 3, Int64.max], [-5, 0]] {
                let rows = numbers.map {
                    "INSERT INTO ATRANSACTION VALUES (\($0), 16002, 1, 7, 9e999);"
                        + "INSERT INTO ACHANGE VALUES (\($0), 16001, 1, 1, 4, 1, \($0), X'FFFFFFFFFF', NULL);"
                }.joined()
                let zoo = try Zoo(in: folder, tables + rows, name: "\(numbers).sqlite"), context = try zoo.context()
                func read(_ token: NSPersistentHistoryToken?) throws -> [Int64] {
                    let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult
                    return (result?.result as? [NSPersistentHistoryTransaction] ?? []).map(\.transactionNumber)
                }
                #expect(try read(nil) == numbers.filter { $0 > 0 }, "\(numbers)")
                let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
                #expect(try read(token).isEmpty, "\(numbers)")
                #expect(StoreExercise.errors(at: zoo.file, model: zoo.model).isEmpty, "\(numbers)")
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `Very many tables, entities, ancestors and columns end in a model or an error, soon`() throws {
        let metadata = "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);"
            + "INSERT INTO Z_METADATA VALUES (1, 'U', NULL);"
            + "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);"
            + "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        let counting = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) INSERT INTO Z_PRIMARYKEY SELECT i"
        func columns(_ count: Int) -> String { (0..<count).map { ", ZC\($0) INTEGER, Z_FOK_C\($0) INTEGER" }.joined() + ");" }
        let stores: [(String, String)] = [
            ("entities of one name", metadata + ");" + counting + ", 'A', 0, 1 FROM n;"),
            ("ancestors", metadata + ");" + counting + ", 'A' || i, i - 1, 1 FROM n;"),
            ("a circle of ancestors", metadata + ");" + counting + ", 'A' || i, 1 + i % 1500, 1 FROM n;"),
            ("siblings", metadata + ");" + counting + ", CASE i WHEN 1 THEN 'A' ELSE 'A' || i END, min(i - 1, 1), 1 FROM n;"),
            ("columns", metadata + columns(990) + counting + ", 'A', 0, 1 FROM n;"),
            ("columns of few entities", metadata + columns(990) + "INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1);"),
        ]
        for (what, sql) in stores {
            try CoreDataStoreFiles.withFolder { folder in
                let file = folder.appendingPathComponent("a.sqlite"), clock = ContinuousClock(), start: ContinuousClock.Instant
                try CoreDataStoreFiles.execute(sql, at: file)
                start = clock.now
                for error in StoreExercise.errors(at: file, model: nil) { #expect(error.domain == NSCocoaErrorDomain, "\(what): \(error)") }
                #expect(clock.now - start < .seconds(20), "\(what)")
            }
        }
    }
}
