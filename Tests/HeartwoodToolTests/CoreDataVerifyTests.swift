import Foundation
import Testing

/// `heartwood verify` on stores of Core Data's: sound ones, and each fault that a script can make.
@Suite struct CoreDataVerifyTests {
    private static func findings(_ output: String) -> [String] {
        output.split(separator: "\n").filter { $0.hasPrefix("corrupt: ") }.map { String($0.dropFirst("corrupt: ".count)) }
    }

    // MARK: Goldens

    private static let faultyGoldens = [
        "dangling": [
            "ZPERSON, row 1, column ZPET: it refers to row 9 of ZANIMAL, which does not exist",
            "ZPERSON, row 1, column ZTEAM: it refers to row 9 of ZTEAM, which does not exist",
            "Z_3TAGS, row 1, column Z_4TAGS: it refers to row 9 of ZTAG, which does not exist",
            "Z_3TAGS, row 3, column Z_4TAGS: it refers to row 8 of ZTAG, which does not exist",
            "Z_3TAGS, row 4, column Z_3PEOPLE: it refers to row 7 of ZPERSON, which does not exist",
            "Z_3TAGS, row 4, column Z_FOK_4TAGS: it has nothing where the place in an ordered relationship belongs",
        ],
        "external": ["ZPHOTO, row 5, column ZIMAGE: the file 6F315F5C-6321-58BE-AD08-5ECFF5526A53 with its value is not there"],
    ]

