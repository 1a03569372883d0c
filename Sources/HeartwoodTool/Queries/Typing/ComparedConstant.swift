import Foundation
import Heartwood

/// A constant of a predicate, read as a value of the type that it is compared with.
enum ComparedConstant {
    case value(PredicateValue)
    /// A day, a month or a year: the seconds since 2001 of its first and its last time.
    case span(first: Double, last: Double)

    /// - Parameter objectID: the ID of an object by its URI.
    /// - Throws: `ToolError.usage`, which names the type's side and the constant, if no value of the type can be meant.
    static func read(
        _ constant: PredicateValue, as type: ComparedType, objectID: (String) throws -> NSManagedObjectID
    ) throws -> ComparedConstant {
        switch constant {
        case .text(let text): try read(text, as: type, objectID)
        case .bool, .integer, .double, .decimal: .value(try read(number: constant, as: type))
        default: .value(constant)
        }
    }

    // MARK: Texts

    private static func read(_ text: String, as type: ComparedType, _ objectID: (String) throws -> NSManagedObjectID) throws -> ComparedConstant {
        guard case .value(let attribute) = type.kind else {
            guard text.hasPrefix("x-coredata:") else {
                throw ToolError.usage("\(type.name) is \(type.description), and \(quoted(text)) is no object's URI; compare one of its attributes")
            }
            return .value(.objectID(try objectID(text)))
        }
        let found: ComparedConstant? = switch AttributeTextForm.comparison(attribute) {
        case .text, .anything: .value(.text(text))
        case .date: date(text)
        // A number with a fraction compares with whole ones.
        case .wholeNumber: Int64(text).map { .value(.integer($0)) } ?? value(text, .decimalAttributeType)
        case .number, .ownTexts: value(text, attribute)
        case .elements: throw elements(type)
        }
        guard let found else { throw ToolError.usage("\(type.name) is \(type.description), and \(quoted(text)) is none") }
        return found
    }

    private static func value(_ text: String, _ type: NSAttributeType) -> ComparedConstant? {
        AttributeTextForm(type).text(text).map { .value(PredicateValue($0)) }
    }

    private static func elements(_ type: ComparedType) -> ToolError {
        .usage("\(type.name) is a composite; compare one of its elements, as \(type.name).ELEMENT")
    }

    private static func quoted(_ text: String) -> String { "\"\(DisplayWidth.printable(String(text.prefix(60))))\"" }

    /// A year is read before the seconds that its digits are as well.
    private static func date(_ text: String) -> ComparedConstant? {
        guard let found = ISO8601Text(monthOrYear: text) ?? ISO8601Text(text) else {
            return DateText.date(seconds: text).map { .value(.date($0.timeIntervalSinceReferenceDate)) }
        }
        return found.isTime ? .value(.date(found.start)) : .span(first: found.start, last: found.end.nextDown)
    }

    // MARK: Numbers

    private static func read(number: PredicateValue, as type: ComparedType) throws -> PredicateValue {
        let text = NSExpression(node: .constant(number)).description
        let fault = ToolError.usage("\(type.name) is \(type.description), and \(text) is none")
        guard case .value(let attribute) = type.kind else { throw fault }
        switch AttributeTextForm.comparison(attribute) {
        case .text: throw ToolError.usage("\(type.name) is a text, and \(text) is none; write \"\(text)\"")
        case .ownTexts: throw fault
        case .elements: throw elements(type)
        case .date:
            guard let date = DateText.date(seconds: text) else { throw fault }
            return .date(date.timeIntervalSinceReferenceDate)
        case .wholeNumber, .number, .anything: return number
        }
    }
}
