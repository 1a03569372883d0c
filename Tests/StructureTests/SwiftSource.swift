/// One Swift file: what it declares that other files can name, and what it names.
struct SwiftSource {
    /// Within its target's folder.
    let path: String
    let tokens: SwiftTokens
    /// Types at the top of the file, and its functions and constants there.
    private(set) var names: Set<String> = []
    /// What types have, by the type: in its declaration and in extensions alike.
    private(set) var members: [String: Set<String>] = [:]
    /// Every name that is declared in the file, local ones and parameters among them.
    private(set) var known: Set<String> = []

    /// The first folder of the path.
    var floor: String { path.firstIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    private enum Scope: Equatable {
        case type(String)
        /// A private type.
        case hidden
        case code
    }

    private static let types: Set<String> = ["class", "struct", "enum", "protocol", "actor", "extension", "typealias", "associatedtype"]
    private static let values: Set<String> = ["func", "var", "let", "case"]

    init(path: String, source: [UInt8]) {
        self.path = path
        tokens = SwiftTokens(source)
        readDeclarations()
    }

    private mutating func readDeclarations() {
        let list = tokens.list
        var scopes: [Scope] = []
        var pending: Scope?
        var isHidden = false, line = 0
        for (index, token) in list.enumerated() {
            // A modifier belongs to the declaration on its line, or on the next one behind an attribute.
            if token.line != line {
                line = token.line
                isHidden = false
            }
            switch token.text {
            case "private", "fileprivate":
                if index + 1 < list.count, list[index + 1].text != "(" { isHidden = true }
            case "{":
                scopes.append(pending ?? .code)
                pending = nil
            case "}": _ = scopes.popLast()
            case ":":
                // A parameter.
                if index > 0 { known.insert(list[index - 1].text) }
            case _ where Self.types.contains(token.text) && !token.isMember && index + 1 < list.count && isDeclaration(list, index):
                let name = list[index + 1].text
                known.insert(name)
                if token.text != "extension" { declare(name, scopes, isHidden) }
                if token.text != "typealias", token.text != "associatedtype" {
                    let isInside = scopes.contains(.code) || scopes.contains(.hidden)
                    pending = isInside || isHidden && token.text != "extension" ? .hidden : .type(name)
                }
            case _ where Self.values.contains(token.text) && !token.isMember && index + 1 < list.count:
                let name = list[index + 1].text
                guard name.first.map({ $0.isLetter || $0 == "_" }) == true else { continue }
                known.insert(name)
                declare(name, scopes, isHidden)
                if token.text == "case", case .type(let type)? = scopes.last { declareCases(of: type, list, index + 2) }
            default: break
            }
        }
    }

    private func isDeclaration(_ list: [SwiftTokens.Token], _ index: Int) -> Bool {
        let next = list[index + 1].text
        guard let first = next.first, first.isLetter || first == "_" else { return false }
        // `class func` and a constraint to classes declare none.
        return !["func", "var", "let", "subscript", "init"].contains(next) && (index == 0 || ![":", "&", ","].contains(list[index - 1].text))
    }

    private mutating func declare(_ name: String, _ scopes: [Scope], _ isHidden: Bool) {
        guard !isHidden else { return }
        switch scopes.last {
        case nil: names.insert(name)
        case .type(let type)?: members[type, default: []].insert(name)
        case .hidden?, .code?: break
        }
    }

    /// The further names of `case a, b(Int), c`.
    private mutating func declareCases(of type: String, _ list: [SwiftTokens.Token], _ start: Int) {
        var depth = 0, index = start
        while index + 1 < list.count {
            let token = list[index]
            if token.text == "(" || token.text == "[" { depth += 1 }
            if token.text == ")" || token.text == "]" { depth -= 1 }
            if depth == 0, token.text == "," {
                members[type, default: []].insert(list[index + 1].text)
                known.insert(list[index + 1].text)
            } else if depth == 0, token.line != list[index + 1].line {
                return
            }
            index += 1
        }
    }
}
