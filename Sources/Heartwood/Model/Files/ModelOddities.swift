/// What a model file says that Xcode accepts, and that cannot be meant: it is left out, and `heartwood model` warns of it.
package final class ModelOddities {
    package struct Oddity: Equatable, Sendable {
        /// "Entity" or "Entity.property".
        package let place: String
        package let text: String
    }

    private(set) var list: [Oddity] = []

    func add(_ place: String, _ text: String) { list.append(Oddity(place: place, text: text)) }
}
