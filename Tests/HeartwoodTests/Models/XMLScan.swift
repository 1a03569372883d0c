/// A plain scan of XML's tags for counting. It knows no schema, and shares no code with the parser that it checks.
struct XMLScan {
    struct Tag {
        let name: String
        let attributes: [String: String]
        /// The names of the enclosing elements, outermost first.
        let within: [String]
        /// The `name` of the nearest enclosing entity or composite.
        let owner: String?
    }

    private(set) var tags: [Tag] = []

    init(_ text: String) {
        var open: [(name: String, title: String?)] = []
        for part in text.split(separator: "<").dropFirst() {
            guard let end = part.lastIndex(of: ">"), let first = part.first, first != "?", first != "!" else { continue }
            let inside = part[..<end]
            if first == "/" {
                open.removeLast()
                continue
            }
            let isClosed = inside.hasSuffix("/")
            let name = String(inside.prefix { !$0.isWhitespace && $0 != "/" })
            var attributes: [String: String] = [:]
            var rest = inside.dropFirst(name.count)
            while let equals = rest.firstIndex(of: "=") {
                let key = rest[..<equals].drop { $0.isWhitespace }
                rest = rest[rest.index(equals, offsetBy: 2)...]
                guard let quote = rest.firstIndex(of: "\"") else { break }
                attributes[String(key)] = String(rest[..<quote])
                rest = rest[rest.index(after: quote)...]
            }
            let owner = open.last { $0.name == "entity" || $0.name == "composite" }?.title
            tags.append(Tag(name: name, attributes: attributes, within: open.map(\.name), owner: owner))
            if !isClosed { open.append((name, attributes["name"])) }
        }
    }

    func of(_ name: String, in owner: String? = nil) -> [Tag] { tags.filter { $0.name == name && (owner == nil || $0.owner == owner) } }
}
