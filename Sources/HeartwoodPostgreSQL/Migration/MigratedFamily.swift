import Foundation
import Heartwood
import RecordLog

/// The table of one family in both versions: the values of its columns by entity, and the former columns that stay.
struct MigratedFamily {
    /// A column that must have a value in the rows of an entity, and may have none.
    struct Demand {
        let entity: BoundEntity
        let field: BoundEntity.Field
    }

    /// A value for the rows of an entity that have none.
    struct Filling {
        let entity: BoundEntity
        let column: Int
        let text: String
    }

    let index: Int
    /// The former family whose table stays.
    let kept: Int?
    let table: FamilyTable
    /// The entities that had objects, with what they were.
    let entities: [(entity: BoundEntity, source: BoundEntity)]
    /// By entity and column. A column that an entity has not is missing.
    private(set) var values: [Int16: [Int: ColumnValue]] = [:]
    /// By new column: the former column of the table that becomes it.
    private(set) var bases: [Int: Int] = [:]
    /// The new columns whose former column gets another type.
    private(set) var conversions: [Int: ColumnValue] = [:]
    private(set) var demands: [Demand] = []
    private(set) var fillings: [Filling] = []

    init(_ index: Int, _ mapping: VersionMapping) throws {
        self.index = index
        kept = mapping.kept[index]
        table = mapping.new.families[index]
        entities = mapping.entities(of: index).compactMap { entity, source in source.map { (entity, $0) } }
        for (entity, source) in entities { try addValues(of: entity, source, mapping) }
        if let kept { chooseBases(mapping.old.families[kept], kept) }
    }

    /// The entities whose rows are in the table that stays.
    var staying: [(entity: BoundEntity, source: BoundEntity)] { entities.filter { $0.source.family == kept } }

    /// The entities whose rows come from other tables.
    var arriving: [(entity: BoundEntity, source: BoundEntity)] { entities.filter { $0.source.family != kept } }

    // MARK: Values

    private mutating func addValues(of entity: BoundEntity, _ source: BoundEntity, _ mapping: VersionMapping) throws {
        guard let pair = mapping.sources[entity.number]?.pair else { return }
        let attributes = Self.attributes(of: pair)
        values[entity.number] = [:]
        for field in entity.fields {
            if let relationship = entity.property(field) as? NSRelationshipDescription {
                addReference(relationship, field, entity, source, pair, mapping)
            } else if let attribute = entity.property(field) as? NSAttributeDescription {
                try add(attribute, field, entity, source, attributes[entity.table.runtime.properties[field.property].name])
            }
        }
    }

    /// By name of a new column: the former one.
    private static func attributes(of pair: ModelComparison.EntityPair) -> [String: (name: String, attribute: NSAttributeDescription)] {
        var found: [String: (name: String, attribute: NSAttributeDescription)] = [:]
        for case let (before as NSAttributeDescription, after as NSAttributeDescription) in pair.properties.map({ ($0.source, $0.destination) }) {
            for column in ModelComparison.columns(from: before, to: after)
            where AttributeConversion(from: column.source.attribute, to: column.destination.attribute) != nil {
                found[column.destination.name] = column.source
            }
        }
        return found
    }

    private mutating func add(
        _ attribute: NSAttributeDescription, _ field: BoundEntity.Field, _ entity: BoundEntity, _ source: BoundEntity,
        _ former: (name: String, attribute: NSAttributeDescription)?
    ) throws {
        let column = table.columns[field.column], known = former.flatMap { source.field(named: $0.name) }
        let isNewlyRequired = !attribute.isOptional && former?.attribute.isOptional != false
        // An optional value that the user has set to nil stays nil.
        let filling = known == nil || isNewlyRequired ? try Self.literal(attribute, field, entity, column.type) : nil
        if let known {
            values[entity.number]?[field.column] = SQLType(known.kind) == column.type
                ? .column(known.column) : .converted(known.column, from: known.kind, to: field.kind)
            if let filling { fillings.append(Filling(entity: entity, column: field.column, text: filling)) }
        } else {
            values[entity.number]?[field.column] = filling.map(ColumnValue.constant) ?? .null
        }
        if isNewlyRequired, filling == nil { demands.append(Demand(entity: entity, field: field)) }
    }

    private static func literal(
        _ attribute: NSAttributeDescription, _ field: BoundEntity.Field, _ entity: BoundEntity, _ type: SQLType
    ) throws -> String? {
        try attribute.defaultValue.flatMap { ManagedValue(attributeObject: $0, kind: field.kind) }
            .flatMap { ColumnValue.literal(try $0.transformed(field.property, of: entity.description), type) }
    }

