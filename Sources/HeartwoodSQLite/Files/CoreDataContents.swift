import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The statements of a file of Core Data's about itself: metadata, entity numbers and, compressed, its model.
struct CoreDataContents {
    let identifier: String
    /// The property list in `Z_METADATA`, with the identifier and the type, which may lie outside of it.
    var metadata: [String: Any] { list.values }
    private let list: CoreDataMetadata
    let numbers: EntityNumbers
    let schema: CoreDataSchema
    /// `Z_MODELCACHE.Z_CONTENT`; nil if the store has none.
    let cache: [UInt8]?

    /// Whether the header says that a write-ahead log is used, none is beside the file, and the file has never had an object. Then the log has all of
    /// them, or there are none.
    let mayLackLog: Bool

    /// Whether the file keeps a model. It may be one that cannot be read.
    var hasModel: Bool { cache != nil || metadata[CoreDataFileMetadata.modelKey] != nil }

    /// Core Data's hashes, by entity.
    var hashes: [String: Data] { (metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? Data } }

    /// The metadata as programs get them. If the file tells its model, they have Heartwood's hashes of it, by which any model can be compared.
    func shownMetadata(path: String) -> [String: Any] {
        var shown = metadata
        shown[CoreDataFileMetadata.modelKey] = nil
        shown[NSManagedObjectModel.comparableHashesKey] = ownModel(path: path)?.entityVersionHashesByName
        return shown
    }

    /// The model in the cache, or the one that Heartwood wrote, if the tables are still those of it; nil if the file has neither.
    func ownModel(path: String) -> NSManagedObjectModel? {
        if let cache, let model = try? ModelCache.model(from: cache, path: path, hashes: hashes) { return model }
        return writtenModel(path: path)
    }

    /// The model that Heartwood wrote into a file without a cache.
    func writtenModel(path: String) -> NSManagedObjectModel? {
        guard let bytes = metadata[CoreDataFileMetadata.modelKey] as? Data,
            let model = try? bytes.withUnsafeBytes(NSManagedObjectModel.unarchive),
            let layout = try? CoreDataLayout(CoreDataStoreModel.entities(of: model, in: self), numbers, schema, path: path),
            layout.differences.isEmpty
        else { return nil }
        return model
    }

    /// The type that the metadata state.
    static let storeType = "SQLite"

    /// - Throws: 134020 for a database of another program, 259 where Core Data's tables are damaged.
    init(_ file: SQLiteFile) throws {
        let path = file.path
        if let missing = ["Z_METADATA", "Z_PRIMARYKEY"].first(where: { file.schema.entry(.table, named: $0) == nil }) {
            let lacksLog = file.header.usesWriteAheadLog && file.logFacts == nil
            throw CoreDataFileError.foreign(path, lacks: missing, tables: file.schema.tables.map(\.name), lacksLog: lacksLog)
        }
        list = try CoreDataMetadata(file)
        identifier = list.identifier
        numbers = try EntityNumbers(file)
        schema = try CoreDataSchema(file)
        cache = try Self.cache(file)
        mayLackLog = file.header.usesWriteAheadLog && file.logFacts == nil && numbers.entries.allSatisfy { $0.keyMax == 0 }
    }

    /// Opens a file whose log, if it has one, is its own.
    static func open(_ path: String) throws -> (file: SQLiteFile, contents: CoreDataContents) {
        let file = try SQLiteFile.open(path: path)
        let contents = try file.read { try CoreDataContents(file) }
        try contents.checkLog(of: file)
        return (file, contents)
    }

    private static let attemptsMax = 10

    /// Opens a file, and calls `body` in one state of it, again if the owner changes the file meanwhile.
    static func read<Result>(_ path: String, _ body: (SQLiteFile, CoreDataContents) throws -> Result) throws -> Result {
        var attempt = 1
        while true {
            do {
                let (file, contents) = try open(path)
                return try file.read { try body(file, contents) }
            } catch let error as SQLiteFileError where error.code == .changed && attempt < attemptsMax {
                attempt += 1
            }
        }
    }

    /// Nothing in SQLite's format ties a log to its file, so a log that was left beside another store's file would mix the two. A log that has
    /// every page replaces the whole store, as Core Data does in place.
    private func checkLog(of file: SQLiteFile) throws {
        guard let log = file.logFacts, log.commits > 0, log.pages < file.pageCount,
            let main = try? SQLiteFile.openWithoutLog(path: file.path),
            let own = try? main.read({ try CoreDataMetadata(main).identifier }), own != identifier
        else { return }
        throw CoreDataFileError.damaged(
            file.path, "the file is the store \(own), but the write-ahead log beside it belongs to the store \(identifier)",
            remedy: CoreDataMetadata.copyAdvice)
    }

    private static func cache(_ file: SQLiteFile) throws -> [UInt8]? {
        guard file.schema.entry(.table, named: "Z_MODELCACHE") != nil else { return nil }
        let table = try file.table(named: "Z_MODELCACHE")
        guard let column = table.index(ofColumn: "Z_CONTENT") else { return nil }
        var cache: [UInt8]?
        try table.forEachRow { row in
            cache = try row.blob(column).map(Array.init)
            return false
        }
        return cache.flatMap { $0.isEmpty ? nil : $0 }
    }
}
