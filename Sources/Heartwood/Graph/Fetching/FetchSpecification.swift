import Foundation

/// A fetch request without its generic parameter.
struct FetchSpecification {
    var entity: NSEntityDescription
    /// nil for every object.
    private(set) var condition: FetchCondition?
    var sort: [SortKey]
    var limit: Int
    var offset: Int
    var includesSubentities: Bool
    var includesPendingChanges: Bool
    var returnsObjectsAsFaults: Bool
    var affectedStores: [NSPersistentStore]?
    var readiness = FetchReadiness()
    /// nil if the fetch returns objects.
    var shape: ResultShape?
    let request: NSPersistentStoreRequest
    let wantsIDs: Bool
    /// The paths of the values that the fetch gives besides its objects.
    var columns: [[String]] = []
    /// The search whose relevance is the order, which takes the place of `sort`; nil for another order.
    var relevance: WordCondition?

    /// - Parameter isList: whether a list needs the order of the sort descriptors.
    init<ResultType>(_ request: NSFetchRequest<ResultType>, context: NSManagedObjectContext, isList: Bool = false) throws {
        let entity = try Self.entity(of: request, context: context)
        self.entity = entity
        self.request = request
        wantsIDs = request.resultType.contains(.managedObjectIDResultType)
        condition = try request.predicate.map { try Self.condition($0, entity) }
        if request.resultType.contains(.dictionaryResultType) {
            let shape = try ResultShape(request, entity)
            sort = shape.sort
            self.shape = shape
        } else {
            try ResultShape.checkAbsence(in: request, entity)
            sort = try context.queries.orders.keys(of: request.sortDescriptors ?? [], entity)
        }
        limit = max(request.fetchLimit, 0)
        offset = max(request.fetchOffset, 0)
        includesSubentities = request.includesSubentities
        includesPendingChanges = request.includesPendingChanges
        returnsObjectsAsFaults = request.returnsObjectsAsFaults
        affectedStores = request.affectedStores
        readiness = try FetchReadiness(request, entity)
        if let search = request.textSearch {
            let condition = try search.condition(of: entity)
            predicate = .and([.words(condition)] + (predicate.map { [$0] } ?? []))
            if search.sortsByRelevance, shape?.isPlain ?? true, !isList {
                sort = []
                // Without a word that counts, all are equally relevant.
                if condition.query.words.contains(where: { !$0.isPrefix }) { relevance = condition }
            }
        }
    }

    /// The condition as a tree.
    var predicate: PredicateNode? {
        get { condition?.node }
        set { condition = newValue.map { FetchCondition($0) } }
    }

    /// - Throws: for a predicate that no store can evaluate.
    private static func condition(_ predicate: Foundation.NSPredicate, _ entity: NSEntityDescription) throws -> FetchCondition {
        guard entity.isImmutable, let tree = predicate.formatTree, let number = tree.number else {
            let node = predicate.storedNode.joiningComposites(of: entity)
            try PredicateCheck.check(node, entity: entity)
            return FetchCondition(node.folded.matchingColumns(of: entity))
        }
        try entity.formatChecks.check(number) { try PredicateCheck.check(tree.node.joiningComposites(of: entity), entity: entity) }
        let condition = FetchCondition(tree, entity)
        // Functions are folded now, so that all objects meet one `now()`.
        return tree.conditions == nil ? FetchCondition(condition.node) : condition
    }

    static func entity<ResultType>(
        of request: NSFetchRequest<ResultType>, context: NSManagedObjectContext
    ) throws -> NSEntityDescription {
        if let entity = request.entity {
            guard let coordinator = context.coordinator else { return entity }
            // Checked here, because the subentities of another version's entity may equal the model's own, and would be fetched.
            guard let own = coordinator.ownEntity(for: entity) else { throw CoreDataError.noStore(for: entity) }
            return own
        }
        if let objectClass = request.objectClass as? NSManagedObject.Type { return objectClass.entity(in: context) }
        guard let name = request.entityName else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "A fetch request must have an entity.")
        }
        return try context.entity(named: name, before: "fetching")
    }

    /// Whether an object in memory satisfies the predicate.
    func holds(_ object: NSManagedObject) throws -> Bool {
        guard let predicate else { return true }
        do {
            return try predicate.evaluate(object)
        } catch let fault as PredicateFault {
            throw PredicateCheck.error(fault, predicate)
        }
    }

    /// The entities whose objects the fetch returns.
    var concreteEntities: [NSEntityDescription] {
        includesSubentities ? entity.concreteFamily : entity.isAbstract ? [] : [entity]
    }
}

extension FetchSpecification {
    /// The entities whose objects the predicate, the order and the columns read, besides the objects that the fetch returns.
    var entitiesAlong: Set<ObjectIdentifier> {
        var result: Set<ObjectIdentifier> = []
        func follow(_ owners: [NSEntityDescription], _ path: [String]) {
            var owners = owners
            for key in path where !key.hasPrefix("@") && key.lowercased() != "self" {
                owners = owners.destinations(of: key)
                if owners.isEmpty { return }
                for owner in owners { result.formUnion(owner.concreteFamily.map(ObjectIdentifier.init)) }
            }
        }
        if let predicate {
            try? PredicatePaths.traverse(predicate, entity: entity) { path in
                if path.keys.count > 1 || !path.isDirect { follow(path.owners, path.keys) }
            }
        }
        for path in sort.map(\.path) + columns where path.count > 1 { follow([entity], path) }
        return result
    }
}