    @Test
    func `A sound store is said to be sound, and each fault of the others is named with table, row and column`() throws {
        for name in try CoreDataStores.goldens() {
            let result = try ToolProcess.run("verify", CoreDataStores.golden(name))
            let expected = Self.faultyGoldens[name] ?? []
            #expect(Self.findings(result.output) == expected, "\(name): \(result.output)")
            #expect(result.status == (expected.isEmpty ? 0 : 1) && result.error.isEmpty, "\(name): \(result.error)")
            #expect(result.output.contains("sound: ") == expected.isEmpty && result.output.contains("remedy: ") != expected.isEmpty, "\(name)")
        }
        let guessed = try ToolProcess.run("verify", CoreDataStores.golden("old-without-cache")).output
        #expect(guessed == """
            note: The model was guessed from the tables, so references were not checked; --model names the store's.
            sound: 10 pages, 7 trees, 3 rows, 4 index entries

            """)
    }

    // MARK: Hostile stores

    /// The findings of each hostile description, or the beginnings of them.
    private static let hostile: [String: [String]] = [
        "cache-bomb": ["Z_MODELCACHE, column Z_CONTENT: the compressed bytes hold more than 67108864 bytes"],
        "cache-cut": ["Z_MODELCACHE, column Z_CONTENT: the compressed bytes are cut off"],
        "cache-other": ["Z_MODELCACHE, column Z_CONTENT: holds an archived NSArray, not a model"],
        "cache-plain": ["Z_MODELCACHE, column Z_CONTENT: the compressed bytes refer 6428 bytes back"],
        "cache-text": ["Z_MODELCACHE, column Z_CONTENT: it is no data"],
        "column-missing": ["the store has no column ZAGE for Person.age"],
        "column-shared": ["the store has no column ZNAME for Person.name"],
        "dangling": [1, 2, 3, 4, 5, 6, 7, 8].flatMap { row in
            ["PET", "TEAM"].filter { ($0, row) != ("PET", 6) && !($0 == "TEAM" && row > 6) }.map { "ZPERSON, row \(row), column Z\($0): it " }
        } + [2, 3, 5].map { "ZPERSON, row \($0), column Z_FOK_TEAM: it has nothing where the place" },
        "entities-alike": [
            "Z_METADATA, column Z_PLIST: it has a version hash for Team", "Z_PRIMARYKEY, row 2, column Z_NAME: Person has the number 1 too",
        ],
        "entity-number": [
            "ZPERSON, row 2, column Z_ENT: it is 99,", "ZPERSON, row 3, column Z_ENT: it is nothing,", "ZPERSON, row 4, column Z_ENT: it is text,",
            "Z_PRIMARYKEY, row 1, column Z_MAX: it is 1, and ZPERSON has the row 4",
        ],
        "entity-unnumbered": ["the store has no entity Team, which the model has"],
        "external": (1...3).map { "ZPHOTO, row \($0), column ZIMAGE: it has data without the tag" }
            + (4...5).map { "ZPHOTO, row \($0), column ZIMAGE: it has text where data belongs" },
        "hashes": [
            "Z_METADATA, column Z_PLIST: it has a version hash for Persona",
            "Z_METADATA, column Z_PLIST: the version hash of Persona has another type",
        ],
        "history": [
            "ATRANSACTION, row 1, column ZTIMESTAMP: it has text where a time belongs",
            "ATRANSACTION, row 1, column ZAUTHORTS: it refers to row 99 of ATRANSACTIONSTRING",
            "ACHANGE, row 1, column ZCHANGETYPE: it is no kind of change", "ACHANGE, row 4, column ZENTITY: it is no entity's number",
            "ACHANGE, row 5, column ZTRANSACTIONID: there is no transaction 99",
        ],
        "join-doubled": [
            "Z_1TAGS, row 5, column Z_2TAGS: it has nothing where a key", "Z_1TAGS, row 6, column Z_1PEOPLE: it has nothing where a key",
            "Z_1TAGS, row 7, column Z_1PEOPLE: it has nothing where a key", "Z_1TAGS, row 7, column Z_2TAGS: it has nothing where a key",
            "Z_1TAGS, row 4: row 2 has the same pair, of 1 and 1", "Z_1TAGS, row 3: row 1 has the same pair, of 1 and 2",
        ] + [3, 5, 4].map { "Z_1TAGS, row \($0), column Z_FOK_2TAGS: row " },
        "metadata-none": ["the table Z_METADATA has no store identifier"],
        "order": [
            "ZPERSON, row 1, column Z_FOK_TEAM: it has nothing where the place", "ZPERSON, row 2, column Z_FOK_TEAM: it has text where the place",
            "ZPERSON, row 4, column Z_FOK_TEAM: row 3 has the same place in the list of row 1",
        ],
        "plist-broken": ["the column Z_PLIST of Z_METADATA is no property list"],
        "plist-null": ["Z_METADATA, column Z_PLIST: it has no framework version"],
        "super-cycle": [
            "Z_PRIMARYKEY, row 1, column Z_SUPER: Person inherits from itself", "Z_PRIMARYKEY, row 2, column Z_SUPER: Boss inherits from itself",
            "the store has no table ZBOSS",
        ],
        "super-other": ["Z_PRIMARYKEY, row 2, column Z_SUPER: 77 is no entity's number"],
        "table-missing": ["the store has no table ZTAG"], "table-view": ["the store has no table ZPERSON"],
        "table-without-rowid": ["the store has no table ZPERSON"],
        "text": [
            "ZPERSON, row 1, column ZNAME: it has text that is no UTF-8, from byte 1 on",
            "ZPERSON, row 3, column ZNAME: it has text that is no UTF-8, from byte 0 on",
        ],
        "types": [
            "ZTHING, row 1, column ZNUMBER: it has text where an integer", "ZTHING, row 2, column ZKEY: it has 3 bytes where the 16",
            "ZTHING, row 3, column ZDAY: it has text where a number", "ZTHING, row 4, column ZNUMBER: it has 40000, which is beyond an Integer 16",
            "ZTHING, row 5, column ZFLAG: it has 7, which is no Boolean", "ZTHING, row 6, column ZNAME: it has data where text",
            "ZTHING, row 7, column ZPHOTO: it has an integer where data", "ZTHING, row 8, column ZRATIO: it has data where a number",
            "ZTHING, row 9, column ZPRICE: it has text where a number",
        ],
        "uuid": ["Z_METADATA, column Z_UUID: \"5\" is no UUID"],
    ]

    /// Stores of features that have a fault which a reader has to bear.
    private static let faulty = [
        "dangling": 6, "external": 1,
        // One-to-one inverses that disagree.
        "to-one": 2,
    ]

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `Each fault of the hostile stores has its finding, and no other store has any`() throws {
        try CoreDataStores.withMade { folder in
            var seen = 0
            for name in try CoreDataStores.names(in: folder) {
                let result = try ToolProcess.run("verify", folder.appendingPathComponent("\(name).sqlite").path)
                let findings = Self.findings(result.output)
                guard name.hasPrefix("hostile-") else {
                    #expect(findings.count == Self.faulty[name] ?? 0, "\(name): \(result.output)\(result.error)")
                    continue
                }
                seen += 1
                guard name != "hostile-not-core-data" else {
                    #expect(result.status == 2 && result.error.contains("is no Core Data store"), "\(result.error)")
                    continue
                }
                let expected = try #require(Self.hostile[String(name.dropFirst("hostile-".count))], "\(name)")
                #expect(result.status == 1 && findings.count == expected.count, "\(name): \(result.output)\(result.error)")
                for (finding, start) in zip(findings, expected) { #expect(finding.hasPrefix(start), "\(name)") }
            }
            #expect(seen == 28)
        }
    }

    // MARK: Other faults

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `Values that are to be unique, keys and inverses are checked`() throws {
        func findings(_ golden: String, _ sql: String) throws -> [String] {
            var found: [String] = []
            try CoreDataStores.withFolder { folder in
                let store = folder.appendingPathComponent("App.sqlite").path
                try FileManager.default.copyItem(atPath: CoreDataStores.golden(golden), toPath: store)
                try CoreDataStores.execute(sql, at: store)
                found = Self.findings(try ToolProcess.run("verify", store).output)
            }
            return found
        }
        #expect(try findings("history", "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'").contains {
            $0.hasPrefix("Z_PRIMARYKEY, row 3, column Z_MAX: it is 1, and ZPERSON has the row 2")
        })
        #expect(try findings("many-to-many-reflexive", "UPDATE ZPERSON SET ZSPOUSE = 2 WHERE Z_PK = 1") == [
            "ZPERSON, row 1, column ZSPOUSE: it refers to row 2 of ZPERSON, whose ZSPOUSE has no key and does not refer back",
            "ZPERSON, row 3, column ZSPOUSE: it refers to row 1 of ZPERSON, whose ZSPOUSE has 2 and does not refer back",
        ])
        #expect(try findings("inheritance-duplicates", "UPDATE ZITEM SET Z_OPT = 0 WHERE Z_PK = 2") == [
            "ZITEM, row 2, column Z_OPT: it is no version of a row, which is 1 or more",
        ])
        #expect(try findings("swiftdata", "DROP INDEX Z_CartModel_UNIQUE_id; UPDATE ZCARTMODEL SET ZID = 'c1'") == [
            "ZCARTMODEL, row 2, column ZID: row 1 has the same id, which is to be unique",
        ])
    }

    @Test
    func `Damage of pages and of the log is found, with the exit code 1`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("App.sqlite")
            let main = try Data(contentsOf: URL(fileURLWithPath: CoreDataStores.golden("log-beside")))
            let log = try Data(contentsOf: URL(fileURLWithPath: CoreDataStores.golden("log-beside") + "-wal"))
            var damaged = log
            damaged[damaged.count - 3] ^= 1
            try main.write(to: store)
            try damaged.write(to: URL(fileURLWithPath: store.path + "-wal"))
            let torn = try ToolProcess.run("verify", store.path)
            #expect(torn.status == 1, "\(torn.error)")
            #expect(torn.output.contains("corrupt: the checksum of frame 3 of the write-ahead log does not hold"), "\(torn.output)")
            #expect(try ToolProcess.run("inspect", store.path).output.contains("the checksum of frame 3 does not hold"))
            try log.write(to: URL(fileURLWithPath: store.path + "-wal"))
            for page in [6, 7, 8] {
                var bytes = main
                bytes[(page - 1) * 512] = 77
                try bytes.write(to: store)
                let result = try ToolProcess.run("verify", store.path)
                #expect(result.status == 1, "\(page): \(result.error)")
                let findings = Self.findings(result.output).filter { !$0.contains("with its value is not there") }
                #expect(findings.count == 1 && findings[0].contains("its kind is 77 (page \(page), byte 0)"), "\(page): \(result.output)")
            }
        }
    }

    @Test(.enabled(if: CoreDataStores.hasShared, CoreDataStores.sharedAbsence))
    func `Real stores are sound, and an inspection counts their objects`() throws {
        var count = 0
        for folder in try FileManager.default.contentsOfDirectory(atPath: CoreDataStores.shared.path).sorted() {
            let place = CoreDataStores.shared.appendingPathComponent(folder)
            guard FileManager.default.fileExists(atPath: place.appendingPathComponent("EXPECTED.jsonl").path) else { continue }
            let lines = try CoreDataStores.lines("EXPECTED", in: place)
            let store = place.appendingPathComponent(try #require(lines[0]["store"] as? String)).path
            let verified = try ToolProcess.run("verify", store)
            #expect(verified.status == 0 && verified.output.contains("sound: "), "\(folder): \(verified.output)\(verified.error)")
            let inspected = try ToolProcess.run("inspect", store, "--json")
            let report = try #require(try JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any])
            let entities = try #require(report["entities"] as? [[String: Any]])
            let objects = entities.reduce(0) { $0 + ($1["objects"] as? Int ?? 0) }
            #expect(inspected.status == 0 && objects == lines.count - 1, "\(folder): \(inspected.error)")
            try checkSpace(report, folder)
            count += 1
        }
        #expect(count == 18)
    }

    /// Each page has one use, so the bytes add up.
    private func checkSpace(_ report: [String: Any], _ name: String) throws {
        let database = try #require(report["database"] as? [String: Any])
        func number(_ key: String) -> Int { database[key] as? Int ?? 0 }
        let trees = (report["tables"] as? [[String: Any]] ?? []).reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) + ($1["indexBytes"] as? Int ?? 0) }
        let pages = number("pages") - number("freePages") - number("pointerMapPages") - number("unusedPages")
        #expect(trees == pages * number("pageSize") && number("unusedPages") == 0, "\(name)")
    }
}
