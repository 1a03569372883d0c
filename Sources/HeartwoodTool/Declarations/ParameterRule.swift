/// How the options and arguments of a form go together.
struct ParameterRule: Sendable {
    enum Kind: Sendable {
        /// The parameter means nothing without the others.
        case needs
        case excludes
    }

    let kind: Kind
    let parameter: ParameterDeclaration
    let others: [ParameterDeclaration]

    static func needs(_ parameter: any DeclaredParameter, _ other: any DeclaredParameter) -> ParameterRule {
        ParameterRule(kind: .needs, parameter: parameter.declaration, others: [other.declaration])
    }

    static func excludes(_ parameter: any DeclaredParameter, _ others: [any DeclaredParameter]) -> ParameterRule {
        ParameterRule(kind: .excludes, parameter: parameter.declaration, others: others.map(\.declaration))
    }

    /// - Parameter isGiven: whether a command line gives the parameter of a name.
    /// - Throws: an error of usage.
    func check(_ isGiven: (String) -> Bool) throws {
        guard isGiven(parameter.name), let other = others.first(where: { isGiven($0.name) == (kind == .excludes) }) else { return }
        throw ToolError.usage(
            kind == .needs ? "\(parameter.title) needs \(other.title)" : "\(parameter.title) and \(other.title) exclude each other")
    }
}
