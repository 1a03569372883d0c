import Foundation
import RecordLog

/// The tables of a record log whose model changes: those that stay or are renamed, those to add and those to drop.
struct MigratedTables {
    let list: [MigratedTable]
    /// Entities that had no table before.
    let added: [NSEntityDescription]
    let dropped: [TableID]
    /// The entities of the old model.
    let sources: [NSEntityDescription]

    init(_ comparison: ModelComparison, _ entities: [NSEntityDescription], _ catalog: Catalog) {
        var list: [MigratedTable] = [], added: [NSEntityDescription] = []
        var kept: Set<TableID> = []
        for entity in NSEntityDescription.concrete(among: entities) {
            guard let pair = comparison.pair(to: entity), !pair.source.isAbstract, let table = catalog.table(named: pair.source.name ?? "") else {
                added.append(entity)
                continue
            }
            kept.insert(table.id)
            list.append(MigratedTable(table, pair))
        }
        self.list = list
        self.added = added
        // `MigratedRelationships` drops join tables.
        sources = comparison.pairs.map(\.source) + comparison.removed
        dropped = NSEntityDescription.concrete(among: sources).compactMap { entity in
            catalog.table(named: entity.name ?? "").flatMap { kept.contains($0.id) ? nil : $0.id }
        }
    }

    /// The new names of renamed tables.
    var names: [TableID: String] {
        Dictionary(list.compactMap { table in
            let name = table.destination.name ?? ""
            return table.definition.name == name ? nil : (table.definition.id, name)
        }) { first, _ in first }
    }

    var columnNames: [TableID: [ColumnID: String]] {
        Dictionary(list.map { ($0.definition.id, $0.columnNames) }) { first, _ in first }.filter { !$0.value.isEmpty }
    }

    /// Returns the tables that had objects of an entity of the new model.
    func ids(of entity: NSEntityDescription?) -> Set<TableID> {
        let family = entity?.concreteFamily ?? []
        return Set(list.filter { table in family.contains { $0 === table.destination } }.map(\.definition.id))
    }
}