    private mutating func addReference(
        _ relationship: NSRelationshipDescription, _ field: BoundEntity.Field, _ entity: BoundEntity, _ source: BoundEntity,
        _ pair: ModelComparison.EntityPair, _ mapping: VersionMapping
    ) {
        let former = mapping.formers(of: relationship).first { $0.entity === source }
        let parts: [(column: Int, part: ColumnValue.Part)] = [(field.column, .number)] + (field.target?.entityColumn.map { [($0, .entity)] } ?? [])
        for (column, part) in parts {
            let value: ColumnValue
            if let former, case .column(let known) = former.storage {
                value = Self.reference(relationship, former, known, part, mapping)
            } else {
                let pairs = mapping.pairs(of: relationship)
                value = pairs.isEmpty ? .null : .pairs(pairs, owner: entity.number, part)
            }
            values[entity.number]?[column] = value
            let isNewlyRequired = !relationship.isOptional && former?.relationship.isOptional != false
            if part == .number, isNewlyRequired || !relationship.isOptional && value.isPartial {
                demands.append(Demand(entity: entity, field: field))
            }
        }
    }

    private static func reference(
        _ relationship: NSRelationshipDescription, _ former: FormerRelationship, _ field: BoundEntity.Field, _ part: ColumnValue.Part,
        _ mapping: VersionMapping
    ) -> ColumnValue {
        let allowed = mapping.numbers(of: relationship.destinationEntity), before = former.destinations(mapping.old)
        let mustExist = relationship.inverseRelationship != nil && former.relationship.inverseRelationship == nil
        guard !mustExist, before.isSubset(of: allowed) else { return .reference(field, destinations: allowed, mustExist: mustExist, part) }
        guard part == .entity else { return .column(field.column) }
        return field.target?.entityColumn.map(ColumnValue.column) ?? .constant("\(field.target?.entity ?? 0)::smallint")
    }

    // MARK: Columns that stay

    /// The value of a column for the rows of an entity; nil where the entity has no such column.
    func value(_ column: Int, _ entity: BoundEntity) -> ColumnValue? { values[entity.number]?[column] }

    private mutating func chooseBases(_ former: FamilyTable, _ kept: Int) {
        var taken: Set<Int> = []
        for (index, column) in table.columns.enumerated() {
            let candidates = staying.compactMap { value(index, $0.entity)?.column }
            let plain = candidates.first { column.type == former.columns[$0].type && !taken.contains($0) }
            if let plain {
                bases[index] = plain
                taken.insert(plain)
            } else if let (base, conversion) = converted(index), !taken.contains(base) {
                bases[index] = base
                conversions[index] = conversion
                taken.insert(base)
            }
        }
    }

    /// The former column whose type is changed, where all rows that have the new one convert it in the same way, and nothing else is in it.
    private func converted(_ column: Int) -> (base: Int, conversion: ColumnValue)? {
        var found: (base: Int, conversion: ColumnValue, from: PropertyKind, to: PropertyKind)?
        for (entity, source) in staying {
            let uses = source.fields.map(\.column)
            switch value(column, entity) {
            case .converted(let base, let from, let to)?:
                guard found == nil || found?.base == base && found?.from == from && found?.to == to else { return nil }
                found = (base, .converted(base, from: from, to: to), from, to)
            case nil: if let found, uses.contains(found.base) { return nil }
            default: return nil
            }
        }
        guard let found, staying.allSatisfy({ value(column, $0.entity) != nil || !$0.source.fields.contains { $0.column == found.base } }) else { return nil }
        return (found.base, found.conversion)
    }

    /// The values that a migration writes to the table's own rows of an entity: those of new columns whose former column has other ones.
    func changes(_ entity: BoundEntity, _ source: BoundEntity) -> [(column: Int, value: ColumnValue)] {
        table.columns.indices.compactMap { column in
            if conversions[column] != nil { return nil }
            guard let base = bases[column] else {
                guard let value = value(column, entity), added[column] == nil else { return nil }
                if case .null = value { return nil }
                return (column, value)
            }
            guard let value = value(column, entity) else {
                // Another entity's column must be null here.
                return source.fields.contains { $0.column == base || $0.target?.entityColumn == base } ? (column, .null) : nil
            }
            return value.column == base ? nil : (column, value)
        }
    }

    /// The new columns that all of the table's rows get with one value, which the server then states without writing rows.
    var added: [Int: String] {
        guard kept != nil else { return [:] }
        var found: [Int: String] = [:]
        for column in table.columns.indices where bases[column] == nil {
            let all = staying.map { value(column, $0.entity) }
            guard case .constant(let text)?? = all.first, all.allSatisfy({ if case .constant(text)? = $0 { true } else { false } }) else { continue }
            found[column] = text
        }
        return found
    }

    /// Whether a column has the same values as before in all rows.
    func isUnchanged(_ column: Int) -> Bool {
        guard bases[column] != nil, conversions[column] == nil else { return false }
        return staying.allSatisfy { entity, source in !changes(entity, source).contains { $0.column == column } }
    }
}
