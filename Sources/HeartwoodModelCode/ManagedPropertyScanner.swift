/// Finds classes and their `@NSManaged` properties in Swift text. It is no parser: it follows braces and the first words of declarations.
struct ManagedPropertyScanner {
    struct Property {
        /// The type's path, as an extension names it or as declarations are nested.
        let owner: [String]
        let name: String
        /// The written type, without spaces.
        var type: String
        let access: Access
        let file: String
        let line: Int
    }

    struct Function {
        let owner: [String]
        let name: String
        var parameters: [MemberFunction.Parameter]
        let access: Access
        let file: String
        let line: Int
    }

    struct Declared {
        let path: [String]
        /// The mangling's letter, C, V or O; nil for a protocol.
        let kind: Character?
        let access: Access
    }

    struct Alias {
        let path: [String]
        /// The written type, without spaces.
        let type: String
    }

    enum Access: Int, Comparable {
        case `private`, `internal`, `public`

        static func < (a: Access, b: Access) -> Bool { a.rawValue < b.rawValue }

        init?(_ word: String) {
            switch word {
            case "private", "fileprivate": self = .private
            case "internal", "package": self = .internal
            case "public", "open": self = .public
            default: return nil
            }
        }
    }

    /// A declaration that the scanner does not support.
    struct Problem {
        let file: String
        let line: Int
        let message: String
    }

    private struct Scope {
        let path: [String]?
        let memberAccess: Access
        /// Whether the scope is inside of a function, where other files see no type.
        var isLocal = false
    }

    private let file: String
    private let module: String
    private let tokens: [SwiftTokens.Token]
    private(set) var properties: [Property] = []
    private(set) var functions: [Function] = []
    private(set) var types: [Declared] = []
    private(set) var aliases: [Alias] = []
    private(set) var problems: [Problem] = []
    /// Properties and functions of classes inside of functions.
    private(set) var skipped: [Problem] = []

    /// - Parameter module: the text's module, with which an extension may qualify a class.
    init(_ text: String, file: String, module: String) {
        self.file = file
        self.module = module
        tokens = SwiftTokens.of(text)
        scan()
    }

    private mutating func scan() {
        var scopes: [Scope] = []
        var opening: Scope?
        var index = 0
        while index < tokens.count {
            let word = tokens[index].text
            switch word {
            case "{":
                scopes.append(opening ?? Scope(path: nil, memberAccess: .internal, isLocal: true))
                opening = nil
            case "}": _ = scopes.popLast()
            case "class", "struct", "enum", "actor", "protocol", "extension":
                if let found = declaration(at: index, inside: scopes.last) {
                    opening = found.scope
                    index = found.next
                    continue
                }
            case "@NSManaged":
                index = managed(at: index, inside: scopes.last)
                continue
            case "typealias" where index + 2 < tokens.count && tokens[index + 2].text == "=":
                // A type alias inside a function is not visible outside.
                guard scopes.isEmpty || scopes.last?.path != nil else { break }
                let (type, next) = type(from: index + 3)
                aliases.append(Alias(path: (scopes.last?.path ?? []) + [tokens[index + 1].text], type: type))
                index = next
                continue
            default: break
            }
            index += 1
        }
    }

    /// Returns the access that the modifiers before a declaration state; nil for none.
    private func access(before index: Int) -> Access? {
        var position = index - 1
        let modifiers: Set<String> = ["final", "public", "open", "internal", "package", "private", "fileprivate", "indirect", "dynamic"]
        while position >= 0, modifiers.contains(tokens[position].text) {
            if let access = Access(tokens[position].text) { return access }
            position -= 1
        }
        return nil
    }

