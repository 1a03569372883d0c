import Foundation
import RecordLog

/// An index that a model requires.
package struct IndexPlan {
    let name: String
    let specification: IndexSpecification
    let isUnique: Bool

    init(name: String, columns: [String], isUnique: Bool) {
        self.name = name
        specification = IndexSpecification(elements: columns.map { IndexSpecification.Element(column: $0) }, predicate: nil)
        self.isUnique = isUnique
    }

    /// A text index over a column of text.
    private init(_ index: String, textColumn: String, predicate: String?) {
        name = RecordLogNames.index(index)
        specification = IndexSpecification(textColumn: textColumn, predicate: predicate)
        isUnique = false
    }

    /// Returns the plans of a fetch index: one, except that each element of a text index has its own.
    /// - Parameter entity: the entity whose table has the index.
    /// - Returns: none for an index that no store supports: an R-tree, one over a property without a column, a text index over something else than
    ///   attributes of text.
    private static func plans(_ index: NSFetchIndexDescription, of entity: NSEntityDescription) -> [IndexPlan] {
        guard index.elements.contains(where: { $0.collationType == .text }) else { return IndexPlan(index, of: entity).map { [$0] } ?? [] }
        var columns: [String] = []
        for element in index.elements {
            guard element.collationType == .text, let property = element.property, let column = textColumn(property, entity) else { return [] }
            columns.append(column)
        }
        let predicate = index.partialIndexPredicate.map { PredicatePrinter.format($0.node.folded) }
        return columns.map { column in
            IndexPlan(columns.count == 1 ? index.name : "\(index.name).\(column)", textColumn: column, predicate: predicate)
        }
    }

    /// Returns the column that a text index over a property reads; nil where the property is no stored attribute of text.
    private static func textColumn(_ property: NSPropertyDescription, _ entity: NSEntityDescription) -> String? {
        guard let computed = property as? NSExpressionDescription else {
            return PropertyKind(property) == .string && !property.isTransient ? property.name : nil
        }
        // An element of a composite attribute is given as its path.
        guard let node = computed.expression?.node.joiningComposites(of: entity).folded, case .keyPath(let keys) = node, keys.count == 1,
            let found = entity.propertyIndexByName[keys[0]].map({ entity.propertiesByIndex[$0] })
        else { return nil }
        return PropertyKind(found) == .string && !found.isTransient ? found.name : nil
    }

    /// - Parameter entity: the entity whose table has the index.
    /// - Returns: nil for an index that no store supports: of another collation, or over a property without a column.
    private init?(_ index: NSFetchIndexDescription, of entity: NSEntityDescription) {
        var elements: [IndexSpecification.Element] = []
        for element in index.elements {
            guard element.collationType == .binary, let property = element.property else { return nil }
            guard var made = Self.element(property, entity) else { return nil }
            if !element.isAscending { made.isDescending = true }
            elements.append(made)
        }
        guard !elements.isEmpty else { return nil }
        name = RecordLogNames.index(index.name)
        specification = IndexSpecification(
            elements: elements, predicate: index.partialIndexPredicate.map { PredicatePrinter.format($0.node.folded) })
        isUnique = false
    }

    private static func element(_ property: NSPropertyDescription, _ entity: NSEntityDescription) -> IndexSpecification.Element? {
        guard let computed = property as? NSExpressionDescription else {
            guard PropertyKind(property).columnType != nil, !property.isTransient else { return nil }
            return IndexSpecification.Element(column: property.name)
        }
        guard let node = computed.expression?.node.joiningComposites(of: entity).folded else { return nil }
        if case .keyPath(let keys) = node, keys.count == 1 { return IndexSpecification.Element(column: keys[0]) }
        let isText = computed.expressionResultType == .undefinedAttributeType
            ? node.givesText : computed.expressionResultType == .stringAttributeType
        return IndexSpecification.Element(expression: PredicatePrinter.format(node), isText: isText ? true : nil)
    }

    /// Returns the engine's index parts, or the name of a key extractor; nil where the table cannot have the index.
    func definition(_ layout: RowLayout) -> (parts: [IndexPart], extractorName: String?)? {
        let names = specification.elements.compactMap(\.column)
        let columns = names.compactMap { name in layout.columns.first { $0.name == name } }
        guard columns.count == names.count else { return nil }
        if specification.terms != nil { return columns.first?.type == .text ? ([], specification.name) : nil }
        // The engine refuses columns of large values with an error that explains it.
        guard !specification.isPlain else {
            let parts = zip(columns, specification.elements).map { IndexPart(column: $0.id, ascending: $1.isDescending != true) }
            return (parts, nil)
        }
        return SpecifiedKeys(specification).suits(layout) ? ([], specification.name) : nil
    }

    /// Whether it is an index of fetches, which a store can do without.
    var isOfFetches: Bool { name.hasPrefix(RecordLogNames.index("")) }

    /// Returns the store's index of this name, where its definition is the same.
    func found(in catalog: Catalog, _ table: TableDefinition) -> IndexDefinition? {
        let wanted = definition(table.currentLayout)
        return catalog.indexes(on: table.id).first { $0.name == name }.flatMap { Self.serves($0, wanted) ? $0 : nil }
    }

    private static func serves(_ known: IndexDefinition, _ wanted: (parts: [IndexPart], extractorName: String?)?) -> Bool {
        guard let wanted else { return false }
        return known.parts == wanted.parts && known.extractorName.map(ExactText.init) == wanted.extractorName.map(ExactText.init)
    }

    /// Returns the index that serves each plan: that of its name, or else one with the same definition and another name. Each index serves one plan.
    static func match(_ plans: [IndexPlan], _ known: [IndexDefinition], _ layout: RowLayout) -> [IndexDefinition?] {
        let wanted = plans.map { $0.definition(layout) }
        var found = zip(plans, wanted).map { plan, wanted in known.first { $0.name == plan.name && serves($0, wanted) } }
        for position in plans.indices where found[position] == nil {
            found[position] = known.first { index in serves(index, wanted[position]) && !found.contains { $0?.id == index.id } }
        }
        return found
    }

    /// Returns the indexes of one entity's table: one for each to-one relationship, uniqueness constraint and fetch index, inherited ones included.
    package static func all(of entity: NSEntityDescription) -> [IndexPlan] {
        var plans: [IndexPlan] = []
        for property in entity.propertiesByIndex where PropertyKind(property) == .toOne && !property.isTransient {
            plans.append(IndexPlan(name: RecordLogNames.reference(property.name), columns: [property.name], isUnique: false))
        }
        for constraint in entity.allUniquenessConstraints {
            plans.append(IndexPlan(name: RecordLogNames.unique(constraint), columns: constraint, isUnique: true))
        }
        plans += entity.allIndexes.flatMap { Self.plans($0, of: entity) }
        for property in entity.propertiesByIndex where TextIndexMark.isSet(property) {
            guard let column = textColumn(property, entity) else { continue }
            plans.append(IndexPlan(TextIndexMark.indexName(column), textColumn: column, predicate: nil))
        }
        var names: Set<String> = []
        return plans.filter { names.insert($0.name).inserted }
    }
}

/// The indexes that a model requires, by entity. Built once for each opening, because building parses the indexed expressions.
struct IndexPlans: @unchecked Sendable {
    // Unchecked: a model does not change once a coordinator uses it.

    let list: [(entity: NSEntityDescription, plans: [IndexPlan])]

    init(_ entities: [NSEntityDescription]) {
        list = NSEntityDescription.concrete(among: entities).map { ($0, IndexPlan.all(of: $0)) }
    }
}
