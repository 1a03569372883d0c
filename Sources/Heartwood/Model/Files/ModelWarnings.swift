/// Statements in a model file that Xcode accepts but that make no sense. They are left out, and `heartwood model` warns of them.
package final class ModelWarnings {
    package struct Warning: Equatable, Sendable {
        /// "Entity" or "Entity.property".
        package let element: String
        package let text: String
    }

    private(set) var list: [Warning] = []

    func add(_ element: String, _ text: String) { list.append(Warning(element: element, text: text)) }
}
