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
