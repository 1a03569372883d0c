import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Checks Core Data's own tables, then the rows of entities, join tables and history, each against the others.
struct ContentsAudit {
    private let run: AuditRun
    private let store: ExaminedStore
    /// The trees without a fault. Others are not read again.
    private let sound: Set<String>
    private var file: SQLiteFile { store.file }
    private var contents: CoreDataContents { store.contents }
    private var numbers: EntityNumbers { contents.numbers }

    init(_ run: AuditRun, _ store: ExaminedStore, _ sound: Set<String>) {
        (self.run, self.store, self.sound) = (run, store, sound)
    }

    func check() throws {
        checkMetadata()
        checkCache()
        checkEntityNumbers()
        if let misfit = store.misfit {
            let prefix = file.path + ": "
            run.found(nil, misfit.hasPrefix(prefix) ? String(misfit.dropFirst(prefix.count)) : misfit)
            return run.note("The objects were not checked, since the tables do not fit the model.")
        }
        if store.found.origin == .schema {
            run.note("The model was guessed from the tables, so references were not checked; --model names the store's.")
        }
        for (name, entities) in store.tables { try guarded(name) { try checkTable(name, entities) } }
        try JoinAudit(run, store).check { table, body in try guarded(table, body) }
        try guarded("ACHANGE") { try HistoryAudit(run, file, numbers).check() }
    }

    /// Runs a check of a table that is sound. An error of the file in it is a finding.
    private func guarded(_ table: String, _ body: () throws -> Void) throws {
        guard file.schema.entry(.table, named: table) != nil, sound.contains(table) else { return }
        do {
            try body()
        } catch let error as SQLiteFileError where [.corrupt, .truncated, .unsupported].contains(error.code) {
            run.found(table, AuditRun.text(error.page, error.offset.map { Int(clamping: $0) }, error.message))
        }
    }

    // MARK: Metadata

    private static let hashSize = 32

    private func checkMetadata() {
        if UUID(uuidString: contents.identifier) == nil {
            run.found("Z_METADATA", column: "Z_UUID", "\"\(contents.identifier)\" is no UUID")
        }
        guard contents.metadata[CoreDataFileMetadata.frameworkVersionKey] != nil || !contents.hashes.isEmpty else {
            return run.found("Z_METADATA", column: "Z_PLIST", "it has no framework version and no version hashes")
        }
        let names = Set(store.found.model.entities.compactMap(\.name)).union(numbers.entries.map(\.name))
        let stated = contents.metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
        for (name, hash) in stated.sorted(by: { $0.key < $1.key }) {
            func found(_ message: String) { run.found("Z_METADATA", column: "Z_PLIST", message) }
            if !names.contains(name) { found("it has a version hash for \(name), which is no entity of the store") }
            let size = (hash as? Data)?.count, shown = size.map { "\($0) bytes" } ?? "another type"
            if size != Self.hashSize { found("the version hash of \(name) has \(shown), not \(Self.hashSize) bytes") }
        }
    }

    private func checkCache() {
        guard let table = try? file.table(named: "Z_MODELCACHE"), let column = table.index(ofColumn: "Z_CONTENT") else { return }
        var isText = false
        try? table.forEachRow { row in
            isText = try ![.blob, .null].contains(row.kind(column))
            return false
        }
        if isText { return run.found("Z_MODELCACHE", column: "Z_CONTENT", "it is no data") }
        guard let cache = contents.cache else { return }
        do {
            _ = try ModelCache.model(from: cache, path: file.path, hashes: contents.hashes)
        } catch {
            let text = (error as NSError).localizedDescription, prefix = "\(file.path) (model cache): "
            run.found("Z_MODELCACHE", column: "Z_CONTENT", text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
        }
    }

    // MARK: Entity numbers

    private func checkEntityNumbers() {
        var byNumber: [Int64: String] = [:], byName: [String: Int64] = [:]
        func found(_ number: Int64, _ column: String, _ message: String) { run.found("Z_PRIMARYKEY", row: number, column: column, message) }
        for entry in numbers.entries {
            if let other = byNumber.updateValue(entry.name, forKey: entry.number) { found(entry.number, "Z_ENT", "\(other) has this number too") }
            if let other = byName.updateValue(entry.number, forKey: entry.name) {
                found(entry.number, "Z_NAME", "\(entry.name) has the number \(other) too")
            }
        }
        for entry in numbers.entries where entry.parent != 0 {
            if byNumber[entry.parent] == nil { found(entry.number, "Z_SUPER", "\(entry.parent) is no entity's number") }
            if numbers.root(of: entry.number) == nil { found(entry.number, "Z_SUPER", "\(entry.name) inherits from itself") }
        }
        guard store.found.origin != .schema else { return }
        for entity in store.entities {
            guard let number = numbers.number(of: entity), let entry = numbers.entries.first(where: { $0.number == number }) else { continue }
            let parent = entity.superentity.flatMap { numbers.number(of: $0) } ?? 0
            guard entry.parent != parent, byNumber[entry.parent] != nil || entry.parent == 0 else { continue }
            found(number, "Z_SUPER", "it is \(entry.parent), and the superentity of \(entry.name) has the number \(parent)")
        }
    }

    // MARK: Tables

    private func checkTable(_ name: String, _ entities: [CoreDataLayout.Entity]) throws {
        let table = try file.table(named: name)
        try RowAuditor(run, store, table, entities).check()
        try checkKeys(table, entities)
        for rule in UniqueRule.all(of: entities, table) { try rule.check(table, run) }
        for order in OrderRule.all(in: store, of: table) { try order.check(table, run) }
    }

    private func checkKeys(_ table: SQLiteTable, _ entities: [CoreDataLayout.Entity]) throws {
        guard let greatest = try table.greatestRowid(), let number = entities.first.flatMap({ numbers.root(of: $0.number) }),
            let root = numbers.entries.first(where: { $0.number == number }), root.keyMax < greatest
        else { return }
        run.found(
            "Z_PRIMARYKEY", row: number, column: "Z_MAX",
            "it is \(root.keyMax), and \(table.name) has the row \(greatest): Core Data would give keys twice")
    }
}
