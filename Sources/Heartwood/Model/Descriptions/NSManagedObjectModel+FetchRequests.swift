import Foundation

/// Named fetch requests of a model.
extension NSManagedObjectModel {
    /// The model's own template, with the `$VARIABLES` in its predicate; nil if no template has this name.
    ///
    /// Do not change it. To get a request to execute, call `fetchRequestFromTemplate(withName:substitutionVariables:)`. If the predicate has no
    /// variables, the template itself can be executed.
    @_disfavoredOverload
    public final func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// The template as a request for the caller's result type; nil if no template has this name. If the type differs from the template's, the
    /// request is a copy.
    ///
    /// The compiler infers the type from a cast: `model.fetchRequestTemplate(forName: "adults") as? NSFetchRequest<Person>` gives a request for
    /// persons.
    public final func fetchRequestTemplate<ResultType>(forName name: String) -> NSFetchRequest<ResultType>? {
        fetchRequestTemplatesByName[name].map { $0.asking(for: ResultType.self) }
    }

    /// Makes a request from a template and replaces the `$VARIABLES` of its predicate by values. A variable without a value stays, and executing
    /// the request throws 134091. Returns nil if no template has this name.
    @_disfavoredOverload
    public final func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? { filledTemplate(name, variables) }

    /// Does the same for the caller's result type, which the compiler infers from a cast.
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

    /// Adds a template, replaces the one with this name, or removes it (nil).
    /// - Precondition: no coordinator uses the model.
    public final func setFetchRequestTemplate(_ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String) {
        setTemplate(fetchRequestTemplate, name)
    }
}
