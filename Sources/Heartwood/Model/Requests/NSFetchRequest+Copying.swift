import Foundation

extension NSFetchRequest: NSCopying {
    /// Returns an independent request for the same objects. Both share the entity, the predicate and the properties.
    public func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    /// Makes an independent request for the same objects with this result type.
    ///
    /// Use it where code for Apple's platforms has `request as! NSFetchRequest<NSFetchRequestResult>`. Objective-C ignores the result type in such
    /// a cast, but Swift checks it and traps. A later change of one request does not affect the other. Stored properties of a subclass are not
    /// copied.
    public convenience init<Other>(_ request: NSFetchRequest<Other>) {
        self.init(name: request.entityName, objectClass: request.objectClass)
        entity = request.entity
        request.copyTerms(to: self)
    }

    /// An independent request for the same objects.
    /// - Parameter entity: an entity of another model, to replace this request's.
    func duplicate(of entity: NSEntityDescription? = nil) -> NSFetchRequest<ResultType> { duplicate(of: entity, as: ResultType.self) }

    /// An independent request for the same objects with another result type.
    func duplicate<Other>(of entity: NSEntityDescription? = nil, as type: Other.Type) -> NSFetchRequest<Other> {
        let duplicate = NSFetchRequest<Other>(self)
        if let entity { duplicate.entity = entity }
        return duplicate
    }

    /// This request if it has the given result type, otherwise a copy that has it.
    func asking<Other>(for type: Other.Type) -> NSFetchRequest<Other> {
        ResultType.self == type ? unsafeDowncast(self, to: NSFetchRequest<Other>.self) : NSFetchRequest<Other>(self)
    }

    /// Copies everything but the entity to another request.
    func copyTerms<Other>(to other: NSFetchRequest<Other>) {
        other.predicate = predicate
        other.textSearch = textSearch
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
        other.origin = origin
        other.propertiesToFetch = propertiesToFetch
        other.returnsDistinctResults = returnsDistinctResults
        other.propertiesToGroupBy = propertiesToGroupBy
        other.havingPredicate = havingPredicate
    }
}
