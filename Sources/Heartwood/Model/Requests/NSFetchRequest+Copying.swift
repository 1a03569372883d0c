import Foundation

extension NSFetchRequest: NSCopying {
    /// A request of its own that asks the same, with an entity, predicate and properties that are shared.
    public func copy(with zone: NSZone? = nil) -> Any { twin() }

    /// A request of its own that asks the same as another, for results of this type.
    ///
    /// It stands where code for Apple's platforms says `request as! NSFetchRequest<NSFetchRequestResult>`: Objective-C does not look at the
    /// type of results of a class, Swift does, and ends the program. What is set in one of the two later does not show in the other; a
    /// class's own stored properties are not copied.
    public convenience init<Other>(_ request: NSFetchRequest<Other>) {
        self.init(name: request.entityName, objectClass: request.objectClass)
        entity = request.entity
        request.copyTerms(to: self)
    }

    /// A request that asks the same.
    /// - Parameter entity: of another model, in the place of this one's.
    func twin(of entity: NSEntityDescription? = nil) -> NSFetchRequest<ResultType> { twin(of: entity, as: ResultType.self) }

    /// The same, whose results are taken as another type.
    func twin<Other>(of entity: NSEntityDescription? = nil, as type: Other.Type) -> NSFetchRequest<Other> {
        let twin = NSFetchRequest<Other>(self)
        if let entity { twin.entity = entity }
        return twin
    }

    /// This request where its results are of a type, else one of its own that asks the same.
    func asking<Other>(for type: Other.Type) -> NSFetchRequest<Other> {
        ResultType.self == type ? unsafeDowncast(self, to: NSFetchRequest<Other>.self) : NSFetchRequest<Other>(self)
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
        other.storesToAsk = storesToAsk
        other.propertiesToFetch = propertiesToFetch
        other.returnsDistinctResults = returnsDistinctResults
        other.propertiesToGroupBy = propertiesToGroupBy
        other.havingPredicate = havingPredicate
    }
}
