import Foundation

/// The selection that a history request's fetch request makes: transactions or changes, a predicate, an order and a limit.
struct HistoryFilter {
    /// Whether the request asks for changes; it asks for transactions otherwise.
    let isOfChanges: Bool
    private let predicate: PredicateNode?
    private let order: [SortKey]
    private let offset: Int
    private let limit: Int

    /// - Throws: 134091 for an entity, predicate or order that a history cannot answer.
    init(_ request: NSFetchRequest<any NSFetchRequestResult>?) throws {
        let name = request?.entityName ?? HistoryEntities.transaction.name
        guard let entity = [HistoryEntities.transaction, HistoryEntities.change].first(where: { $0.name == name }) else {
            throw CoreDataError.unsupported(
                "A history is asked for transactions or changes, not for \(name ?? "nothing"): use NSPersistentHistoryTransaction.fetchRequest "
                    + "or NSPersistentHistoryChange.fetchRequest.")
        }
        isOfChanges = entity === HistoryEntities.change
        predicate = request?.predicate?.storedNode.rewriting { node, _ in node.namingEntities }
        if let predicate { try PredicateCheck.check(predicate, entity: entity) }
        order = try (request?.sortDescriptors ?? []).map { try SortKey($0, entity: entity) }
        offset = max(0, request?.fetchOffset ?? 0)
        limit = max(0, request?.fetchLimit ?? 0)
    }

    /// The number of matches after which the search can stop.
    var enough: Int { limit == 0 || !order.isEmpty ? .max : offset.addingReportingOverflow(limit).overflow ? .max : offset + limit }

    func holds(for subject: some PredicateSubject) throws -> Bool {
        guard let predicate else { return true }
        do {
            return try predicate.evaluate(subject)
        } catch let fault as PredicateFault {
            throw PredicateCheck.error(fault, predicate)
        }
    }

    /// The members of a list within the request's offset and limit, in its order.
    func window<Element>(_ list: [Element], _ subject: (Element) -> some PredicateSubject) throws -> [Element] {
        var list = list
        if !order.isEmpty {
            let subjects = list.map(subject)
            let indexes = list.indices.sorted { a, b in
                for key in order {
                    let found = key.compare(subjects[a], subjects[b])
                    if found != .orderedSame { return found == .orderedAscending }
                }
                return a < b
            }
            list = indexes.map { list[$0] }
        }
        guard offset > 0 || limit > 0 else { return list }
        return Array(list.dropFirst(offset).prefix(limit == 0 ? .max : limit))
    }
}

extension ExpressionNode {
    /// A change is stored with its entity's name, so an entity in a comparison is replaced by its name.
    fileprivate var namingEntities: ExpressionNode {
        switch self {
        case .keyPath(let keys) where keys.last == "name" && keys.dropLast().last == "changedEntity": .keyPath(Array(keys.dropLast()))
        case .constant(let value): .constant(value.namingEntities)
        default: self
        }
    }
}

extension PredicateValue {
    fileprivate var namingEntities: PredicateValue {
        switch self {
        case .other(let object): (object as? NSEntityDescription)?.name.map(PredicateValue.text) ?? self
        case .collection(let members): .collection(members.map(\.namingEntities))
        default: self
        }
    }
}
