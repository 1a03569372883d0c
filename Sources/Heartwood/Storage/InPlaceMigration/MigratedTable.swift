import Foundation
import RecordLog

/// One entity's table during a change of its model's version.
final class MigratedTable {
    /// The table's definition before the change.
    let definition: TableDefinition
    let source: NSEntityDescription
    let destination: NSEntityDescription
    /// In the order of the destination's properties.
    let columns: [MigratedColumn]
    /// Properties of the old version with those of the new one that they become.
    let pairs: [(NSPropertyDescription, NSPropertyDescription)]
    /// The names of the properties whose values the new layout states for the objects that have none.
    private var stated: Set<String> = []

    init(_ definition: TableDefinition, _ pair: ModelComparison.EntityPair) {
        self.definition = definition
        source = pair.source
        destination = pair.destination
        columns = MigratedColumn.all(of: pair, definition)
        pairs = pair.properties.map { ($0.source, $0.destination) }
    }

    /// A name that no property can have.
    private static func removed(_ name: String) -> String { "removed:\(name)" }

    /// The new names of columns. Removed columns are renamed too, so that a lookup by name cannot find a column that had the name before.
    var columnNames: [ColumnID: String] {
        var names: [ColumnID: String] = [:]
        for column in definition.currentLayout.columns {
            let kept = columns.first { $0.kept?.id == column.id }
            let name = kept?.property.name ?? Self.removed(column.name)
            if name != column.name { names[column.id] = name }
        }
        return names
    }

    /// Whether a property has a name that another property had before.
    var hasReusedNames: Bool {
        columns.contains { column in
            let name = column.property.name
            return column.source?.column.name != name && definition.currentLayout.columns.contains { $0.name == name }
        } || destination.relationshipsByName.contains { name, relationship in
            relationship.isToMany && source.relationshipsByName[name] != nil && !pairs.contains { $0.1 === relationship && $0.0.name == name }
        }
    }

    private var isLayoutChanged: Bool {
        let old = Set(definition.currentLayout.columns.map(\.id)), new = columns.compactMap { $0.kept?.id }
        return new.count != columns.count || Set(new) != old
    }

    func changeLayout(_ transaction: Transaction) throws {
        let new = columns.map { Column(id: $0.kept?.id ?? ColumnID(rawValue: 0), name: $0.property.name, type: $0.type) }
        let builder = RowBuilder()
        stated = try defaults(new, transaction, builder)
        guard isLayoutChanged || !stated.isEmpty else { return }
        _ = try transaction.addLayout(to: definition.id, columns: new, defaults: stated.isEmpty ? nil : builder.unsafeBody())
    }

    /// Builds a row of the values that the new layout states.
    /// - Returns: the names of their properties.
    private func defaults(_ new: [Column], _ transaction: Transaction, _ builder: RowBuilder) throws -> Set<String> {
        // An older release refuses a catalog with defaults, so none is stated in vain: without rows, or if all rows are rewritten anyway.
        guard transaction.base.rowCount(definition.id) > 0, columns.allSatisfy({ $0.source == nil || $0.kept != nil }),
            transaction.canState(columns.count, in: definition.id)
        else { return [] }
        let layout = RowLayout(id: LayoutID(rawValue: 0), columns: new), indexes = transaction.catalog.indexes(on: definition.id)
        builder.begin(layout)
        var names: Set<String> = []
        for column in columns {
            // The entries of an index are those of the rows. With the default they would be others, so the rows get it.
            if let kept = column.kept, indexes.contains(where: { $0.parts.contains { $0.column == kept.id } }) { continue }
            let step = try ColumnMigration(column, of: self, in: layout, nil)
            if try step.state(in: builder) { names.insert(column.property.name) }
        }
        return names
    }

