internal import HeartwoodSwiftText

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
    private let text: SwiftText
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
        self.text = SwiftText(text)
        scan()
    }

    /// The token's text. A name in backticks is no keyword, and a literal is nothing.
    private func word(_ index: Int) -> String {
        switch index < text.count ? text.tokens[index].kind : .string {
        case .word, .attribute, .directive, .sign: return text.text(index)
        case .quotedWord, .string, .pattern: return ""
        }
    }

    private func name(_ index: Int) -> String {
        let name = text.text(index)
        return name.first == "`" ? String(name.dropFirst().dropLast()) : name
    }

    private mutating func scan() {
        var scopes: [Scope] = []
        var opening: Scope?
        var index = 0
        while index < text.count {
            switch word(index) {
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
            case "typealias" where word(index + 2) == "=":
                // A type alias inside a function is not visible outside.
                guard scopes.isEmpty || scopes.last?.path != nil else { break }
                let (type, next) = type(from: index + 3)
                aliases.append(Alias(path: (scopes.last?.path ?? []) + [name(index + 1)], type: type))
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
        while position >= 0, modifiers.contains(word(position)) {
            if let access = Access(word(position)) { return access }
            position -= 1
        }
        return nil
    }

    private mutating func declaration(at index: Int, inside outer: Scope?) -> (scope: Scope, next: Int)? {
        let keyword = word(index)
        guard text.isName(index + 1),
            index == 0 || ![".", "("].contains(word(index - 1)),
            !["func", "var", "let", "subscript", "override", "final", "private", "public"].contains(word(index + 1))
        else { return nil }
        var path = [name(index + 1)]
        var next = index + 2
        while next + 1 < text.count, word(next) == "." {
            path.append(name(next + 1))
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
        while index < text.count, !["var", "func", "let", "}"].contains(word(index)) {
            if let access = Access(word(index)) {
                // private(set) applies to the setter.
                if index + 1 < text.count, word(index + 1) == "(" { index += 3 } else { declared = access }
            }
            index += 1
        }
        let line = text.tokens[start].line
        guard let owner = scope?.path, index + 1 < text.count else {
            problems.append(Problem(file: file, line: line, message: "@NSManaged stands outside of a class."))
            return index + 1
        }
        if scope?.isLocal == true {
            let name = owner.joined(separator: ".") + "." + name(index + 1)
            skipped.append(Problem(file: file, line: line, message: "@NSManaged \(name): the class is inside of a function, where no other file can "
                + "name it, and gets no accessors; the linker will miss them. Move the class out."))
            return index + 2
        }
        let access = declared ?? scope?.memberAccess ?? .internal
        if word(index) == "func" { return function(at: index + 1, Function(
            owner: owner, name: name(index + 1), parameters: [], access: access, file: file, line: line)) }
        guard word(index) == "var" else {
            problems.append(Problem(file: file, line: line, message: "@NSManaged cannot be served here, only on a var or a function."))
            return index + 1
        }
        var names: [(String, Int)] = []
        repeat {
            index += 1
            guard index < text.count else { break }
            names.append((name(index), text.tokens[index].line))
            index += 1
            guard index < text.count, word(index) == ":" else { continue }
            let (type, next) = type(from: index + 1)
            index = next
            for (name, line) in names {
                properties.append(Property(owner: owner, name: name, type: type, access: access, file: file, line: line))
            }
            names = []
        } while index < text.count && word(index) == ","
        return index
    }

    private mutating func function(at start: Int, _ declared: Function) -> Int {
        var index = start + 1
        var parameters: [MemberFunction.Parameter] = []
        while index + 1 < text.count, word(index) == "(" || word(index) == "," {
            let label = name(index + 1)
            guard label != ")", let colon = (index..<text.count).first(where: { text.isSign($0, ":") }) else { break }
            let (type, next) = type(from: colon + 1)
            parameters.append(.init(label: label, name: name(colon - 1), type: type))
            index = next
        }
        functions.append(Function(
            owner: declared.owner, name: declared.name, parameters: parameters, access: declared.access, file: declared.file, line: declared.line))
        return index
    }

    /// The type from an index, without spaces, and the index after it.
    private func type(from start: Int) -> (text: String, next: Int) {
        let end = text.typeEnd(from: start)
        return ((start..<max(start, end)).map { word($0) == "any" ? "any " : text.tokens[$0].kind == .quotedWord ? name($0) : word($0) }.joined(), end)
    }
}
