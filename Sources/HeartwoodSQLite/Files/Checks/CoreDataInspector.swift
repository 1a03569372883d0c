import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Gathers the facts that an inspection shows, in one state of the file.
struct CoreDataInspector {
    private let store: ExaminedStore
    private var file: SQLiteFile { store.file }
    private var faults = 0
    private var structure = StructureReport()
    private var strays: [String: Int] = [:]
    private var counts: [Int64: Int] = [:]

    init(_ store: ExaminedStore) { self.store = store }

    mutating func inspect() throws -> CoreDataInspection {
        let counter = FaultCounter()
        structure = try file.checkStructure { _ in counter.count += 1 }
        faults = counter.count
        var external = ExternalCount(store)
        try countObjects()
        let contents = store.contents, schema = file.schema
        return CoreDataInspection(
            path: file.path, identifier: contents.identifier, storeType: contents.metadata[NSStoreTypeKey] as? String ?? CoreDataContents.storeType,
            frameworkVersion: (contents.metadata[CoreDataFileMetadata.frameworkVersionKey] as? NSNumber)?.intValue,
            modelOrigin: store.found.origin.description, modelIdentifiers: identifiers(contents.metadata),
            guessReason: store.found.guessReason, guesses: store.found.guesses, doubts: store.found.doubts,
            warnings: store.found.model.warnings.map { "\($0.element): \($0.text)" }, misfit: store.misfit,
            differences: store.layout?.differences ?? [], database: try database(), log: try log(), entities: entities(), tables: tables(),
            indexes: indexes(), strays: strays, history: try history(), external: try external.counted(),
            views: schema.entries.count { $0.kind == .view }, triggers: schema.entries.count { $0.kind == .trigger },
            virtualTables: schema.entries.filter { $0.kind == .virtualTable }.map(\.name))
    }

    private final class FaultCounter { var count = 0 }

    private func identifiers(_ metadata: [String: Any]) -> [String] {
        (metadata["NSStoreModelVersionIdentifiers"] as? [Any] ?? []).compactMap { $0 as? String }.filter { !$0.isEmpty }.sorted()
    }

    // MARK: Database

    private func database() throws -> CoreDataInspection.Database {
        let header = file.header
        let encoding = switch header.encoding {
        case .utf8: "UTF-8"
        case .utf16LittleEndian: "UTF-16, little-endian"
        case .utf16BigEndian: "UTF-16, big-endian"
        }
        let autoVacuum = switch header.autoVacuum {
        case .none: "none"
        case .full: "full"
        case .incremental: "incremental"
        }
        return CoreDataInspection.Database(
            fileBytes: CoreDataFile.size(of: file.path), pages: file.pageCount, pageSize: header.pageSize, freePages: structure.freePages,
            pointerMapPages: structure.pointerMapPages, unusedPages: structure.unusedPages, sqliteVersion: header.sqliteVersion, encoding: encoding,
            autoVacuum: autoVacuum, faults: faults, isRolledBack: file.isRolledBack, usesLog: header.usesWriteAheadLog)
    }

    private func log() throws -> CoreDataInspection.Log? {
        guard let found = try file.logFile() else { return nil }
        let facts = file.logFacts
        return CoreDataInspection.Log(
            bytes: found.bytes, isValid: found.isValid, salts: found.salts, frames: facts?.frames ?? 0, commits: facts?.commits ?? 0,
            pages: facts?.pages ?? 0, openFrames: facts?.openFrames ?? 0, ignoredFrames: found.ignoredFrames, wrongFrame: found.wrongFrame,
            isCheckpointed: try file.isCheckpointed())
    }

    // MARK: Objects

    private mutating func countObjects() throws {
        for (name, entities) in store.tables {
            let table = try file.table(named: name)
            guard let column = table.index(ofColumn: "Z_ENT") else { continue }
            let known = Set(entities.map(\.number))
            var counts: [Int64: Int] = [:], strays = 0
            try table.forEachRow { row in
                if let number = try row.integer(column), known.contains(number) { counts[number, default: 0] += 1 } else { strays += 1 }
                return true
            }
            self.counts.merge(counts) { $0 + $1 }
            if strays > 0 { self.strays[name] = strays }
        }
    }

    private func entities() -> [CoreDataInspection.Entity] {
        (store.layout?.entities.values.map { $0 } ?? []).sorted { $0.number < $1.number }.map { entity in
            CoreDataInspection.Entity(
                name: entity.entity.name ?? "", parent: entity.entity.superentity?.name, isAbstract: entity.entity.isAbstract,
                number: entity.number, table: entity.table, objects: counts[entity.number] ?? 0)
        }
    }

    // MARK: Space

    private func bytes(_ tree: StructureReport.Tree) -> UInt64 { UInt64(tree.pages + tree.overflowPages) * UInt64(file.header.pageSize) }

    private func tables() -> [CoreDataInspection.Table] {
        let indexes = Dictionary(grouping: structure.trees.filter(\.isIndex), by: \.tableName)
        return structure.trees.filter { !$0.isIndex }.map { tree in
            CoreDataInspection.Table(
                name: tree.name, kind: kind(of: tree.name), rows: tree.entries, bytes: bytes(tree),
                indexBytes: (indexes[tree.name] ?? []).reduce(0) { $0 + bytes($1) })
        }
    }

    private func kind(of table: String) -> CoreDataInspection.Table.Kind {
        if store.layout?.entities.values.contains(where: { $0.table == table }) ?? false { return .entity }
        if joins.contains(table) { return .join }
        if ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(table) { return .history }
        let own = ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", StructureReport.schemaTable]
        return own.contains(table) || table.hasPrefix("sqlite_") ? .bookkeeping : .other
    }

    private var joins: Set<String> {
        let places = store.layout?.entities.values.flatMap(\.places) ?? []
        return Set(places.compactMap { place in if case .join(let names)? = place { names.table } else { nil } })
    }

    private func indexes() -> [CoreDataInspection.Index] {
        structure.trees.filter(\.isIndex).map {
            CoreDataInspection.Index(name: $0.name, table: $0.tableName, entries: $0.entries, bytes: bytes($0))
        }
    }

    // MARK: History

    private func history() throws -> CoreDataInspection.History? {
        guard ["ATRANSACTION", "ACHANGE"].allSatisfy({ file.schema.entry(.table, named: $0) != nil }) else { return nil }
        let transactions = try file.table(named: "ATRANSACTION"), changes = try file.table(named: "ACHANGE")
        let time = transactions.index(ofColumn: "ZTIMESTAMP")
        var cursor = try transactions.rows()
        func end(_ row: borrowing SQLiteRow) throws -> (number: Int64, date: Date?) {
            (row.rowid, try time.flatMap { try row.real($0) }.map(Date.init(timeIntervalSinceReferenceDate:)))
        }
        let oldest = try cursor.next() ? try end(cursor.row) : nil
        let newest = try cursor.last() ? try end(cursor.row) : nil
        return CoreDataInspection.History(
            transactions: try transactions.rowCount(), changes: try changes.rowCount(), oldest: oldest, newest: newest)
    }
}
