import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Writes the objects of one state of a file of Core Data's to a new record log. It runs inside of `file.read`.
///
/// (1) The first pass reads the keys of the rows that relationships connect. With them the second follows references, and finds those that
///     lead nowhere, without the file.
/// (2) The second pass writes each table's rows under their own numbers, the third the pairs of relationships with a join table, the last the
///     history. Memory does not grow with the rows, but for one bit to two bytes for each key.
/// (3) Nothing is validated: what the old store has comes along.
struct SQLiteConverter {
    let file: SQLiteFile
    let contents: CoreDataContents
    let found: CoreDataStoreModel
    /// Immutable.
    let model: NSManagedObjectModel
    let configuration: String?
    let keepsHistory: Bool
    /// Whether objects with the same values of a uniqueness constraint are only reported. The new file is then good for nothing.
    let allowsRepetitions: Bool
    let progress: ((UInt64, UInt64) -> Void)?

    private var entities: [NSEntityDescription] { model.entities(forConfigurationName: configuration) ?? model.entities }

    /// - Parameter new: the new file, which must not exist.
    /// - Throws: 134111 if objects have the same values of a uniqueness constraint, unless that is allowed.
    func run(to new: URL) throws -> ConversionReport {
        model.makeImmutable()
        let layout = try CoreDataLayout(entities, contents.numbers, contents.schema, path: file.path)
        try begin(new, layout)
        let target = try ConversionTarget(new, model, configuration: configuration)
        do {
            let reader = try CoreDataReader(file, contents, layout, target.schema)
            let run = try SQLiteConversionRun(self, reader, target)
            let report = try run.run()
            try target.close()
            return report
        } catch {
            target.abandon()
            throw error
        }
    }

    // MARK: The new file

    private func begin(_ new: URL, _ layout: CoreDataLayout) throws {
        var metadata = contents.metadata.filter { !CoreDataFileMetadata.coreDatasOwn.contains($0.key) }
        metadata[NSStoreTypeKey] = NSRecordLogStoreType
        metadata[RecordLogMetadata.doubtsKey] = found.doubts.isEmpty ? nil : found.doubts
        try ConversionTarget.begin(new, model, configuration: configuration, metadata: metadata, numbers(layout))
    }

    /// Keys above this one are no hint of the next key: a list of greater ones is more than a file can state.
    private static let hintMax: Int64 = 1 << 31

    /// Facts, "Z_PRIMARYKEY": the root's greatest key counts for all entities of its table, and deleted objects have had keys too.
    /// A file states no more than 2^33 numbers. If the keys of deleted objects are too many for it, those of objects that are there count alone.
    private func numbers(_ layout: CoreDataLayout) throws -> ConversionNumbers {
        for usesHints in [true, false] {
            let numbers = try numbers(layout, usesHints: usesHints)
            if numbers.areFew { return numbers }
        }
        throw SQLiteConversionError.manyNumbers(file.path)
    }

    private func numbers(_ layout: CoreDataLayout, usesHints: Bool) throws -> ConversionNumbers {
        var numbers = ConversionNumbers()
        let given = Dictionary(contents.numbers.entries.map { ($0.number, $0.keyMax) }) { first, _ in first }
        func hint(_ number: Int64) -> Int64 {
            let key = contents.numbers.root(of: number).flatMap { given[$0] } ?? 0
            return usesHints && key <= Self.hintMax ? key : 0
        }
        for place in layout.entities.values where !place.entity.isAbstract {
            let key = max(try file.table(named: place.table).greatestRowid() ?? 0, hint(place.number), 0)
            numbers.note(min(key, CoreDataRows.keyMax), of: place.entity.name ?? "")
        }
        if keepsHistory, let last = try ConvertedHistory.last(in: file) {
            try ConvertedHistory.noteKeys(in: file, layout, &numbers)
            numbers.history = UInt64(max(0, last)) + 1
        }
        return numbers
    }
}

/// The passes of one conversion.
private final class SQLiteConversionRun {
    private let converter: SQLiteConverter
    private let reader: CoreDataReader
    private let target: ConversionTarget
    private let transfer = CoreDataTransfer()
    private var report: ConversionReport
    /// Objects, by entity number.
    private var counts: [Int64: Int] = [:]
    /// The greatest keys of all tables, and of those that are done.
    private let total: Int64
    private var done: Int64 = 0

    private static let progressEvery = 4096

    init(_ converter: SQLiteConverter, _ reader: CoreDataReader, _ target: ConversionTarget) throws {
        (self.converter, self.reader, self.target) = (converter, reader, target)
        report = ConversionReport(converter.found)
        try reader.learnKeys()
        var total: Int64 = 0
        for table in try reader.objectTables() { total += min(max(0, try table.source.greatestRowid() ?? 0), CoreDataRows.keyMax) }
        self.total = total
    }

    func run() throws -> ConversionReport {
        let tables = try reader.objectTables()
        for table in tables { try write(table) }
        try writePairs()
        report.history = try ConvertedHistory.run(reader, target, isKept: converter.keepsHistory)
        (report.dangling, report.missingFiles) = (transfer.dangling, transfer.missingFiles)
        (report.unnamed, report.changed) = (transfer.unnamed, transfer.changed)
        report.entities = counts.compactMap { number, count in
            reader.layout.entities[number].map { ConversionReport.EntityCount(name: $0.entity.name ?? "", objects: count) }
        }.filter { $0.objects > 0 }.sorted { $0.name < $1.name }
        try check(try target.view())
        return report
    }

    // MARK: Rows

    private func show(_ key: Int64) {
        guard let progress = converter.progress else { return }
        progress(UInt64(max(0, min(done + key, total))), UInt64(total))
    }

