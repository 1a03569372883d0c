import CSQLite
import Foundation

/// Persons and groups in a file of Core Data's layout, made by the system's SQLite. The model is `HeartwoodPeer.model`.
enum CoreDataFile {
    private static let schema = """
        PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE ZGRP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR);
        CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZGROUP INTEGER, ZBIRTHDAY FLOAT,
            ZSCORE FLOAT, ZEMAIL VARCHAR, ZNAME VARCHAR, ZNOTE VARCHAR);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        """
    private static let indexes = """
        CREATE INDEX ZPERSON_ZGROUP_INDEX ON ZPERSON (ZGROUP);
        CREATE INDEX Z_Person_byBirthday ON ZPERSON (ZBIRTHDAY COLLATE BINARY ASC);
        CREATE UNIQUE INDEX Z_Person_UNIQUE_email ON ZPERSON (ZEMAIL COLLATE BINARY ASC);
        """

    static func make(at path: String, _ generator: PersonGenerator) throws {
        PeerFiles.remove(path)
        let connection = SQLiteConnection()
        try connection.open(path)
        defer { connection.close() }
        try connection.execute(schema)
        try connection.execute("BEGIN")
        let groups = try connection.prepare("INSERT INTO ZGRP VALUES (?, 1, 1, ?)")
        for number in 0..<generator.groupCount {
            sqlite3_reset(groups)
            sqlite3_bind_int64(groups, 1, Int64(number + 1))
            sqlite3_bind_text(groups, 2, "group \(number)", -1, SQLiteConnection.transient)
            _ = try connection.step(groups)
        }
        for number in 0..<generator.count { try insert(generator.person(number), connection) }
        try connection.execute(indexes)
        try connection.execute("INSERT INTO Z_PRIMARYKEY VALUES (1, 'Grp', 0, \(generator.groupCount)), (2, 'Person', 0, \(generator.count))")
        try metadata(connection)
        try connection.execute("COMMIT")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func insert(_ person: PersonData, _ connection: SQLiteConnection) throws {
        let insert = try connection.prepare("INSERT INTO ZPERSON VALUES (?, 2, 1, ?, ?, ?, ?, ?, ?, ?)")
        sqlite3_reset(insert)
        sqlite3_bind_int64(insert, 1, Int64(person.number + 1))
        sqlite3_bind_int64(insert, 2, Int64(person.age))
        sqlite3_bind_int64(insert, 3, Int64(person.group + 1))
        sqlite3_bind_double(insert, 4, person.birthday)
        sqlite3_bind_double(insert, 5, person.score)
        for (column, text) in [(Int32(6), person.email), (7, person.name), (8, person.note)] {
            sqlite3_bind_text(insert, column, text, -1, SQLiteConnection.transient)
        }
        _ = try connection.step(insert)
    }

    private static func metadata(_ connection: SQLiteConnection) throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["NSStoreType": "SQLite"], format: .binary, options: 0)
        let insert = try connection.prepare("INSERT INTO Z_METADATA VALUES (1, '6F1C4E1A-55A7-4B0D-9C59-0D5B7F0E0001', ?)")
        _ = list.withUnsafeBytes { sqlite3_bind_blob(insert, 1, $0.baseAddress, Int32($0.count), SQLiteConnection.transient) }
        _ = try connection.step(insert)
    }
}
