import CSQLite
import Foundation
import GRDB
import Heartwood
import RecordLog

/// A store of notes that can be searched.
protocol SearchPeer: AnyObject {
    static var name: String { get }

    init(path: String, notes: NoteGenerator) throws
    func bulkInsert() throws
    /// The bytes of the text index, after compaction.
    func indexBytes() throws -> UInt64?
    /// The number of notes whose text contains a pattern, without case and diacritics. Reads the name of each.
    func containing(_ pattern: String) throws -> Checksum?
    /// The first notes of those, by name.
    func firstByName(_ pattern: String, _ limit: Int) throws -> Checksum?
    /// The first notes with a word that begins so.
    func typed(_ prefix: String, _ limit: Int) throws -> Checksum?
    /// The most relevant notes with all words; gives the number of notes read.
    func ranked(_ words: String, _ limit: Int) throws -> Int?
    /// The number of notes with all words.
    func count(_ words: String) throws -> Int?
    func close() throws
}

final class HeartwoodSearch: SearchPeer {
    static let name = "Heartwood"

    private let path: String
    private let notes: NoteGenerator
    private let context: NSManagedObjectContext

    init(path: String, notes: NoteGenerator) throws {
        self.path = path
        self.notes = notes
        context = try HeartwoodPeer.context(at: URL(fileURLWithPath: path), Self.model())
    }

    static func model() -> NSManagedObjectModel {
        func attribute(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            return attribute
        }
        let note = NSEntityDescription(), name = attribute("name"), text = attribute("text")
        note.name = "Note"
        note.properties = [name, text]
        note.indexes = [
            NSFetchIndexDescription(name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)]),
            NSFetchIndexDescription(name: "byText", elements: [NSFetchIndexElementDescription(property: text, collationType: .text)]),
        ]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    func bulkInsert() throws {
        for number in 0..<notes.count {
            let note = notes.note(number)
            let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            object.setValue(note.name, forKey: "name")
            object.setValue(note.text, forKey: "text")
            if (number + 1) % 10_000 == 0 { try context.save() }
        }
        try context.save()
        context.reset()
    }

    func indexBytes() throws -> UInt64? {
        guard let store = context.persistentStoreCoordinator?.persistentStores.first else { return nil }
        _ = try store.compactRecordLog()
        return try StoreInspection.inspect(path: path).indexes.first { $0.name == "index:byText" }?.bytes
    }

    private func names(_ request: NSFetchRequest<NSManagedObject>) throws -> Checksum {
        defer { context.reset() }
        var sum = Checksum()
        for note in try context.fetch(request) { sum.add(note.value(forKey: "name") as? String ?? "") }
        return sum
    }

    private func request(_ format: String?, _ argument: String = "") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = format.map { NSPredicate(format: $0, argument) }
        return request
    }

    func containing(_ pattern: String) throws -> Checksum? { try names(request("text CONTAINS[cd] %@", pattern)) }

    func firstByName(_ pattern: String, _ limit: Int) throws -> Checksum? {
        let request = request("text CONTAINS[cd] %@", pattern)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = limit
        return try names(request)
    }

    func typed(_ prefix: String, _ limit: Int) throws -> Checksum? {
        let request = request(nil)
        request.textSearch = TextSearch(prefix, in: ["text"], matchesLastWordAsPrefix: true)
        request.fetchLimit = limit
        return try names(request)
    }

    func ranked(_ words: String, _ limit: Int) throws -> Int? {
        defer { context.reset() }
        let request = request(nil)
        request.textSearch = TextSearch(words, in: ["text"])
        request.fetchLimit = limit
        return try context.fetch(request).reduce(0) { count, note in count + ((note.value(forKey: "name") as? String) == nil ? 0 : 1) }
    }

    func count(_ words: String) throws -> Int? {
        let request = request(nil)
        request.textSearch = TextSearch(words, in: ["text"])
        return try context.count(for: request)
    }

    func close() throws {
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] { try context.persistentStoreCoordinator?.remove(store) }
    }
}

/// SQLite's C API without an index of the text: LIKE.
class LikeSearch: SearchPeer {
    class var name: String { "SQLite LIKE" }

    /// Statements that define the text index, and those that fill it for one note.
    class var definitions: String { "" }
    class var tables: [String] { [] }

    let connection = SQLiteConnection()
    private let notes: NoteGenerator

    required init(path: String, notes: NoteGenerator) throws {
        self.notes = notes
        try connection.open(path)
        try connection.execute(SQLitePeer.pragmas())
    }

