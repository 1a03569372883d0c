/// Reads declarations of a text. What it does not know it passes over, so that it comes to the end of any text.
package struct DeclarationReader {
    package let text: SwiftText
    var index = 0
    /// An attribute at the end of a clause of `#if`.
    private var stray: SwiftAttribute?
    /// How deep `#if` is read. Deeper ones are passed over.
    private static let depthMax = 50

    package init(_ text: SwiftText) {
        self.text = text
    }

    /// What is before the keyword of a declaration.
    struct Lead {
        var first: Int
        var attributes: [SwiftAttribute] = []
        var modifiers: [SwiftModifier] = []
    }

    private static let typeKeywords: Set<String> = ["class", "struct", "enum", "actor", "protocol"]
    private static let modifiers: Set<String> = [
        "public", "open", "package", "internal", "fileprivate", "private", "final", "static", "class", "lazy", "weak", "unowned", "override",
        "required",
        "convenience", "dynamic", "optional", "indirect", "mutating", "nonmutating", "nonisolated", "isolated", "distributed", "infix", "prefix",
        "postfix", "consuming", "borrowing", "async",
    ]

    /// Reads the first type of the text.
    package mutating func type() -> SwiftType? {
        while index < text.count {
            let lead = lead()
            if Self.typeKeywords.contains(text.word(index)), text.isName(index + 1) { return type(lead) }
            index = text.afterClosing(index)
        }
        return nil
    }

    /// Reads the first declaration of the text as a member.
    package mutating func properties() -> [SwiftProperty] {
        let lead = lead()
        guard ["var", "let"].contains(text.word(index)) else { return [] }
        return properties(lead)
    }

    /// The keyword of the first type in the text, from its head: the cost does not depend on the members.
    package static func keyword(of bytes: [UInt8]) -> String? {
        var lexer = SwiftLexer(bytes)
        var depth = 0
        while let token = lexer.next() {
            switch (token.kind, bytes[token.start]) {
            case (.sign, UInt8(ascii: "(")): depth += 1
            case (.sign, UInt8(ascii: ")")): depth -= 1
            case (.sign, UInt8(ascii: "{")) where depth == 0: return nil
            case (.word, _) where depth == 0:
                let word = String(decoding: bytes[token.range], as: UTF8.self)
                if typeKeywords.contains(word) || word == "extension" { return word }
            default: break
            }
        }
        return nil
    }

    private mutating func type(_ lead: Lead) -> SwiftType {
        let keyword = text.word(index)
        let nameToken = index + 1
        index += 2
        var generics: Range<Int>?
        if text.isSign(index, "<"), let end = text.genericArgumentsEnd(from: index) ?? angleEnd(from: index) {
            generics = text.range(index..<end)
            index = end
        }
        var inherited: [String] = []
        if text.isSign(index, ":") {
            repeat {
                index += 1
                let start = index
                while index < text.count, text.word(index) != "where" {
                    let sign = text.sign(index)
                    if sign == UInt8(ascii: ",") || sign == UInt8(ascii: "{") { break }
                    if sign == UInt8(ascii: "<"), let end = text.genericArgumentsEnd(from: index) {
                        index = end
                    } else {
                        index = text.afterClosing(index)
                    }
                }
                if start < index { inherited.append(text.string(text.range(start..<index))) }
            } while text.isSign(index, ",")
        }
        while index < text.count, !text.isSign(index, "{") { index += 1 }
        index += 1
        let members = members(depth: 0)
        if text.isSign(index, "}") { index += 1 }
        return SwiftType(
            keyword: keyword, name: text.text(nameToken), nameToken: nameToken, first: lead.first, attributes: lead.attributes,
            modifiers: lead.modifiers, generics: generics, inherited: inherited, members: members)
    }

    /// The end of a clause of generic parameters, in which `:` may be.
    func angleEnd(from start: Int) -> Int? {
        var (angles, index) = (0, start)
        while index < text.count {
            switch text.sign(index) {
            case UInt8(ascii: "<"): angles += 1
            case UInt8(ascii: ">") where text.sign(index - 1) != UInt8(ascii: "-"): angles -= 1
            case UInt8(ascii: "{"), UInt8(ascii: "}"): return nil
            default: break
            }
            index += 1
            if angles == 0 { return index }
        }
        return nil
    }

    /// Reads attributes and modifiers.
    mutating func lead() -> Lead {
        var lead = Lead(first: index)
        while index < text.count {
            if text.tokens[index].kind == .attribute {
                lead.attributes.append(attribute())
            } else if isModifier(index) {
                let word = text.word(index)
                index += 1
                var argument: String?
                if text.isSign(index, "(") {
                    argument = text.string(text.inside(index))
                    index = text.afterClosing(index)
                }
                lead.modifiers.append(SwiftModifier(word: word, argument: argument))
            } else {
                break
            }
        }
        return lead
    }

    private func isModifier(_ index: Int) -> Bool {
        let word = text.word(index)
        guard Self.modifiers.contains(word) else { return false }
        // `class` before a name is the keyword of a type.
        return word != "class" || ["var", "let", "func", "subscript"].contains(text.word(index + 1)) || Self.modifiers.contains(text.word(index + 1))
    }

    private mutating func attribute() -> SwiftAttribute {
        let first = index
        var name = String(text.text(index).dropFirst())
        index += 1
        while text.isSign(index, "."), text.isName(index + 1) {
            name += "." + text.text(index + 1)
            index += 2
        }
        if text.isSign(index, "<"), let end = text.genericArgumentsEnd(from: index) { index = end }
        var arguments: Range<Int>?
        // The parenthesis of an attribute follows it at once; SE-0071 and the compiler want it so, and `@A (b, c)` may be a type.
        if text.isSign(index, "("), !text.tokens[index].startsLine {
            arguments = text.inside(index)
            index = text.afterClosing(index)
        }
        return SwiftAttribute(name: name, arguments: arguments, tokens: first..<index)
    }

    // MARK: Members

    /// Reads members up to the brace that closes the type, or to the directive that ends a clause of `#if`.
    private mutating func members(depth: Int) -> [SwiftMember] {
        var members: [SwiftMember] = []
        while index < text.count, !text.isSign(index, "}") {
            if text.tokens[index].kind == .directive {
                let word = text.text(index)
                if depth > 0, ["#elseif", "#else", "#endif"].contains(word) { break }
                members.append(directive(word, depth: depth))
                continue
            }
            let lead = lead()
            member(lead, into: &members)
            if depth > 0, index < text.count, text.tokens[index].kind == .directive, let last = lead.attributes.last { stray = last }
        }
        return members
    }

    private mutating func member(_ lead: Lead, into members: inout [SwiftMember]) {
        switch text.word(index) {
        case "var", "let": members += properties(lead).map(SwiftMember.property)
        case "init":
            members.append(.initializer(first: lead.first))
            skipFunction()
        case "func", "subscript", "deinit": skipFunction()
        case "class", "struct", "enum", "actor", "protocol", "extension":
            while index < text.count, !text.isSign(index, "{"), !text.isSign(index, "}") { index += 1 }
            if text.isSign(index, "{") { index = text.afterClosing(index) }
            members.append(.other)
        case "typealias", "associatedtype":
            while index < text.count, !text.isSign(index, "="), !text.tokens[index + 1 < text.count ? index + 1 : index].startsLine { index += 1 }
            index = text.isSign(index, "=") ? text.typeEnd(from: index + 1) : index + 1
        default:
            guard index < text.count, !text.isSign(index, "}"), text.tokens[index].kind != .directive else { return }
            index = text.afterClosing(index)
        }
    }

    /// Skips a head and its body.
    private mutating func skipFunction() {
        index += 1
        while index < text.count, !text.isSign(index, "{"), !text.isSign(index, "}") {
            // A head without a body ends with its line.
            if text.tokens[index].kind == .directive && text.tokens[index].startsLine { return }
            index = text.afterClosing(index)
        }
        if text.isSign(index, "{") { index = text.afterClosing(index) }
    }

    private mutating func directive(_ word: String, depth: Int) -> SwiftMember {
        let first = index
        if word == "#if" { return depth < Self.depthMax ? .conditional(conditional(depth: depth)) : skipConditional() }
        index += 1
        guard !["#elseif", "#else", "#endif", "#sourceLocation", "#warning", "#error"].contains(word) else {
            if text.isSign(index, "(") { index = text.afterClosing(index) }
            return .other
        }
        var name = String(word.dropFirst())
        while text.isSign(index, "."), text.isName(index + 1) {
            name = text.text(index + 1)
            index += 2
        }
        var generics: Range<Int>?
        if text.isSign(index, "<"), let end = text.genericArgumentsEnd(from: index) {
            generics = text.range(index..<end)
            index = end
        }
        var arguments: Range<Int>?
        if text.isSign(index, "(") {
            arguments = text.inside(index)
            index = text.afterClosing(index)
        }
        if text.isSign(index, "{") { index = text.afterClosing(index) }
        return .freestanding(SwiftFreestanding(name: name, generics: generics, arguments: arguments, first: first))
    }

    private mutating func conditional(depth: Int) -> SwiftConditional {
        let first = index
        var clauses: [SwiftConditional.Clause] = []
        while index < text.count, ["#if", "#elseif", "#else"].contains(text.text(index)), clauses.isEmpty || text.text(index) != "#if" {
            let start = index
            index += 1
            // The condition ends with its line, or with the parenthesis that the line opens.
            while index < text.count, !text.tokens[index].startsLine, !text.isSign(index, "}") { index = text.afterClosing(index) }
            let directive = text.string(text.range(start..<index))
            stray = nil
            let members = members(depth: depth + 1)
            clauses.append(.init(directive: directive, members: members, attribute: stray))
        }
        if index < text.count, text.text(index) == "#endif" { index += 1 }
        return SwiftConditional(clauses: clauses, first: first)
    }

    private mutating func skipConditional() -> SwiftMember {
        var depth = 0
        repeat {
            switch text.text(index) {
            case "#if": depth += 1
            case "#endif": depth -= 1
            default: break
            }
            index += 1
        } while depth > 0 && index < text.count
        return .other
    }
}
