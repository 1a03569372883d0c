import Foundation

/// Refuses, before a fetch starts, parts of a predicate that no store can evaluate: blocks, unbound variables, unknown keys.
package enum PredicateCheck {
    /// - Throws: Core Data's error, which quotes the predicate and marks the position of a faulty key.
    static func check(_ node: PredicateNode, entity: NSEntityDescription) throws {
        do {
            try check(node, entity, bound: [:])
            try PredicatePaths.traverse(node, entity: entity) { path in
                try check(path, "predicate") { $0.print(node) }
            }
        } catch let fault as PredicateFault {
            throw error(fault, node)
        }
    }

    /// Checks an expression in the same way.
    static func check(_ node: ExpressionNode, entity: NSEntityDescription) throws {
        do {
            try check(node, entity, bound: [:])
            try PredicatePaths.traverse(node, entity: entity) { path in
                try check(path, "expression") { $0.print(node) }
            }
        } catch let fault as PredicateFault {
            throw make(fault.reason, "expression", PredicatePrinter.format(node))
        }
    }

    private static func check(_ path: PredicatePaths.Path, _ what: String, _ print: (inout PredicatePrinter) -> Void) throws {
        guard path.keys.count <= PredicateKeyPath.keysMax else { throw PredicateFault.longPath }
        guard !path.owners.isEmpty, let reason = fault(path.keys, path.owners) else { return }
        var printer = PredicatePrinter()
        print(&printer)
        let offset = path.ordinal < printer.pathOffsets.count ? printer.pathOffsets[path.ordinal] : 0
        throw make("\(reason), at character \(offset + 1):\n" + PredicateFormatError.marked(printer.text, at: offset), what, printer.text)
    }

    package static func error(_ fault: PredicateFault, _ node: PredicateNode) -> NSError {
        make(fault.reason, "predicate", PredicatePrinter.format(node))
    }

    private static func make(_ reason: String, _ what: String, _ format: String) -> NSError {
        CoreDataError.make(NSPersistentStoreUnsupportedRequestTypeError, "A store cannot be asked the \(what) \"\(format)\": \(reason)")
    }

    /// Describes the fault of a key path on objects of these entities; nil where it is valid.
    private static func fault(_ keys: [String], _ entities: [NSEntityDescription]) -> String? {
        var owners = entities
        for (index, key) in keys.enumerated() {
            if key.hasPrefix("@") {
                guard PredicateKeyPath.operators.contains(key) else {
                    return "there is no collection operator \"\(key)\"; there are "
                        + PredicateKeyPath.operators.sorted().joined(separator: " ")
                }
                // The keys that follow apply to the members.
                continue
            }
            if key.lowercased() == "self" || key == "objectID" { continue }
            if key == "entity", !owners.isEmpty, !owners.contains(where: { $0.isKnownInFamily(key) }) {
                let rest = keys.dropFirst(index + 1)
                if rest.isEmpty || rest.elementsEqual(["name"]) { return nil }
                return "a store can be asked only for an entity's name, not for \(rest.joined(separator: "."))"
            }
            guard let first = owners.first else { return key == "length" ? nil : "\(keys.joined(separator: ".")) leads on from an attribute" }
            let properties = owners.flatMap { $0.familyProperties(key) }
            // If only some of the entities have the property, it is null for the others.
            if let entity = properties.isEmpty ? first : owners.first(where: { $0.familyProperty(key) == nil && !$0.isKnownInFamily(key) }) {
                return "\(entity.name ?? "?") has no property \"\(key)\"\(entity.listedProperties(besides: key))"
            }
            if properties.contains(where: { $0 is NSFetchedPropertyDescription }) {
                return "\(key) is a fetched property, which no store can be asked for; test the fetched objects in memory"
            }
            // A transformable attribute's value may have its own keys.
            if properties.contains(where: { ($0 as? NSAttributeDescription)?.attributeType == .transformableAttributeType }) { return nil }
            owners = owners.destinations(of: key)
        }
        return nil
    }

    // MARK: Parts that only evaluation in memory supports

    /// The variables of the enclosing subqueries, with the entities of their objects where known.
    private typealias Variables = [String: NSEntityDescription?]

    private static func check(_ node: PredicateNode, _ entity: NSEntityDescription, bound: Variables) throws {
        switch node {
        case .constant, .words: break
        case .and(let parts), .or(let parts): for part in parts { try check(part, entity, bound: bound) }
        case .not(let part): try check(part, entity, bound: bound)
        case .comparison(let comparison):
            // A substituted variable may have become null, which is no fault: the comparison is then false.
            if let fault = comparison.fault, comparison.right.constant?.isNull != true { throw fault }
            try checkValues(comparison, entity, bound.compactMapValues { $0 })
            try check(comparison.left, entity, bound: bound)
            try check(comparison.right, entity, bound: bound)
        case .block: throw PredicateFault(reason: "a block cannot be asked of a store; use NSPredicate(format:), or filter the results.")
        case .fault(let fault): throw fault
        }
    }

    private static func check(_ node: ExpressionNode, _ entity: NSEntityDescription, bound: Variables) throws {
        switch node {
        case .constant, .keyPath: break
        case .variable(let name): guard bound[name] != nil else { throw PredicateFault.unbound(name) }
        case .path(let base, _): try check(base, entity, bound: bound)
        case .aggregate(let list), .call(_, let list): for part in list { try check(part, entity, bound: bound) }
        case .set(_, let left, let right):
            try check(left, entity, bound: bound)
            try check(right, entity, bound: bound)
        case .subquery(let collection, let name, let predicate):
            try check(collection, entity, bound: bound)
            var inner = bound
            inner.updateValue(PredicatePaths.entity(of: collection, entity, bound.compactMapValues { $0 }), forKey: name)
            try check(predicate, entity, bound: inner)
        case .conditional(let predicate, let first, let second):
            try check(predicate, entity, bound: bound)
            try check(first, entity, bound: bound)
            try check(second, entity, bound: bound)
        case .block(let block, _):
            let what = block.invocation == nil ? "made of a block" : "that fetches, or calls a method of an object,"
            throw PredicateFault(reason: "an expression \(what) cannot be asked of a store.")
        case .fault(let fault): throw fault
        }
    }
}
