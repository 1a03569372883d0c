import Foundation

/// Fetch requests that a model keeps by name.
extension NSManagedObjectModel {
    /// The template as the model has it, `$VARIABLES` in its predicate and all; nil where there is none of this name.
    ///
    /// Do not change it. A request to execute is made by `fetchRequestFromTemplate(withName:substitutionVariables:)`, or, where the
    /// predicate has no variables, by using the template itself.
    @_disfavoredOverload
    public final func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// The template as a request for results of the type that the caller asks for: of another type than the template's, one of its own. nil
    /// where there is none of this name.
    ///
    /// The compiler takes the type from a cast, so that `model.fetchRequestTemplate(forName: "adults") as? NSFetchRequest<Person>` gives a
    /// request for persons.
    public final func fetchRequestTemplate<ResultType>(forName name: String) -> NSFetchRequest<ResultType>? {
        fetchRequestTemplatesByName[name].map { $0.asking(for: ResultType.self) }
    }

    /// A request of its own made of a template, with values in the place of its predicate's `$VARIABLES`. Variables that are not named
    /// stay, and executing the request throws (134091). nil where there is no template of this name.
    @_disfavoredOverload
    public final func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? { filledTemplate(name, variables) }

    /// The same for results of the type that the caller asks for, which the compiler takes from a cast.
    public final func fetchRequestFromTemplate<ResultType>(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<ResultType>? {
        filledTemplate(name, variables)
    }

    private final func filledTemplate<ResultType>(_ name: String, _ variables: [String: Any]) -> NSFetchRequest<ResultType>? {
        guard let template = fetchRequestTemplatesByName[name] else { return nil }
        let request = NSFetchRequest<ResultType>(template)
        request.predicate = template.predicate?.withSubstitutionVariables(variables)
        return request
    }

    /// Adds a template, replaces the one of this name, or removes it (nil).
    /// - Precondition: no coordinator uses the model.
    public final func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        setTemplate(fetchRequestTemplate, name)
    }
}
