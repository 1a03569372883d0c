import Foundation
import Heartwood

/// Shows one object to a person: a line for each property.
enum ObjectText {
    static func lines(_ object: NSManagedObject, _ excerpt: Excerpt) -> [String] {
        let properties = RecordWriter(entity: object.entity).properties(of: object, membersMax: excerpt.membersMax)
        let width = properties.reduce(0) { max($0, DisplayWidth.of($1.name)) }
        return ["\(object.entity.title)  \(object.objectID.text)"] + properties.map { property in
            "  \(DisplayWidth.padded(property.name, to: width))  \(text(property, excerpt))"
        }
    }

    private static func text(_ property: (name: String, value: JSONValue?, more: Int), _ excerpt: Excerpt) -> String {
        guard let value = property.value else { return "nil" }
        guard case .list(let members) = value else { return excerpt.text(AttributeText.text(value)) }
        let shown = members.map { excerpt.text(AttributeText.text($0)) } + (property.more > 0 ? [Excerpt.more(property.more)] : [])
        return "(\(Output.number(members.count + property.more))) \(shown.joined(separator: " "))"
    }
}
