import Heartwood

/// The properties that a predicate and an order read of a row.
///
/// A scan of Core Data's file makes rows with these columns, and whole rows of what it finds.
enum PropertiesRead {
    /// - Returns: indexes of properties; nil where they are not known, so that rows need all columns.
    static func of(_ predicate: PredicateNode?, _ sort: [SortKey], _ runtime: EntityRuntime) -> Set<Int>? {
        var keys: Set<String> = []
        guard predicate.map({ collect($0, &keys) }) ?? true else { return nil }
        for key in sort {
            guard let first = key.path.first else { return nil }
            keys.insert(first)
        }
        var found: Set<Int> = []
        for key in keys {
            // A composite's elements are properties behind its name.
            let indexes = runtime.properties.indices.filter {
                let name = runtime.entity.propertiesByIndex[$0].name
                return name == key || name.hasPrefix(key + ".")
            }
            guard !indexes.isEmpty else { return nil }
            found.formUnion(indexes)
        }
        return found
    }

    /// - Returns: false where a part may read properties that its text does not name.
    private static func collect(_ node: PredicateNode, _ keys: inout Set<String>) -> Bool {
        switch node {
        case .constant: true
        case .and(let parts), .or(let parts): parts.allSatisfy { collect($0, &keys) }
        case .not(let part): collect(part, &keys)
        case .comparison(let comparison): collect(comparison.left, &keys) && collect(comparison.right, &keys)
        case .words(let condition): condition.attributes.allSatisfy { collect($0, &keys) }
        case .block, .fault: false
        }
    }

    private static func collect(_ node: ExpressionNode, _ keys: inout Set<String>) -> Bool {
        switch node {
        case .constant: return true
        case .keyPath(let path):
            if let first = path.first { keys.insert(first) }
            return true
        case .aggregate(let list), .call(_, let list): return list.allSatisfy { collect($0, &keys) }
        case .conditional(let test, let first, let second):
            return collect(test, &keys) && collect(first, &keys) && collect(second, &keys)
        case .path, .variable, .set, .subquery, .block, .fault: return false
        }
    }
}