    /// Drops the indexes that the new model does not have, and creates those that fetches and saves depend on. Fetch indexes are built after the
    /// store has opened. An index over renamed columns is renamed, with its entries.
    func changeIndexes(_ transaction: Transaction) throws {
        guard let table = transaction.catalog.table(definition.id) else { return }
        let plans = IndexPlan.all(of: destination), known = transaction.catalog.indexes(on: table.id)
        // An extractor finds columns by name. An index whose columns are others now serves no plan.
        var extractors: [IndexID: String] = [:]
        let followed = known.compactMap { index -> IndexDefinition? in
            guard let name = index.extractorName else { return index }
            guard let renamed = IndexSpecification(name: name)?.renamed(newName)?.name else { return nil }
            if ExactText(renamed) != ExactText(name) { extractors[index.id] = renamed }
            return IndexDefinition(id: index.id, table: index.table, name: index.name, parts: index.parts, extractorName: renamed)
        }
        let found = IndexPlan.match(plans, followed, table.currentLayout)
        for index in known where !found.contains(where: { $0?.id == index.id }) {
            try transaction.dropIndex(index.id)
            extractors[index.id] = nil
        }
        var names: [IndexID: String] = [:]
        for case (let plan, let index?) in zip(plans, found) where index.name != plan.name { names[index.id] = plan.name }
        if !names.isEmpty || !extractors.isEmpty { try transaction.rename(indexes: names, extractors: extractors) }
        for (plan, found) in zip(plans, found) where found == nil && !plan.isOfFetches {
            guard let made = plan.definition(table.currentLayout) else { continue }
            _ = try transaction.defineIndex(named: plan.name, on: table.id, parts: made.parts, extractorName: made.extractorName)
        }
    }

    /// The new name of a column whose values an index has as they were; nil if it is gone or has others.
    private func newName(_ column: String) -> String? {
        columns.first { $0.kept?.name == column }.flatMap { stated.contains($0.property.name) ? nil : $0.property.name }
    }

    // MARK: Rows

    /// Writes the rows whose values change.
    /// - Parameter moved: the changed references of to-one relationships, by name.
    /// - Returns: whether any object has another value.
    /// - Throws: 134110 where a row lacks a value that is now required, or has one that does not fit.
    func rewrite(_ transaction: Transaction, _ moved: [String: MovedReferences]) throws -> Bool {
        guard let table = transaction.catalog.table(definition.id) else { return false }
        let steps = try columns.map { try ColumnMigration(
            $0, of: self, in: table.currentLayout, moved[$0.property.name], isStated: stated.contains($0.property.name)) }
        var hasChanged = !stated.isEmpty
        guard steps.contains(where: \.needsRows) else { return hasChanged }
        let builder = RowBuilder(), layout = table.currentLayout
        try transaction.base.scan(definition.id) { row in
            var isChanged = false
            for step in steps where try step.changes(row) { isChanged = true }
            guard isChanged else { return true }
            builder.begin(layout)
            for step in steps { try step.write(row, into: builder, transaction) }
            try transaction.put(row.reference, body: builder.unsafeBody())
            hasChanged = true
            return true
        }
        return hasChanged
    }
}

/// The column of one persistent property during a change of its model's version.
struct MigratedColumn {
    let property: NSPropertyDescription
    let type: ColumnType
    /// The column that has the property's old values, and their conversion into the new ones; nil where there is none.
    let source: (column: Column, property: NSPropertyDescription, conversion: AttributeConversion)?
    /// The old column, where nothing but its name changes.
    var kept: Column? { source?.conversion == AttributeConversion.none ? source?.column : nil }
    /// Whether the property requires a value that the old version did not require.
    let isNewlyRequired: Bool

    /// Whether the values of rows may change.
    var mayChange: Bool { kept == nil || isNewlyRequired }

    fileprivate static func all(of pair: ModelComparison.EntityPair, _ table: TableDefinition) -> [MigratedColumn] {
        let sources = sources(of: pair)
        return pair.destination.propertiesByIndex.compactMap { property in
            guard !property.isTransient, let type = PropertyKind(property).columnType else { return nil }
            let source = sources[property.name].flatMap { known in
                table.currentLayout.columns.first { $0.name == known.name }
                    .map { (column: $0, property: known.property, conversion: known.conversion) }
            }
            return MigratedColumn(
                property: property, type: type, source: source,
                isNewlyRequired: !property.isOptional && source?.property.isOptional != false)
        }
    }

    private typealias Source = (name: String, property: NSPropertyDescription, conversion: AttributeConversion)

    /// Returns the old columns by the names of the new ones. A derived attribute whose type has changed has no old column: it is derived again.
    private static func sources(of pair: ModelComparison.EntityPair) -> [String: Source] {
        var sources: [String: Source] = [:]
        let old = pair.source.propertiesByIndex
        for match in pair.properties {
            guard let before = match.source as? NSAttributeDescription, let after = match.destination as? NSAttributeDescription else {
                sources[match.destination.name] = (match.source.name, match.source, .none)
                continue
            }
            for column in ModelComparison.columns(from: before, to: after) {
                guard let conversion = AttributeConversion(from: column.source.attribute, to: column.destination.attribute),
                    let original = old.first(where: { $0.name == column.source.name })
                else { continue }
                sources[column.destination.name] = (column.source.name, original, conversion)
            }
        }
        return sources
    }
}
