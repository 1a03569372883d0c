import Foundation

@testable import Heartwood

/// Short forms of requests for dictionaries.
extension TestStack {
    /// - Parameter fetch: key paths, and expressions as `name = format`.
    static func dictionaries(
        _ entity: String, _ fetch: [String] = [], where format: String? = nil, by keys: [String] = [], having: String? = nil,
        sort: [(String, Bool)] = []
    ) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        request.predicate = format.map { NSPredicate(format: $0) }
        request.propertiesToFetch = fetch.map(property)
        request.propertiesToGroupBy = keys.map(property)
        request.havingPredicate = having.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
        return request
    }

    private static func property(_ text: String) -> Any {
        text.range(of: " = ").map { expression(String(text[..<$0.lowerBound]), String(text[$0.upperBound...])) } ?? text
    }

    static func expression(_ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }
}

/// Dictionaries as comparable texts: `age 3, name Ada`, keys in order.
func texts(_ dictionaries: [NSDictionary]) -> [String] {
    dictionaries.map { dictionary in
        let entries = dictionary.map { key, value in (key as? String ?? "?", text(value)) }
        return entries.sorted { $0.0 < $1.0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}

/// A value as text. The text does not distinguish types of numbers or their last bits, and represents texts by their scalars.
func text(_ value: Any) -> String {
    switch value {
    case let value as String: value.unicodeScalars.map { $0.isASCII ? String($0) : "\\u\(String($0.value, radix: 16))" }.joined()
    case let value as NSNumber: String(format: "%.9g", value.doubleValue == 0 ? 0 : value.doubleValue)
    case let value as Decimal: text(NSDecimalNumber(decimal: value))
    case let value as Date: "\(value.timeIntervalSinceReferenceDate)"
    case let value as NSManagedObject: value.objectID.uriRepresentation().absoluteString
    case let value as NSManagedObjectID: value.uriRepresentation().absoluteString
    case let value as NSArray: "[" + value.map(text).joined(separator: " ") + "]"
    default: "\(value)"
    }
}
