import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The numbers of rows in a store's tables, and the greatest ones that were given out.
struct StoredCounts {
    /// By family and entity number; rows of entities that the model lacks too.
    private(set) var counts: [(family: Int, entity: Int16, rows: Int, greatest: Int64)] = []
    /// By family: the greatest number that the sequence has given; nil where there is no sequence.
    private var given: [Int64?] = []
    private let layout: PostgreSQLLayout

    init(_ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection) throws {
        self.layout = layout
        var batch = PostgreSQLBatch()
        for family in layout.families {
            batch.add(PostgreSQLStatement(
                "SELECT \(FamilyTable.entity), count(*), max(\(FamilyTable.number)) FROM \(family.quoted) GROUP BY 1 ORDER BY 1", isPrepared: false))
        }
        for (family, result) in try connection.execute(batch).enumerated() {
            for line in 0..<result.count {
                counts.append((family, try result.int16(line, 0), Int(try result.int64(line, 1)), try result.int64(line, 2)))
            }
        }
        given = try Self.given(layout, connection)
    }

    /// Others may have dropped a sequence.
    private static func given(_ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection) throws -> [Int64?] {
        var asking = PostgreSQLBatch(), batch = PostgreSQLBatch()
        for family in layout.families {
            var parameters = PostgreSQLParameters()
            try parameters.addText(family.sequence)
            asking.add(PostgreSQLStatement("SELECT to_regclass($1) IS NOT NULL", isPrepared: false), parameters)
        }
        let areThere = try connection.execute(asking).map { try $0.bool(0, 0) }
        for (family, isThere) in zip(layout.families, areThere) where isThere {
            batch.add(PostgreSQLStatement(
                "SELECT CASE WHEN is_called THEN last_value + \(NumberBlocks.size) ELSE last_value END FROM \(family.sequence)", isPrepared: false))
        }
        var found = try connection.execute(batch).map { try $0.int64(0, 0) - 1 }[...]
        return areThere.map { $0 ? found.popFirst() : nil }
    }

    /// The families whose sequences would give the numbers of rows again, with the greatest number of a row.
    var givenTwice: [(family: String, greatest: Int64)] {
        layout.families.enumerated().compactMap { index, family in
            let greatest = counts.filter { $0.family == index }.map(\.greatest).max() ?? 0
            return greatest > given[index] ?? .max ? (family.name, greatest) : nil
        }
    }

    var familiesWithoutSequence: [String] { layout.families.indices.filter { given[$0] == nil }.map { layout.families[$0].name } }

    /// The number of all rows.
    var rows: Int { counts.reduce(0) { $0 + $1.rows } }

    /// The numbers that a record log counts as given out: also those of deleted objects, unless a file cannot state so many.
    func numbers() throws -> ConversionNumbers {
        for usesGiven in [true, false] {
            var numbers = ConversionNumbers()
            for entity in layout.entities {
                let own = counts.filter { $0.family == entity.family && $0.entity == entity.number }.map(\.greatest).max() ?? 0
                let greatest = usesGiven ? max(own, given[entity.family] ?? 0) : own
                numbers.note(min(max(0, greatest), TableLoad.numberMax - 1), of: entity.table.runtime.entity.name ?? "")
            }
            if numbers.areFew { return numbers }
        }
        throw CoreDataError.make(
            NSMigrationError, "Nothing was converted, because the greatest numbers of the entities add up to more than 8,589,934,592, which a record "
                + "log cannot state.")
    }
}

/// The configuration with which a store was made.
enum StoredConfiguration {
    /// - Returns: nil for all entities.
    static func name(in model: NSManagedObjectModel, _ metadata: [String: Any]) -> String? {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
        let names = Set(hashes.keys)
        guard Set(model.entities.compactMap(\.name)) != names else { return nil }
        return model.configurations.sorted().first { name in
            name != NSManagedObjectModel.defaultConfigurationName && Set((model.entities(forConfigurationName: name) ?? []).compactMap(\.name)) == names
        }
    }
}