    func bulkInsert() throws {
        try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, name TEXT, text TEXT); CREATE INDEX by_name ON note (name); " + Self.definitions)
        try connection.execute("BEGIN")
        for number in 0..<notes.count {
            let note = notes.note(number)
            let insert = try connection.prepare("INSERT INTO note VALUES (?, ?, ?)")
            sqlite3_bind_int64(insert, 1, Int64(number + 1))
            sqlite3_bind_text(insert, 2, note.name, -1, SQLiteConnection.transient)
            sqlite3_bind_text(insert, 3, note.text, -1, SQLiteConnection.transient)
            _ = try connection.step(insert)
            for table in Self.tables {
                let fill = try connection.prepare("INSERT INTO \(table) (rowid, text) VALUES (?, ?)")
                sqlite3_bind_int64(fill, 1, Int64(number + 1))
                sqlite3_bind_text(fill, 2, note.text, -1, SQLiteConnection.transient)
                _ = try connection.step(fill)
            }
            if (number + 1) % 10_000 == 0 { try connection.execute("COMMIT; BEGIN") }
        }
        try connection.execute("COMMIT")
    }

    func indexBytes() throws -> UInt64? { nil }

    func names(_ sql: String, _ values: [String], _ limit: Int? = nil) throws -> Checksum {
        var sum = Checksum()
        _ = try connection.reading {
            let statement = try connection.prepare(sql)
            for (index, value) in values.enumerated() { sqlite3_bind_text(statement, Int32(index + 1), value, -1, SQLiteConnection.transient) }
            if let limit { sqlite3_bind_int64(statement, Int32(values.count + 1), Int64(limit)) }
            while try connection.step(statement) { sum.add(connection.text(statement, 0)) }
            sqlite3_reset(statement)
            return 0
        }
        return sum
    }

    func containing(_ pattern: String) throws -> Checksum? { try names("SELECT name FROM note WHERE text LIKE ?", ["%\(pattern)%"]) }

    func firstByName(_ pattern: String, _ limit: Int) throws -> Checksum? {
        try names("SELECT name FROM note WHERE text LIKE ? ORDER BY name LIMIT ?", ["%\(pattern)%"], limit)
    }

    func typed(_ prefix: String, _ limit: Int) throws -> Checksum? {
        try names("SELECT name FROM note WHERE text LIKE ? OR text LIKE ? LIMIT ?", ["\(prefix)%", "% \(prefix)%"], limit)
    }

    func ranked(_ words: String, _ limit: Int) throws -> Int? { nil }
    func count(_ words: String) throws -> Int? { nil }
    func close() throws { connection.close() }
}

/// SQLite's C API with FTS5: the trigram tokenizer for parts of texts, unicode61 for words. Both tables have no copy of the text.
final class FTSSearch: LikeSearch {
    override class var name: String { "SQLite FTS5" }
    override class var definitions: String { trigrams + words }
    override class var tables: [String] { ["parts", "words"] }

    static let trigrams = "CREATE VIRTUAL TABLE parts USING fts5(text, content='note', content_rowid='id', tokenize='trigram');"
    static let words = "CREATE VIRTUAL TABLE words USING fts5(text, content='note', content_rowid='id', tokenize='unicode61');"

    override func indexBytes() throws -> UInt64? {
        try connection.execute("INSERT INTO parts (parts) VALUES ('optimize'); INSERT INTO words (words) VALUES ('optimize')")
        var bytes: UInt64 = 0
        let statement = try connection.prepare("SELECT (SELECT sum(length(block)) FROM parts_data) + (SELECT sum(length(sz)) + 4 * count(*) FROM parts_docsize)")
        if try connection.step(statement) { bytes = UInt64(sqlite3_column_int64(statement, 0)) }
        sqlite3_reset(statement)
        return bytes
    }

    override func containing(_ pattern: String) throws -> Checksum? {
        try names("SELECT name FROM note WHERE id IN (SELECT rowid FROM parts WHERE parts MATCH ?) ORDER BY id", ["\"\(pattern)\""])
    }

    override func firstByName(_ pattern: String, _ limit: Int) throws -> Checksum? {
        try names("SELECT name FROM note WHERE id IN (SELECT rowid FROM parts WHERE parts MATCH ?) ORDER BY name LIMIT ?", ["\"\(pattern)\""], limit)
    }

    override func typed(_ prefix: String, _ limit: Int) throws -> Checksum? {
        try names("SELECT name FROM words JOIN note ON id = words.rowid WHERE words MATCH ? LIMIT ?", ["\"\(prefix)\"*"], limit)
    }

    override func ranked(_ words: String, _ limit: Int) throws -> Int? {
        var count = 0
        _ = try connection.reading {
            let statement = try connection.prepare("SELECT name FROM words JOIN note ON id = words.rowid WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?")
            sqlite3_bind_text(statement, 1, words, -1, SQLiteConnection.transient)
            sqlite3_bind_int64(statement, 2, Int64(limit))
            while try connection.step(statement) { count += connection.text(statement, 0).isEmpty ? 0 : 1 }
            sqlite3_reset(statement)
            return 0
        }
        return count
    }

    override func count(_ words: String) throws -> Int? {
        let statement = try connection.prepare("SELECT count(*) FROM words WHERE words MATCH ?")
        sqlite3_bind_text(statement, 1, words, -1, SQLiteConnection.transient)
        defer { sqlite3_reset(statement) }
        return try connection.step(statement) ? Int(sqlite3_column_int64(statement, 0)) : nil
    }
}

/// SQLite's C API with the trigram tokenizer alone, to compare loading with one index.
final class TrigramLoad: LikeSearch {
    override class var name: String { "SQLite FTS5" }
    override class var definitions: String { FTSSearch.trigrams }
    override class var tables: [String] { ["parts"] }
}

/// GRDB over the file of `FTSSearch`.
final class GRDBSearch {
    static let name = "GRDB FTS5"

    private struct Note: FetchableRecord, Decodable {
        var id: Int64
        var name: String
        var text: String
    }

    private let queue: DatabaseQueue

    init(path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -262144; PRAGMA mmap_size = 1073741824") }
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    func ranked(_ words: String, _ limit: Int) throws -> Int {
        try queue.read { database in
            try Note.fetchAll(
                database, sql: "SELECT note.* FROM words JOIN note ON id = words.rowid WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?",
                arguments: [FTS5Pattern(matchingAllTokensIn: words), limit]
            ).count
        }
    }
}
