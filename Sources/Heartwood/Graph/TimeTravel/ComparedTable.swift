import Foundation
import RecordLog

/// An entity's tables in the two states of a comparison, with the properties that belong together.
struct ComparedTable {
    /// A property, by its index in each state; nil where only the other state has it.
    struct Property {
        let name: String
        let old: Int?
        let new: Int?
    }

    /// nil where the state does not have the entity.
    let old: EntityTable?
    let new: EntityTable?
    let properties: [Property]

    var name: String { (new ?? old)?.runtime.entity.name ?? "" }

    init(old: EntityTable?, new: EntityTable?, _ matches: [ModelComparison.PropertyPair]) {
        self.old = old
        self.new = new
        // An element of a composite is matched by its name only.
        let former = Dictionary(matches.map { ($0.destination.name, $0.source.name) }) { first, _ in first }
        var taken: Set<Int> = []
        var properties: [Property] = []
        for (index, property) in (new?.runtime.properties ?? []).enumerated() where Self.isStored(property) {
            var before = old?.runtime.index(of: former[property.name] ?? property.name)
            if let found = before, let other = old?.runtime.properties[found], !Self.isStored(other) || !Self.isAlike(other, property) {
                before = nil
            }
            if let before { taken.insert(before) }
            properties.append(Property(name: property.name, old: before, new: index))
        }
        for (index, property) in (old?.runtime.properties ?? []).enumerated() where Self.isStored(property) && !taken.contains(index) {
            properties.append(Property(name: property.name, old: index, new: nil))
        }
        self.properties = properties
    }

    private static func isStored(_ property: PropertyRuntime) -> Bool {
        !property.isTransient && (property.kind.columnType != nil || property.kind == .toMany)
    }

    /// Whether values of both can be compared.
    private static func isAlike(_ a: PropertyRuntime, _ b: PropertyRuntime) -> Bool {
        a.kind.isRelationship == b.kind.isRelationship && (a.kind == .toMany) == (b.kind == .toMany)
    }

    /// All entities of two states, in the order of their names. Entities of one name, or of one renaming identifier, are the same.
    static func all(_ old: ComparedState, _ new: ComparedState) -> [ComparedTable] {
        let comparison = ModelComparison(comparing: old.model, with: new.model)
        var rest = Dictionary(old.tables.map { (ObjectIdentifier($0.runtime.entity), $0) }) { first, _ in first }
        var tables = new.tables.map { table in
            let pair = comparison.pair(to: table.runtime.entity)
            let before = pair.flatMap { rest.removeValue(forKey: ObjectIdentifier($0.source)) }
            return ComparedTable(old: before, new: table, pair?.matches ?? [])
        }
        tables += rest.values.map { ComparedTable(old: $0, new: nil, []) }
        return tables.sorted { $0.name < $1.name }
    }
}
