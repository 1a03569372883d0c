import Foundation

extension NSFetchRequest: NSCopying {
    /// A request of its own that asks the same, with an entity, predicate and properties that are shared.
    public func copy(with zone: NSZone? = nil) -> Any { twin() }

    /// A request that asks the same.
    /// - Parameter entity: of another model, in the place of this one's.
    func twin(of entity: NSEntityDescription? = nil) -> NSFetchRequest<ResultType> { twin(of: entity, as: ResultType.self) }

    /// The same, whose results are taken as another type.
    func twin<Other>(of entity: NSEntityDescription? = nil, as type: Other.Type) -> NSFetchRequest<Other> {
        let twin = NSFetchRequest<Other>(name: entityName, objectClass: objectClass)
        twin.entity = entity ?? self.entity
        copyTerms(to: twin)
        return twin
    }

    /// Has another request ask for the same of its entity.
    func copyTerms<Other>(to other: NSFetchRequest<Other>) {
        other.predicate = predicate
        other.sortDescriptors = sortDescriptors
        other.fetchLimit = fetchLimit
        other.fetchOffset = fetchOffset
        other.fetchBatchSize = fetchBatchSize
        other.resultType = resultType
        other.includesSubentities = includesSubentities
        other.includesPendingChanges = includesPendingChanges
        other.includesPropertyValues = includesPropertyValues
        other.returnsObjectsAsFaults = returnsObjectsAsFaults
        other.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        other.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        other.affectedStores = affectedStores
        other.propertiesToFetch = propertiesToFetch
        other.returnsDistinctResults = returnsDistinctResults
        other.propertiesToGroupBy = propertiesToGroupBy
        other.havingPredicate = havingPredicate
    }
}
