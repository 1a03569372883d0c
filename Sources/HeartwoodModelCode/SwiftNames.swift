/// Converts names and types from a model file to code.
package enum SwiftNames {
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout", "internal", "let",
        "open", "operator", "private", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias", "var", "break",
        "case", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch",
        "where", "while", "as", "Any", "catch", "precedencegroup", "false", "is", "nil", "super", "self", "Self", "throw", "throws", "true",
        "try", "Type", "Protocol",
    ]

    /// Whether the text is an identifier; a keyword is one in backticks.
    package static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first == "_", text != "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .format }
    }

    package static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Replaces the qualified names in a type.
    /// - Parameters:
    ///   - text: the type, without spaces.
    ///   - replacement: returns nil for a name that stays.
    static func replacingPaths(in text: String, by replacement: ([String]) -> String?) -> String {
        var result = ""
        var rest = text[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            if !name.isEmpty { result += replacement(name.split(separator: ".").map(String.init)) ?? String(name) }
            rest = rest.dropFirst(name.count)
            if let sign = rest.popFirst() { result.append(sign) }
        }
        return result
    }

    /// Returns a name for a message, escaped and shortened: a text that is no identifier may contain line breaks and be long.
    package static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(80).map { scalar in
            [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return scalars.joined() + (text.unicodeScalars.count > 80 ? "…" : "")
    }

    /// Returns a type as code: qualified names with their arguments, arrays, dictionaries, optionals. Removes a leading point, which stands for the
    /// current module.
    /// - Returns: nil where the text is no such type.
    package static func type(_ text: String) -> String? {
        var reader = TypeReader(rest: Substring(text))
        _ = reader.take(".")
        guard let type = reader.type(depth: 0), reader.isAtEnd else { return nil }
        return type
    }

    private struct TypeReader {
        var rest: Substring

        private static let depthMax = 16

        var isAtEnd: Bool { rest.allSatisfy { $0 == " " } }

        mutating func take(_ sign: Character) -> Bool {
            rest = rest.drop { $0 == " " }
            guard rest.first == sign else { return false }
            rest.removeFirst()
            return true
        }

        mutating func type(depth: Int) -> String? {
            guard depth < Self.depthMax, var type = take("[") ? collection(depth: depth + 1) : named(depth: depth + 1) else { return nil }
            if take("?") { type += "?" }
            return type
        }

        private mutating func collection(depth: Int) -> String? {
            guard let first = type(depth: depth) else { return nil }
            guard take(":") else { return take("]") ? "[\(first)]" : nil }
            guard let value = type(depth: depth), take("]") else { return nil }
            return "[\(first): \(value)]"
        }

        private mutating func named(depth: Int) -> String? {
            var code = ""
            repeat {
                rest = rest.drop { $0 == " " }
                let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
                guard isIdentifier(name) else { return nil }
                rest = rest.dropFirst(name.count)
                // `Any` is a type itself. Any other keyword is a name and needs backticks.
                code += (code.isEmpty ? "" : ".") + (name == "Any" ? name : escaped(name))
            } while take(".")
            guard take("<") else { return code }
            var arguments: [String] = []
            repeat {
                guard let argument = type(depth: depth) else { return nil }
                arguments.append(argument)
            } while take(",")
            return take(">") ? "\(code)<\(arguments.joined(separator: ", "))>" : nil
        }
    }
}