    private func write(_ table: CoreDataReader.ObjectTable) throws {
        for rows in table.rows.values { rows.transfer = transfer }
        var cursor = try table.source.rows(), rows: CoreDataRows?, count = 0
        try target.writeAll { transaction in
            while try cursor.next() {
                let number = try cursor.row.integer(table.entityColumn) ?? 0
                if rows?.number != number {
                    self.counts[rows?.number ?? 0, default: 0] += count
                    (rows, count) = (table.rows[number], 0)
                }
                guard let rows else {
                    self.transfer.noteUnnamed(cursor.row.rowid, of: table.source.name, number)
                    continue
                }
                self.transfer.transaction = transaction
                let before = self.transfer.valueBytes, row = try rows.row(cursor.row)
                try transaction.put(row.reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
                count += 1
                if count % Self.progressEvery == 0 { self.show(cursor.row.rowid) }
                return row.byteCount + self.transfer.valueBytes - before
            }
            self.counts[rows?.number ?? 0, default: 0] += count
            count = 0
            return nil
        }
        transfer.transaction = nil
        done += min(max(0, try table.source.greatestRowid() ?? 0), CoreDataRows.keyMax)
    }

    // MARK: Relationships

    private func writePairs() throws {
        for plan in LinkPlan.all(of: reader.layout.entities.values.map(\.entity)) {
            guard let index = plan.entity.propertiesByIndex.firstIndex(where: { $0 === plan.relationship }),
                let link = link(plan, index), let place = place(index, of: plan.entity), let destination = plan.relationship.destinationEntity,
                let owners = try reader.destination(plan.entity), let members = try reader.destination(destination)
            else { continue }
            let inverse = plan.relationship.inverseRelationship.flatMap { inverse in
                self.place(destination.propertiesByIndex.firstIndex { $0 === inverse } ?? -1, of: destination)
            }
            let name = "\(plan.entity.name ?? "?").\(plan.relationship.name)"
            let pairs = try CoreDataPairs(name, place, inverse: inverse, owners: owners, members: members, reader, transfer)
            try write(pairs, link)
            if case .join = place { try removeRepeatedPairs(link) }
        }
    }

    private func place(_ index: Int, of entity: NSEntityDescription) -> CoreDataLayout.Place? {
        guard index >= 0, let number = reader.contents.numbers.number(of: entity) else { return nil }
        return reader.layout.entities[number]?.places[index]
    }

    private func link(_ plan: LinkPlan, _ index: Int) -> JoinTable? {
        for case let table? in target.schema.tables where table.runtime.entity.isKindOf(entity: plan.entity) {
            if case .link(let link, isForward: true)? = table.members[index] { return link }
        }
        return nil
    }

    private func write(_ pairs: consuming CoreDataPairs, _ link: JoinTable) throws {
        let writer = PairWriter(link)
        var pairs = pairs
        var mirrored: CoreDataPairs.Pair?
        try target.writeAll { transaction in
            if let pair = mirrored.take() { return try Self.write(pair, writer, transaction) }
            guard let pair = try pairs.next() else { return nil }
            self.report.pairs += 1
            if pairs.isReflexive, pair.owner != pair.member {
                mirrored = .init(owner: pair.member, member: pair.owner, order: pair.order, inverseOrder: pair.inverseOrder)
            }
            return try Self.write(pair, writer, transaction)
        }
    }

    private static func write(_ pair: CoreDataPairs.Pair, _ writer: PairWriter, _ transaction: Transaction) throws -> Int {
        try writer.write(pair.owner, pair.member, order: pair.order, inverseOrder: pair.inverseOrder, transaction)
    }

    /// Deletes pairs that have a row already: both directions of a relationship that is its own inverse may be stored.
    private func removeRepeatedPairs(_ link: JoinTable) throws {
        let snapshot = try target.view().snapshot
        var cursor = try snapshot.cursor(link.backward), last: [UInt8] = []
        try target.writeAll { transaction in
            while let row = try cursor.next() {
                let key = cursor.unsafeKey, size = key.count
                if last.withUnsafeBytes({ KeyBytes.compare($0, key) == 0 }) {
                    _ = try transaction.delete(RowReference(table: link.id, row: row))
                    return size
                }
                last.removeAll(keepingCapacity: true)
                last.append(contentsOf: key)
            }
            return nil
        }
    }

    // MARK: Checks

    /// The new store must have as many objects as the old one. Values that are to be unique and are not end the conversion.
    private func check(_ view: RecordLogView) throws {
        for (number, count) in counts {
            guard let entity = reader.layout.entities[number]?.entity,
                let table = target.schema.tables.first(where: { $0?.runtime.entity === entity }) ?? nil
            else { continue }
            let written = view.snapshot.rowCount(table.id)
            guard written == count else { throw wrongCount(entity.name ?? "?", Int(clamping: written), count) }
        }
        try UniquenessAudit(view.snapshot, view.schema).run { report.repetitions.add(self.line($0)) }
        guard report.repetitions.count == 0 || converter.allowsRepetitions else { throw SQLiteConversionError.repeated(reader.file.path, report.repetitions) }
    }

    private func wrongCount(_ entity: String, _ written: Int, _ count: Int) -> NSError {
        CoreDataError.make(
            NSMigrationError,
            "\(reader.file.path): \(written) of \(count) objects of \(entity) are in the new store. Nothing was converted; report this.",
            [NSFilePathErrorKey: reader.file.path])
    }

    private func line(_ repetition: UniquenessAudit.Repetition) -> String {
        func name(_ reference: RowReference) -> String {
            "\(target.schema.table(reference.table)?.runtime.entity.name ?? "?") p\(reference.row)"
        }
        return "\(name(repetition.row)) has the same \(repetition.attributes) as \(name(repetition.holder))"
    }
}
