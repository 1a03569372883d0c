/// An element of an answer: its name without a namespace, the text in it, and the elements in it. Attributes are left out.
struct XMLNode: Equatable {
    let name: String
    var text = ""
    var children: [XMLNode] = []

    /// The text of the first child of a name.
    subscript(name: String) -> String? { children.first { $0.name == name }?.text }
    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }
}
