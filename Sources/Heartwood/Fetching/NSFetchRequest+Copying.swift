import Foundation

extension NSFetchRequest: NSCopying {
    /// A request of its own that asks the same, with an entity, predicate and properties that are shared.
    public func copy(with zone: NSZone? = nil) -> Any { twin() }

    /// A request that asks the same.
    /// - Parameter entity: of another model, in the place of this one's.
    func twin(of entity: NSEntityDescription? = nil) -> NSFetchRequest<ResultType> {
        let twin = NSFetchRequest<ResultType>(name: entityName, objectClass: objectClass)
        twin.entity = entity ?? self.entity
        copyTerms(to: twin)
        return twin
    }

    /// A request that asks the same, for results as another type.
    func retyped<Other>() -> NSFetchRequest<Other> {
        let request = NSFetchRequest<Other>(name: givenName, objectClass: objectClass)
        request.entity = entity
        copyTerms(to: request)
        return request
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
