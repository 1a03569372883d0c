/// The switches of one file whose cases are types of attributes, as its text tells.
struct AttributeSwitches {
    /// Cases of `NSAttributeType`, `PropertyKind` and `ColumnType`.
    private static let types: Set<String> = [
        "bool", "int16", "int32", "int64", "float", "double", "decimal", "string", "text", "date", "data", "bytes", "externalData", "value", "uuid",
        "uri", "transformable", "objectID", "undefined",
    ]
    /// Those that no form of a value is called by. A switch without them is over values: a text, a number, null.
    private static let own: Set<String> = ["int16", "int32", "int64", "float", "externalData", "uri", "transformable", "undefined"]
    private static let suffix = "AttributeType"

    /// The lines of switches that name three types or more.
    private(set) var lines: [Int] = []

    init(_ tokens: SwiftTokens) {
        let list = tokens.list
        /// A switch that is not closed: the braces around its cases, its line, and the types that its labels name.
        var open: [(depth: Int, line: Int, names: Set<String>)] = []
        var depth = 0, start: Int?, isLabel = false, brackets = 0
        for (index, token) in list.enumerated() {
            switch token.text {
            case "{":
                depth += 1
                guard let line = start else { continue }
                open.append((depth, line, []))
                start = nil
            case "}":
                if let last = open.last, last.depth == depth {
                    if Self.isOverTypes(last.names) { lines.append(last.line) }
                    open.removeLast()
                }
                depth -= 1
            case "switch" where !token.isMember: start = token.line
            case "case" where !token.isMember:
                // `if case` asks one thing, and belongs to no switch.
                let before = index > 0 ? list[index - 1].text : ""
                isLabel = open.last?.depth == depth && !["if", "guard", "while", "for", ","].contains(before)
                brackets = 0
            case "(", "[": brackets += 1
            case ")", "]": brackets -= 1
            case ":" where brackets == 0: isLabel = false
            case let name where isLabel && token.isMember && !open.isEmpty:
                if name.hasSuffix(Self.suffix) || Self.types.contains(name) { open[open.count - 1].names.insert(name) }
            default: break
            }
        }
    }

    private static func isOverTypes(_ names: Set<String>) -> Bool {
        names.count >= 3 && names.contains { own.contains($0) || $0.hasSuffix(suffix) }
    }
}
