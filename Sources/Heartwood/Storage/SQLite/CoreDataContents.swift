import Foundation
internal import SQLiteFile

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

    /// Core Data's hashes, by entity.
    var hashes: [String: Data] { (metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? Data } }

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
    }

    /// Opens a file whose log, if it has one, is its own.
    static func open(_ path: String) throws -> (file: SQLiteFile, contents: CoreDataContents) {
        let file = try SQLiteFile.open(path: path)
        let contents = try file.read { try CoreDataContents(file) }
        try contents.checkLog(of: file)
        return (file, contents)
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
