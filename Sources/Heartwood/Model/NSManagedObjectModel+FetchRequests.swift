import Foundation

/// Fetch requests that a model keeps by name.
extension NSManagedObjectModel {
    /// The template as the model has it, `$VARIABLES` in its predicate and all; nil where there is none of this name.
    ///
    /// Do not change it. A request to execute is made by `fetchRequestFromTemplate(withName:substitutionVariables:)`, or, where the
    /// predicate has no variables, by using the template itself.
    public final func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// A request of its own made of a template, with values in the place of its predicate's `$VARIABLES`. Variables that are not named
    /// stay, and executing the request throws (134091). nil where there is no template of this name.
    public final func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let template = fetchRequestTemplatesByName[name] else { return nil }
        let request = template.twin()
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Adds a template, replaces the one of this name, or removes it (nil).
    /// - Precondition: no coordinator uses the model.
    public final func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        setTemplate(fetchRequestTemplate, name)
    }
}

extension NSFetchRequest {
    /// A request that asks the same.
    func twin(of entity: NSEntityDescription? = nil) -> NSFetchRequest<ResultType> {
        let twin = NSFetchRequest<ResultType>(name: entityName, objectClass: objectClass)
        twin.entity = entity ?? self.entity
        copyTerms(to: twin)
        return twin
    }

    /// Has another request ask for the same of its entity, but for what dictionaries alone are made by.
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
    }
}
