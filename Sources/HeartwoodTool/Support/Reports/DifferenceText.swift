import Foundation
import Heartwood

/// Writes the objects that two states of a store do not have alike, for people or for programs.
enum DifferenceText {
    static func lines(_ object: ObjectDifference, _ excerpt: Excerpt = .line) -> [String] {
        let sign = switch object.kind {
        case .inserted: "+"
        case .updated: "*"
        case .deleted: "-"
        }
        return ["\(sign) \(object.entity)  \(object.object)"] + object.properties.map { "    \($0.name): \(text($0.change, object.kind, excerpt))" }
    }

    static func paint(_ kind: ObjectDifference.Kind) -> Paint {
        switch kind {
        case .inserted: .good
        case .updated: .changed
        case .deleted: .bad
        }
    }

    private static func text(_ change: PropertyDifference.Change, _ kind: ObjectDifference.Kind, _ excerpt: Excerpt) -> String {
        func joined(_ members: [String]) -> String? { members.isEmpty ? nil : excerpt.members(members).joined(separator: " ") }
        return switch change {
        case .attribute(let old, let new): sides(old.map { text($0, excerpt) }, new.map { text($0, excerpt) }, kind)
        case .toOne(let old, let new): sides(old, new, kind)
        case .members(let added, let removed): excerpt.members(removed.map { "-\($0)" } + added.map { "+\($0)" }).joined(separator: " ")
        case .order(let old, let new): sides(joined(old), joined(new), kind)
        }
    }

    /// The texts of both sides; nil stands for null, and for members that did not come or go.
    static func sides(_ change: PropertyDifference.Change) -> (old: String?, new: String?) {
        func joined(_ members: [String]) -> String? { members.isEmpty ? nil : members.joined(separator: " ") }
        return switch change {
        case .attribute(let old, let new): (old.map { text($0, .line) }, new.map { text($0, .line) })
        case .toOne(let old, let new): (old, new)
        case .members(let added, let removed): (joined(removed), joined(added))
        case .order(let old, let new): (joined(old), joined(new))
        }
    }

    private static func sides(_ old: String?, _ new: String?, _ kind: ObjectDifference.Kind) -> String {
        switch kind {
        case .inserted: new ?? "nil"
        case .deleted: old ?? "nil"
        case .updated: "\(old ?? "nil") -> \(new ?? "nil")"
        }
    }

    private static func text(_ value: PropertyDifference.Value, _ excerpt: Excerpt) -> String {
        let json = json(value), text = excerpt.text(AttributeText.text(json))
        guard case .text = json, value.object is String else { return text }
        return "\"\(text)\""
    }

    // MARK: JSON

    static func json(_ object: ObjectDifference) -> JSONValue {
        .object([
            "change": .text(object.kind.rawValue), "entity": .text(object.entity), "object": .text(object.object),
            "properties": .object(Dictionary(object.properties.map { ($0.name, json($0.change)) }) { first, _ in first }),
        ])
    }

    /// Leaves null out.
    private static func json(_ change: PropertyDifference.Change) -> JSONValue {
        var members: [String: JSONValue] = [:]
        switch change {
        case .attribute(let old, let new): (members["old"], members["new"]) = (old.map(json), new.map(json))
        case .toOne(let old, let new): (members["old"], members["new"]) = (old.map(JSONValue.text), new.map(JSONValue.text))
        case .members(let added, let removed): (members["added"], members["removed"]) = (list(added), list(removed))
        case .order(let old, let new): (members["old"], members["new"]) = (list(old), list(new))
        }
        return .object(members)
    }

    private static func list(_ texts: [String]) -> JSONValue { .list(texts.map(JSONValue.text)) }

    private static func json(_ value: PropertyDifference.Value) -> JSONValue {
        if let bytes = value.bytes { return AttributeText.json(value.object, transformable: value.attribute, bytes: bytes) }
        return value.object.map(AttributeText.json) ?? .text("")
    }
}
