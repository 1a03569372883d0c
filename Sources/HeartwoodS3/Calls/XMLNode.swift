internal import HeartwoodFileReading

/// An element of an answer: its name without a namespace, the text in it, and the elements in it. Attributes are left out.
struct XMLNode: Equatable {
    let name: String
    var text = ""
    var children: [XMLNode] = []

    /// S3's answers nest four levels, and a listing's page has 1000 objects of about ten elements.
    static let depthMax = 32, nodesMax = 200_000

    /// The text of the first child of a name.
    subscript(name: String) -> String? { children.first { $0.name == name }?.text }
    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The root element of an answer.
    static func read(_ bytes: [UInt8]) throws(XMLReader.Fault) -> XMLNode {
        var reader = try XMLReader(bytes, kind: "answers of S3", takesAllCharacters: true)
        // Without recursion, so that no answer can exhaust a thread's stack. The first node holds the root.
        var open = [XMLNode(name: "")], nodes = 0
        while let event = try reader.next() {
            switch event {
            case .start(let name, _):
                nodes += 1
                guard open.count <= depthMax, nodes <= nodesMax else { throw reader.refusal("has more elements than an answer of S3") }
                open.append(XMLNode(name: name.split(separator: ":").last.map(String.init) ?? name))
            case .text(let text): open[open.count - 1].text += text
            case .end:
                let node = open.removeLast()
                open[open.count - 1].children.append(node)
            }
        }
        return open[0].children[0]
    }
}
