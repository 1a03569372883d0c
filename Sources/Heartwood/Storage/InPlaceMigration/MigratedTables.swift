import Foundation
import RecordLog

/// The tables of a record log whose model changes: which stay, under which names, which come and which go.
struct MigratedTables {
    let list: [MigratedTable]
    /// Entities without objects so far.
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
        // Join tables are the relationships' to drop.
        sources = comparison.pairs.map(\.source) + comparison.removed
        dropped = NSEntityDescription.concrete(among: sources).compactMap { entity in
            catalog.table(named: entity.name ?? "").flatMap { kept.contains($0.id) ? nil : $0.id }
        }
    }

    /// The new names of those that are renamed.
    var names: [TableID: String] {
        Dictionary(list.compactMap { table in
            let name = table.destination.name ?? ""
            return table.definition.name == name ? nil : (table.definition.id, name)
        }) { first, _ in first }
    }

    var columnNames: [TableID: [ColumnID: String]] {
        Dictionary(list.map { ($0.definition.id, $0.columnNames) }) { first, _ in first }.filter { !$0.value.isEmpty }
    }

    /// The tables that had objects of an entity of the new model.
    func ids(of entity: NSEntityDescription?) -> Set<TableID> {
        let family = entity?.concreteFamily ?? []
        return Set(list.filter { table in family.contains { $0 === table.destination } }.map(\.definition.id))
    }
}
