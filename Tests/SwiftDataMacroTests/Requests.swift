@testable import HeartwoodSwiftDataExpansions
import Testing

/// A message as the compiler writes it, and what the plugin answers.
struct Request {
    let macro: String
    let role: String
    let declaration: String
    var parent: String?
    /// Nil leaves the list out, as for a subclass of a model.
    var conformances: String? = "PersistentModel, Observable, Sendable"
    var extendedType = "Book"

    var message: [UInt8] {
        var json = JSONText()
        json.raw("{\"expandAttachedMacro\":{\"macro\":{\"moduleName\":\"HeartwoodSwiftDataMacros\",\"typeName\":")
        json.string(macro)
        json.raw("},\"macroRole\":")
        json.string(role)
        node("declSyntax", declaration, &json)
        if let parent { node("parentDeclSyntax", parent, &json) }
        if let conformances { node("conformanceListSyntax", conformances, &json) }
        node("extendedTypeSyntax", extendedType, &json)
        json.raw("}}")
        return json.bytes
    }

    private func node(_ key: String, _ source: String, _ json: inout JSONText) {
        json.raw(",\"\(key)\":{\"kind\":\"declaration\",\"source\":")
        json.string(source)
        json.raw(",\"location\":{\"fileID\":\"A/Book.swift\",\"fileName\":\"/src/Book.swift\",\"line\":3,\"column\":1,\"offset\":100}}")
    }

    func answer() throws -> (source: String?, diagnostics: String) {
        let message = try #require(Message(message))
        let answer = try #require(Message(Plugin.answer(to: message)))
        let result = try #require(answer["expandMacroResult"])
        return (result["expandedSource"]?.string, result["diagnostics"]?.text ?? "")
    }

    static func model(_ declaration: String, conformances: String? = "PersistentModel, Observable, Sendable") throws -> String {
        let answer = try Request(macro: "PersistentModelMacro", role: "member", declaration: declaration, conformances: conformances).answer()
        #expect(answer.diagnostics == "[]")
        return try #require(answer.source)
    }

    /// The sentences of a class's diagnostics with the texts that they are at.
    static func faults(_ declaration: String) throws -> [String] {
        let request = Request(macro: "PersistentModelMacro", role: "member", declaration: declaration)
        let message = try #require(Message(request.message))
        let node = try #require(SyntaxNode(message["expandAttachedMacro"]?["declSyntax"]))
        return ModelMembers.expand(node, conformances: request.conformances).diagnostics.map { diagnostic in
            let rest = declaration.utf8.dropFirst(diagnostic.offset - 100)
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            return "\(diagnostic.message) @ \(String(decoding: line, as: UTF8.self))"
        }
    }

    static func attribute(_ member: String, parent: String = "@Model class Book {}") throws -> String? {
        try Request(macro: "PersistentModelMacro", role: "memberAttribute", declaration: member, parent: parent).answer().source
    }

    static func accessors(_ member: String, macro: String = "PersistedPropertyMacro") throws -> String? {
        try Request(macro: macro, role: "accessor", declaration: member).answer().source
    }

    static func peer(_ member: String) throws -> String? {
        try Request(macro: "PersistedPropertyMacro", role: "peer", declaration: member).answer().source
    }
}

extension String {
    /// The lines that hold a text, without the spaces around.
    func lines(with part: String) -> [String] {
        split(separator: "\n").filter { $0.contains(part) }.map { $0.drop { $0 == " " }.description }
    }
}
