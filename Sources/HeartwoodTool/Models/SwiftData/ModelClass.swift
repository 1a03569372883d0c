import Foundation
import Heartwood
import HeartwoodModelCode

/// A stored property of a generated class.
struct ModelClassProperty {
    let name: String
    let type: String
    /// Code; nil for a property that the initializer sets, or that is nil at first.
    var initial: String?
    /// `@Attribute(…)` or `@Relationship(…)`; nil for none.
    var attribute: String?
    /// What the model says of the property and a class cannot say.
    var unsaid: [String] = []

    var isOptional: Bool { type.hasSuffix("?") }
    var isParameter: Bool { initial == nil && !isOptional }

    var lines: [String] {
        let declaration = "public var \(SwiftNames.escaped(name)): \(type)" + (initial.map { " = \($0)" } ?? "")
        return ModelClass.comments(unsaid, before: "    ") + ["    " + [attribute, declaration].compactMap(\.self).joined(separator: " ")]
    }
}

/// The class of one entity.
struct ModelClass {
    let name: String
    /// The class above; nil for none.
    let parent: String?
    let isFinal: Bool
    /// `#Unique` and `#Index`.
    var macros: [String] = []
    var properties: [ModelClassProperty] = []
    /// What the model says of the entity and a class cannot say.
    var unsaid: [String] = []
    /// The structures of composites, as code.
    var structures: [String] = []

    /// - Parameter inherited: the parameters of the initializer above.
    func text(inherited: [ModelClassProperty]) -> String {
        let code = SwiftNames.escaped(name)
        var lines = [Self.heading, "", "import Foundation", "import SwiftData", ""] + Self.comments(unsaid, before: "")
        lines.append("@Model\npublic \(isFinal ? "final " : "")class \(code)\(parent.map { ": \(SwiftNames.escaped($0))" } ?? "") {")
        for macro in macros { lines.append("    \(macro)") }
        if !macros.isEmpty { lines.append("") }
        for property in properties { lines += property.lines }
        if !properties.isEmpty { lines.append("") }
        lines += initializer(inherited) + ["}"]
        for structure in structures { lines += ["", structure] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let heading = "// Made by heartwood generate --swiftdata. Changes are lost when it runs again."

    static func comments(_ unsaid: [String], before: String) -> [String] { unsaid.map { "\(before)// SwiftData cannot say: \($0)." } }

    private func initializer(_ inherited: [ModelClassProperty]) -> [String] {
        let own = properties.filter(\.isParameter)
        let parameters = (inherited + own).map { "\(SwiftNames.escaped($0.name)): \($0.type)" }
        let kind = parent != nil && own.isEmpty ? "override " : ""
        var body = own.map { "        self.\(SwiftNames.escaped($0.name)) = \(SwiftNames.escaped($0.name))" }
        if parent != nil {
            let arguments = inherited.map { "\(SwiftNames.escaped($0.name)): \(SwiftNames.escaped($0.name))" }
            body.append("        super.init(\(arguments.joined(separator: ", ")))")
        }
        let head = "    public \(kind)init(\(parameters.joined(separator: ", "))) {"
        return body.isEmpty ? [head + "}"] : [head] + body + ["    }"]
    }
}
