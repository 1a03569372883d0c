import Foundation

extension TextSearch {
    /// Returns the search as a condition on an entity's objects.
    /// - Throws: for an attribute that the entity's family lacks or that is no stored text.
    func condition(of entity: NSEntityDescription) throws -> WordCondition {
        var names = attributes
        if names.isEmpty {
            names = entity.textIndexedAttributes
            if names.isEmpty { names = entity.propertiesByIndex.filter(\.isStoredText).map(\.name) }
            guard !names.isEmpty else {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "A text search needs an attribute of text, and \(entity.name ?? "?") has none.")
            }
        }
        let paths = names.map { name in
            ExpressionNode.keyPath(name.split(separator: ".").map(String.init)).rewriting(bound: []) { node, _ in node }
        }
        let node = PredicateNode.words(WordCondition(query: query, attributes: paths)).joiningComposites(of: entity)
        guard case .words(let condition) = node else { preconditionFailure("rewriting keeps the kind of a condition") }
        for (attribute, name) in zip(condition.attributes, names) {
            guard case .keyPath(let keys) = attribute, keys.count == 1,
                entity.concreteFamily.contains(where: { $0.storedText(keys[0]) }) || entity.storedText(keys[0])
            else {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "A text search reads stored attributes of text, and \(entity.name ?? "?") has none with the name \"\(name)\".")
            }
        }
        return condition
    }
}

extension NSPropertyDescription {
    fileprivate var isStoredText: Bool { PropertyKind(self) == .string && !isTransient }
}

extension NSEntityDescription {
    fileprivate func storedText(_ name: String) -> Bool { propertyIndexByName[name].map { propertiesByIndex[$0].isStoredText } ?? false }

    /// The attributes with a text index, each once.
    fileprivate var textIndexedAttributes: [String] {
        var names: [String] = []
        for plan in IndexPlan.all(of: self) where plan.specification.terms != nil && plan.specification.predicate == nil {
            if let name = plan.specification.elements.first?.column, !names.contains(name) { names.append(name) }
        }
        return names
    }
}
