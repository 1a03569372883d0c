import Foundation
import Testing

/// `heartwood inspect` on stores of Core Data's.
@Suite struct CoreDataInspectTests {
    private static func inspected(_ golden: String) throws -> String {
        let store = CoreDataStores.golden(golden), result = try ToolProcess.run("inspect", store)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        return result.output.replacing(store, with: "STORE")
    }

    @Test
    func `Versions, the model, space and entities of a hierarchy are shown`() throws {
        #expect(try Self.inspected("inheritance-duplicates") == """
            store       STORE
            identity    56083499-3FE8-57D9-B0C1-5B6A21903FBF
            kind        Core Data store (SQLite), framework version 1522
            database    written by SQLite 3.40.1, UTF-8, auto-vacuum incremental
            file        16.0 KiB; 8 pages of 2.0 KiB, 1 with pointers
            log         none; SQLite keeps one while an app has the file open. If the file was copied then, its newest commits are in
                        inheritance-duplicates.sqlite-wal, which must be copied together with it
            model       from the store's model cache, version 1
            structure   sound
            history     none
            conversion  5 objects of 6 entities; `heartwood convert --dry-run` reads each of them

            ENTITY                                             OBJECTS         BYTES       INDEXES
            Item (abstract)                                          0       2.0 KiB       2.0 KiB
              Book                                                   1             -             -
                Story                                                1             -             -
              Film                                                   1             -             -
                Short                                                1             -             -
              Song                                                   1             -             -

            OTHER TABLE                                           ROWS         BYTES       INDEXES
            Z_METADATA                                               1       2.0 KiB           0 B
            Z_MODELCACHE                                             1       4.0 KiB           0 B
            Z_PRIMARYKEY                                             6       2.0 KiB           0 B
            sqlite_schema                                            5       2.0 KiB           0 B

            INDEX                                              ENTRIES         BYTES
            ZITEM ZITEM_Z_ENT_INDEX                                  5       2.0 KiB

            """)
    }

    @Test
    func `The write-ahead log and values in files of their own are shown`() throws {
        #expect(try Self.inspected("log-beside") == """
            store       STORE
            identity    4418A235-7B57-55F0-91D7-AF471A69996C
            kind        Core Data store (SQLite), framework version 1522
            database    written by SQLite 3.40.1, UTF-8, auto-vacuum incremental
            file        6.5 KiB; 13 pages of 512 B, 1 with pointers
            log         1.6 KiB: 1 commit in 3 frames, 3 pages; the file does not have all of them yet; salts 7340ee44 dd1f8d74
            model       from the store's model cache, version 1
            structure   sound
            history     none
            external    1 value in files of 1 B, 1 value of 1 B in the database
            conversion  4 objects of 2 entities; `heartwood convert --dry-run` reads each of them

            ENTITY                                             OBJECTS         BYTES       INDEXES
            Person                                                   2         512 B         512 B
            Team                                                     2         512 B           0 B

            OTHER TABLE                                           ROWS         BYTES       INDEXES
            Z_METADATA                                               1       1.0 KiB           0 B
            Z_MODELCACHE                                             1       1.5 KiB           0 B
            Z_PRIMARYKEY                                             2         512 B           0 B
            sqlite_schema                                            6       1.5 KiB           0 B

            INDEX                                              ENTRIES         BYTES
            ZPERSON ZPERSON_ZTEAM_INDEX                              2         512 B

            """)
    }

    @Test
    func `Losses of a conversion, guesses and missing files are named`() throws {
        let history = try Self.inspected("history")
        #expect(history.contains("\nhistory     ") && history.contains("from number 1 of 2023-03-08T20:26:40Z to number "), "\(history)")
        #expect(history.contains("lost: the history, without --with-history"))
        let external = try Self.inspected("external")
        #expect(external.contains("1 file is missing in ") && external.contains("lost: the values of 1 missing file"), "\(external)")
        let guessed = try Self.inspected("old-without-cache")
        #expect(guessed.contains("model       from the store's tables, version 1\n            STORE: has no model cache"), "\(guessed)")
        #expect(guessed.contains("guessed: Person has all attributes of its subentities."))
        #expect(try Self.inspected("dangling").contains("structure   sound"), "dangling references are no fault of the structure")
    }

    @Test
    func `The form for programs has the same numbers`() throws {
        let result = try ToolProcess.run("inspect", CoreDataStores.golden("log-beside"), "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let log = try #require(report["log"] as? [String: Any]), database = try #require(report["database"] as? [String: Any])
        #expect(log["frames"] as? Int == 3 && log["commits"] as? Int == 1 && (log["salts"] as? [Int])?.count == 2)
        #expect(database["pages"] as? Int == 13 && database["faults"] as? Int == 0)
        #expect((report["entities"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["Person", "Team"])
        #expect(report["frameworkVersion"] as? Int == 1522 && report["history"] is NSNull)
        #expect((report["model"] as? [String: Any])?["origin"] as? String == "the store's model cache")
    }
}