    private mutating func declaration(at index: Int, inside outer: Scope?) -> (scope: Scope, next: Int)? {
        let keyword = tokens[index].text
        guard index + 1 < tokens.count, let first = tokens[index + 1].text.first, first.isLetter || first == "_",
            index == 0 || ![".", "("].contains(tokens[index - 1].text),
            !["func", "var", "let", "subscript", "override", "final", "private", "public"].contains(tokens[index + 1].text)
        else { return nil }
        var path = [tokens[index + 1].text]
        var next = index + 2
        while next + 1 < tokens.count, tokens[next].text == "." {
            path.append(tokens[next + 1].text)
            next += 2
        }
        let declared = access(before: index)
        if keyword == "extension", path.count > 1, path[0] == module { path.removeFirst() }
        guard keyword != "extension" else { return (Scope(path: path, memberAccess: declared ?? .internal), next) }
        let full = (outer?.path ?? []) + path
        let kinds: [String: Character] = ["class": "C", "actor": "C", "struct": "V", "enum": "O"]
        guard outer?.isLocal != true else { return (Scope(path: full, memberAccess: .internal, isLocal: true), next) }
        types.append(Declared(path: full, kind: kinds[keyword], access: declared ?? outer?.memberAccess ?? .internal))
        return (Scope(path: full, memberAccess: .internal), next)
    }

    // MARK: Properties

    private mutating func managed(at start: Int, inside scope: Scope?) -> Int {
        var index = start + 1
        var declared = access(before: start)
        while index < tokens.count, !["var", "func", "let", "}"].contains(tokens[index].text) {
            if let access = Access(tokens[index].text) {
                // private(set) applies to the setter.
                if index + 1 < tokens.count, tokens[index + 1].text == "(" { index += 3 } else { declared = access }
            }
            index += 1
        }
        let line = tokens[start].line
        guard let owner = scope?.path, index + 1 < tokens.count else {
            problems.append(Problem(file: file, line: line, message: "@NSManaged stands outside of a class."))
            return index + 1
        }
        if scope?.isLocal == true {
            let name = owner.joined(separator: ".") + "." + tokens[index + 1].text
            skipped.append(Problem(file: file, line: line, message: "@NSManaged \(name): the class is inside of a function, where no other file can "
                + "name it, and gets no accessors; the linker will miss them. Move the class out."))
            return index + 2
        }
        let access = declared ?? scope?.memberAccess ?? .internal
        if tokens[index].text == "func" { return function(at: index + 1, Function(
            owner: owner, name: tokens[index + 1].text, parameters: [], access: access, file: file, line: line)) }
        guard tokens[index].text == "var" else {
            problems.append(Problem(file: file, line: line, message: "@NSManaged cannot be served here, only on a var or a function."))
            return index + 1
        }
        var names: [(String, Int)] = []
        repeat {
            index += 1
            guard index < tokens.count else { break }
            names.append((tokens[index].text, tokens[index].line))
            index += 1
            guard index < tokens.count, tokens[index].text == ":" else { continue }
            let (type, next) = type(from: index + 1)
            index = next
            for (name, line) in names {
                properties.append(Property(owner: owner, name: name, type: type, access: access, file: file, line: line))
            }
            names = []
        } while index < tokens.count && tokens[index].text == ","
        return index
    }

    private mutating func function(at start: Int, _ declared: Function) -> Int {
        var index = start + 1
        var parameters: [MemberFunction.Parameter] = []
        while index + 1 < tokens.count, tokens[index].text == "(" || tokens[index].text == "," {
            let label = tokens[index + 1].text
            guard label != ")", let colon = tokens[index...].firstIndex(where: { $0.text == ":" }) else { break }
            let (type, next) = type(from: colon + 1)
            parameters.append(.init(label: label, name: tokens[colon - 1].text, type: type))
            index = next
        }
        functions.append(Function(
            owner: declared.owner, name: declared.name, parameters: parameters, access: declared.access, file: declared.file, line: declared.line))
        return index
    }

    private func type(from start: Int) -> (text: String, next: Int) {
        var text = ""
        var depth = 0
        var index = start
        while index < tokens.count {
            let token = tokens[index]
            if depth == 0, index > start, token.startsLine && token.text != "." && token.text != "?" { break }
            if depth == 0, [",", ";", "{", "}", "=", "@"].contains(token.text) || token.text.hasPrefix("@") { break }
            if depth == 0, token.text == ")" { break }
            if ["[", "<", "("].contains(token.text) { depth += 1 }
            if ["]", ">", ")"].contains(token.text) { depth -= 1 }
            if token.text == "any" { text += "any " } else { text += token.text }
            index += 1
        }
        return (text, index)
    }
}
